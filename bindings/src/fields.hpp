// The fields of every struct that is pickled; see archive.hpp. Names in a list are positions only.
#pragma once

#include "archive.hpp"
#include "fedsim/error.hpp"
#include "fedsim/result.hpp"
#include "fedsim/simulation.hpp"
#include "fedsim/spec.hpp"
#include "fedsim/trace.hpp"

namespace fedsim {

template <class A>
void fields(A& ar, Diagnostic& s) {
  auto& [a, b, c, d, e, f] = s;
  ar(a, b, c, d, e, f);
}
template <class A>
void fields(A& ar, SlurmRelease& s) {
  auto& [a, b] = s;
  ar(a, b);
}
template <class A>
void fields(A& ar, GresSpec& s) {
  auto& [a, b, c] = s;
  ar(a, b, c);
}
template <class A>
void fields(A& ar, GpuDeviceSpec& s) {
  auto& [a, b, c] = s;
  ar(a, b, c);
}
template <class A>
void fields(A& ar, NodeSpec& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
}
template <class A>
void fields(A& ar, PartitionSpec& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v);
}
template <class A>
void fields(A& ar, SwitchSpec& s) {
  auto& [a, b, c, d] = s;
  ar(a, b, c, d);
}
template <class A>
void fields(A& ar, ClusterSpec& s) {
  auto& [a, b, c, d, e, f, g] = s;
  ar(a, b, c, d, e, f, g);
}
template <class A>
void fields(A& ar, LatencySpec& s) {
  auto& [a, b, c, d, e] = s;
  ar(a, b, c, d, e);
}
template <class A>
void fields(A& ar, FederationSpec& s) {
  auto& [a, b, c, d, e] = s;
  ar(a, b, c, d, e);
}
template <class A>
void fields(A& ar, GresRequest& s) {
  auto& [a, b, c] = s;
  ar(a, b, c);
}
template <class A>
void fields(A& ar, ResourceRequest& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, a1, b1, c1, d1,
         e1, f1, g1, h1, i1, j1, k1] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, a1, b1, c1, d1, e1,
     f1, g1, h1, i1, j1, k1);
}
template <class A>
void fields(A& ar, JobSpec& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, ab, ac, ad] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, ab, ac, ad);
}
template <class A>
void fields(A& ar, Operation& s) {
  auto& [a, b, c, d, e, f, g] = s;
  ar(a, b, c, d, e, f, g);
}
template <class A>
void fields(A& ar, FaultProcess& s) {
  auto& [a, b, c, d, e] = s;
  ar(a, b, c, d, e);
}
template <class A>
void fields(A& ar, DrivenPass& s) {
  auto& [a, b, c] = s;
  ar(a, b, c);
}
template <class A>
void fields(A& ar, TraceReport& s) {
  auto& [a, b, c, d, e] = s;
  ar(a, b, c, d, e);
}
template <class A>
void fields(A& ar, JobRow& s) {
  auto& [a, b, c, d, e, f, g] = s;
  ar(a, b, c, d, e, f, g);
}
template <class A>
void fields(A& ar, RecordRow& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k);
}
template <class A>
void fields(A& ar, AllocationRow& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k, l);
}
template <class A>
void fields(A& ar, Placement& s) {
  auto& [a, b, c, d] = s;
  ar(a, b, c, d);
}
template <class A>
void fields(A& ar, StoryEvent& s) {
  auto& [a, b, c, d, e] = s;
  ar(a, b, c, d, e);
}
template <class A>
void fields(A& ar, Populations& s) {
  auto& [a, b, c, d, e, f, g, h, i, j] = s;
  ar(a, b, c, d, e, f, g, h, i, j);
}
template <class A>
void fields(A& ar, WaitStats& s) {
  auto& [a, b, c, d, e] = s;
  ar(a, b, c, d, e);
}
template <class A>
void fields(A& ar, Summary& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
  ar(a, b, c, d, e, f, g, h, i, j, k);
}

/// What of RunOptions is pickled: everything but the callback.
template <class A>
void fields(A& ar, RunOptions& s) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, callback] = s;
  static_cast<void>(callback);
  ar(a, b, c, d, e, f, g, h, i, j, k);
}

}  // namespace fedsim

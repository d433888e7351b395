// Submission, lock, revocation, requeue and cancel, record by record; F01, F03 and F04 with their
// values.
#include <gtest/gtest.h>

#include "fed/context.hpp"
#include "support/tiny.hpp"

// The unit executable of this room links rooms up to fed only; runs live in unit/engine.
namespace fedsim {
namespace {

TEST(ClusterNames, UnknownClusterIsAnErrorThatListsTheKnown) {
  tiny::Jobs jobs;
  jobs.add({.label = "J", .origin = "gamma"});
  const auto model =
      compile(tiny::federation({tiny::cluster("a", 1, 8), tiny::cluster("b", 1, 8)}));
  try {
    (void)resolve_names(*model, *jobs.done());
    FAIL() << "no error";
  } catch (const InputError& e) {
    ASSERT_EQ(e.diagnostics().size(), 1U);
    EXPECT_EQ(e.diagnostics()[0].code, "C101");
    EXPECT_EQ(e.diagnostics()[0].hint, "clusters of this federation: a, b");
  }
}

TEST(ClusterConstraint, ListIsAnOrAndExclamationExcludes) {
  FederationSpec spec = tiny::federation(
      {tiny::cluster("a", 1, 8), tiny::cluster("b", 1, 8), tiny::cluster("c", 1, 8)});
  spec.clusters[0].features = {"fast", "ib"};
  spec.clusters[1].features = {"fast"};
  spec.clusters[2].features = {"ib"};
  Trace trace;
  for (const char* text : {"fast", "fast,ib", "!fast", "nosuch"}) {
    JobSpec j;
    j.cluster_constraint = trace.strings.intern(text);
    trace.jobs.push_back(j);
  }
  const NameTable names = resolve_names(*compile(spec), trace);
  const auto of = [&](int i) {
    return names.constraints.at(trace.jobs[static_cast<std::size_t>(i)].cluster_constraint.index());
  };
  EXPECT_EQ(of(0).clusters.bits(), 0b011U);
  EXPECT_EQ(of(1).clusters.bits(), 0b111U);
  EXPECT_EQ(of(2).clusters.bits(), 0b100U);
  EXPECT_FALSE(of(3).valid);
}

}  // namespace
}  // namespace fedsim

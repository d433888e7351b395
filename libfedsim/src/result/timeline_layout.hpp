// What the timeline shows and where: lanes, bars and ticks, before any drawing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedsim/result.hpp"

namespace fedsim {

/// Most lanes and bars of one picture; the caption says when something was left out.
inline constexpr std::size_t kMaxLanes = 640;
inline constexpr std::size_t kMaxBars = 12000;
inline constexpr std::size_t kMaxRecordMarks = 4000;
inline constexpr std::size_t kRecordRows = 3;

/// A node's lanes: one for each GPU, or a single one for a node without GPUs.
struct NodeLanes {
  NodeId node;
  std::size_t first_lane = 0;  ///< within the cluster
  std::size_t gpus = 0;
};

/// GPUs `first` ... first + count of one node, or a share of a node's CPUs, held from start to end.
struct Bar {
  std::uint32_t allocation = 0;
  double lane = 0;  ///< within the cluster; fractions are shares of a node lane
  double lanes_n = 1;
  SimTime start{};
  SimTime end{};
};

/// A revoked record: it waited from start to end and held nothing.
struct RecordMark {
  std::uint32_t record = 0;
  std::size_t row = 0;  ///< of the cluster's records lane, below kRecordRows
  SimTime start{};
  SimTime end{};
};

struct ClusterLanes {
  ClusterId cluster;
  std::size_t lanes_n = 0;        ///< drawn
  std::size_t lanes_all = 0;      ///< that there are
  std::size_t record_rows_n = 0;  ///< used rows of the records lane
  std::vector<NodeLanes> nodes;
  std::vector<Bar> bars;
  std::vector<RecordMark> marks;
};

struct TimelineLayout {
  SimTime first{};
  SimTime last{};
  std::size_t lanes_n = 0;
  std::size_t lanes_all = 0;
  std::size_t bars_left_out = 0;
  std::size_t marks_left_out = 0;
  std::vector<ClusterLanes> clusters;
};
TimelineLayout lay_out(const Result& result);

struct Tick {
  SimTime at{};
  std::string text;
};

/// At most `most` ticks at round instants: relative to t0, or UTC.
std::vector<Tick> time_ticks(SimTime first, SimTime last, std::size_t most, bool relative,
                             SimTime t0);

}  // namespace fedsim

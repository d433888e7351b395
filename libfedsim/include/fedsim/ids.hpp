// Typed indices, sets of clusters, and Slurm's federated job ids.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace fedsim {

/// A 4-byte index into one particular table. Ids of different tables neither compare nor convert.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t index) : index_(index) {}
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}
  constexpr explicit Id(int index) : index_(static_cast<std::uint32_t>(index)) {}

  constexpr std::uint32_t index() const { return index_; }
  constexpr bool valid() const { return index_ != kNone; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t index_ = kNone;
};

using ClusterId = Id<struct ClusterTag>;  ///< cluster of the model, 0-based (federation id minus 1)
using NodeId = Id<struct NodeTag>;        ///< node within its cluster, in slurmctld's node order
using PartitionId = Id<struct PartitionTag>;  ///< partition within its cluster
using JobId = Id<struct JobTag>;        ///< submission: index of Trace::jobs and SimState::jobs
using RecordId = Id<struct RecordTag>;  ///< queue record: one job on one cluster
using AllocationId = Id<struct AllocationTag>;  ///< slot of SimState's allocation table
using StringId = Id<struct StringTag>;          ///< interned text of a StringTable; 0 is ""

/// Most clusters a federation may have (MAX_FED_CLUSTERS; federation guide).
inline constexpr std::size_t kMaxFederationClusters = 63;

/// Set of clusters, one bit each, as slurmctld keeps viable and active siblings.
class ClusterSet {
 public:
  constexpr ClusterSet() = default;
  constexpr explicit ClusterSet(std::uint64_t bits) : bits_(bits) {}
  static constexpr ClusterSet first(std::size_t n) {
    return ClusterSet{n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1};
  }
  static constexpr ClusterSet only(ClusterId c) {
    return ClusterSet{std::uint64_t{1} << c.index()};
  }

  constexpr bool has(ClusterId c) const { return (bits_ >> c.index()) & 1U; }
  constexpr void add(ClusterId c) { bits_ |= std::uint64_t{1} << c.index(); }
  constexpr void remove(ClusterId c) { bits_ &= ~(std::uint64_t{1} << c.index()); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::size_t count() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  constexpr std::uint64_t bits() const { return bits_; }

  /// Calls `f(ClusterId)` for each member in ascending order.
  template <class F>
  constexpr void for_each(F&& f) const {
    for (std::uint64_t b = bits_; b != 0; b &= b - 1) f(ClusterId{std::countr_zero(b)});
  }

  friend constexpr bool operator==(ClusterSet, ClusterSet) = default;
  friend constexpr ClusterSet operator&(ClusterSet a, ClusterSet b) {
    return ClusterSet{a.bits_ & b.bits_};
  }
  friend constexpr ClusterSet operator|(ClusterSet a, ClusterSet b) {
    return ClusterSet{a.bits_ | b.bits_};
  }
  friend constexpr ClusterSet operator-(ClusterSet a, ClusterSet b) {
    return ClusterSet{a.bits_ & ~b.bits_};
  }

 private:
  std::uint64_t bits_ = 0;
};

/// Bits 0-25 of a federated job id are the origin's local id (federation guide, "Job ID").
inline constexpr std::uint32_t kLocalJobIdBits = 26;
inline constexpr std::uint32_t kMaxLocalJobId = (1U << kLocalJobIdBits) - 1;

/// Origin's federation cluster id (1..63; 0 for a job outside a federation) and local id.
struct FederatedJobId {
  std::uint32_t cluster = 0;
  std::uint32_t local = 0;
  friend constexpr bool operator==(FederatedJobId, FederatedJobId) = default;
};

/// 32-bit job id as Slurm prints it. Throws InputError (C040) when cluster > 63 or local >
/// 67108863.
std::uint32_t encode_job_id(FederatedJobId id);

/// Inverse of encode_job_id(); ids up to 67108863 have cluster 0.
constexpr FederatedJobId decode_job_id(std::uint32_t id) {
  return {id >> kLocalJobIdBits, id & kMaxLocalJobId};
}

}  // namespace fedsim

template <class Tag>
struct std::hash<fedsim::Id<Tag>> {
  std::size_t operator()(fedsim::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.index());
  }
};

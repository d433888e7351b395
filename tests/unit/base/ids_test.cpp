// ids.hpp: federated job ids (federation guide, "Job ID") and sets of clusters.
#include "fedsim/ids.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

TEST(Ids, EncodesFederatedJobIds) {
  EXPECT_EQ(encode_job_id({1, 1}), 67108865U);
  EXPECT_EQ(encode_job_id({2, 2}), 134217730U);
  EXPECT_EQ(encode_job_id({3, 7}), 201326599U);
  EXPECT_EQ(encode_job_id({63, kMaxLocalJobId}), 4294967295U);
  EXPECT_EQ(encode_job_id({0, 42}), 42U);
}

TEST(Ids, DecodesFederatedJobIds) {
  EXPECT_EQ(decode_job_id(67108888), (FederatedJobId{1, 24}));
  EXPECT_EQ(decode_job_id(134217730), (FederatedJobId{2, 2}));
  EXPECT_EQ(decode_job_id(67108863), (FederatedJobId{0, 67108863}));  // not federated
}

TEST(Ids, RefusesWhatDoesNotFit) {
  EXPECT_EQ(kMaxLocalJobId, 67108863U);
  try {
    encode_job_id({64, kMaxLocalJobId + 1});
    FAIL() << "encoded";
  } catch (const InputError& e) {
    ASSERT_EQ(e.diagnostics().size(), 2U);  // both faults at once
    EXPECT_EQ(e.diagnostics()[0].code, "C040");
    EXPECT_EQ(e.diagnostics()[0].message, "Too many clusters in federation");
  }
}

TEST(Ids, ClusterSets) {
  ClusterSet set;
  EXPECT_TRUE(set.empty());
  set.add(ClusterId{0});
  set.add(ClusterId{62});
  EXPECT_EQ(set.count(), 2U);
  EXPECT_TRUE(set.has(ClusterId{62}));
  std::vector<std::uint32_t> members;
  set.for_each([&](ClusterId c) { members.push_back(c.index()); });
  EXPECT_EQ(members, (std::vector<std::uint32_t>{0, 62}));
  set.remove(ClusterId{0});
  EXPECT_EQ(set, ClusterSet::only(ClusterId{62}));
  EXPECT_EQ((ClusterSet::first(63) - set).count(), 62U);
  EXPECT_EQ(ClusterSet::first(64).count(), 64U);
}

}  // namespace
}  // namespace fedsim

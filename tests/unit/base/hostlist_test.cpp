// Host lists and slurmctld's node order.
#include "base/hostlist.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fedsim {
namespace {

using Names = std::vector<std::string>;

TEST(Hostlist, ExpandsRangesAndLists) {
  EXPECT_EQ(expand_hostlist("n[1-3,7],x"), (Names{"n1", "n2", "n3", "n7", "x"}));
  EXPECT_EQ(expand_hostlist("a"), (Names{"a"}));
  EXPECT_EQ(expand_hostlist(""), Names{});
  EXPECT_EQ(expand_hostlist("ib[8]"), (Names{"ib8"}));
}

TEST(Hostlist, ZeroPaddingFollowsTheLowBound) {
  EXPECT_EQ(expand_hostlist("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expand_hostlist("n[9-10]"), (Names{"n9", "n10"}));
  EXPECT_EQ(expand_hostlist("n[001,2]"), (Names{"n001", "n2"}));
}

TEST(Hostlist, SeveralBracketsRightmostFastest) {
  EXPECT_EQ(expand_hostlist("a[1-2]b[3,4]"), (Names{"a1b3", "a1b4", "a2b3", "a2b4"}));
}

TEST(Hostlist, TextAfterTheBracketAndDots) {
  EXPECT_EQ(expand_hostlist("p3-r[1-2]-a.gpu.example.org"),
            (Names{"p3-r1-a.gpu.example.org", "p3-r2-a.gpu.example.org"}));
  EXPECT_EQ(expand_hostlist("/dev/nvidia[0,2-3]"),
            (Names{"/dev/nvidia0", "/dev/nvidia2", "/dev/nvidia3"}));
}

TEST(Hostlist, BadSyntaxIsC020WithTheText) {
  for (const char* text : {"n[1-", "n1]", "n[[1]]", "n[3-1]", "n[]", "n[a-b]", "n[1-x]", "n[-3]",
                           "n[1-2-3]", "n[+1]", "n[1-999999999]", "n[1,]"}) {
    try {
      expand_hostlist(text);
      ADD_FAILURE() << text << " was read";
    } catch (const InputError& e) {
      ASSERT_EQ(e.diagnostics().size(), 1U);
      EXPECT_EQ(e.diagnostics()[0].code, "C020");
      EXPECT_NE(e.diagnostics()[0].message.find(text), std::string::npos);
    }
  }
}

TEST(Hostlist, ProductsAreBounded) {
  EXPECT_THROW(expand_hostlist("a[0-999]b[0-999]"), InputError);  // a million names
}

TEST(Hostlist, CompressesConsecutiveNumbers) {
  EXPECT_EQ(compress_hostlist({"n1", "n2", "n3", "n7", "x"}), "n[1-3,7],x");
  EXPECT_EQ(compress_hostlist({"n1"}), "n1");
  EXPECT_EQ(compress_hostlist({}), "");
  EXPECT_EQ(compress_hostlist({"n08", "n09", "n10"}), "n[08-10]");
  EXPECT_EQ(compress_hostlist({"n9", "n10", "n11"}), "n[9-11]");
  EXPECT_EQ(compress_hostlist({"gpu.example.org", "b"}), "gpu.example.org,b");
}

TEST(Hostlist, CompressKeepsTheOrderGiven) {
  EXPECT_EQ(compress_hostlist({"n2", "n1"}), "n[2,1]");
  EXPECT_EQ(compress_hostlist({"a1", "b1", "a2"}), "a1,b1,a2");
}

TEST(Hostlist, WidthsShareBracketsButNotRanges) {
  // As scontrol prints them: c[1,07,010].
  EXPECT_EQ(compress_hostlist({"c1", "c07", "c010"}), "c[1,07,010]");
  EXPECT_EQ(compress_hostlist({"n09", "n10", "n011"}), "n[09-10,011]");
}

TEST(Hostlist, RoundTrips) {
  for (const char* text : {"n[1-3,7],x", "b-2-[9-10],c[1,07]", "ib[08-12]", "a,b,c"}) {
    EXPECT_EQ(compress_hostlist(expand_hostlist(text)), text);
  }
}

TEST(Hostlist, NaturalOrderAsRecorded) {
  const Names recorded{"N3",  "a99", "a100", "b-2-9", "b-2-10", "c010",
                       "c07", "c1",  "n1",   "n2",    "n10"};
  Names names = recorded;
  std::sort(names.begin(), names.end());
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names, recorded);
}

TEST(Hostlist, NaturalOrderIsTotal) {
  const Names names{"",    "n",   "n0",   "n00",   "n1",    "n01", "n10", "n1a", "n1.b",
                    "n-1", "n_1", "a1b2", "a1b10", "a01b2", "a2",  "10",  "9",   "09"};
  for (const std::string& a : names) {
    EXPECT_FALSE(natural_less(a, a)) << a;
    for (const std::string& b : names) {
      if (a != b) {
        EXPECT_NE(natural_less(a, b), natural_less(b, a)) << a << " " << b;
      }
      for (const std::string& c : names) {
        if (natural_less(a, b) && natural_less(b, c)) {
          EXPECT_TRUE(natural_less(a, c)) << a << " " << b << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fedsim

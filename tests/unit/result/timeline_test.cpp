// The timeline: bars on GPU lanes, revoked records never there, round ticks, and cuts that are
// said.
#include "result/timeline_layout.hpp"

#include <gtest/gtest.h>

#include "result/drawing.hpp"
#include "result/metrics.hpp"
#include "support/result_fixture.hpp"

namespace fedsim {
namespace {

using test::at;
using test::devices;
using test::make_cluster;
using test::place;
using test::ResultBuilder;

TEST(TimelineLayout, RevokedRecordsAreNeverOnAGpuLane) {
  ResultBuilder b = test::two_by_six();
  const TimelineLayout t = lay_out(b.raw());
  ASSERT_EQ(t.clusters.size(), 2U);
  for (const ClusterLanes& c : t.clusters) {
    EXPECT_EQ(c.lanes_n, 8U);
    ASSERT_EQ(c.bars.size(), 1U);
    EXPECT_EQ(c.bars[0].lane, 0);
    EXPECT_EQ(c.bars[0].lanes_n, 6);
    ASSERT_EQ(c.marks.size(), 1U);
    EXPECT_EQ(b.raw().record_rows[c.marks[0].record].state, RecordState::revoked);
  }
}

TEST(TimelineLayout, ScatteredGpusAreSeveralBars) {
  ResultBuilder b({make_cluster("a", 2, devices(8))}, false);
  const JobId j = b.job("J", 0, 4, 0);
  b.ran(j, 0, RecordState::completed, 0, 0, 10, {place(1, 0b1100'0011)});
  const TimelineLayout t = lay_out(b.raw());
  ASSERT_EQ(t.clusters[0].bars.size(), 2U);
  EXPECT_EQ(t.clusters[0].bars[0].lane, 8);
  EXPECT_EQ(t.clusters[0].bars[1].lane, 14);
  EXPECT_EQ(t.clusters[0].bars[1].lanes_n, 2);
}

TEST(TimelineLayout, JobsSharingANodeWithoutGpusAreStacked) {
  ResultBuilder b({make_cluster("a", 1, {}, 4)}, false);
  for (int i = 0; i < 3; ++i) {
    const JobId j = b.job("J" + std::to_string(i), 0, 0, 0);
    b.ran(j, 0, RecordState::completed, 0, i == 2 ? 10 : 0, 10 + i, {place(0, 0, 2)});
  }
  const TimelineLayout t = lay_out(b.raw());
  ASSERT_EQ(t.clusters[0].bars.size(), 3U);
  EXPECT_DOUBLE_EQ(t.clusters[0].bars[0].lane, 0);
  EXPECT_DOUBLE_EQ(t.clusters[0].bars[1].lane, 0.5);
  EXPECT_DOUBLE_EQ(t.clusters[0].bars[2].lane, 0);  // the first is over by then
  EXPECT_DOUBLE_EQ(t.clusters[0].bars[2].lanes_n, 0.5);
}

TEST(TimelineLayout, SharesLanesBetweenASmallAndALargeCluster) {
  ResultBuilder b({make_cluster("big", 4000, devices(8)), make_cluster("small", 2, devices(8))});
  const TimelineLayout t = lay_out(b.raw());
  EXPECT_EQ(t.clusters[1].lanes_n, 16U);
  EXPECT_LE(t.lanes_n, kMaxLanes);
  EXPECT_GE(t.lanes_n, kMaxLanes - 8);
  EXPECT_EQ(t.lanes_all, 32016U);
}

TEST(Ticks, AreRound) {
  const auto texts = [](double to, std::size_t most) {
    std::string out;
    for (const Tick& t : time_ticks(at(0), at(to), most, true, at(0))) out += t.text + " ";
    return out;
  };
  EXPECT_EQ(texts(31, 8), "0:00 0:05 0:10 0:15 0:20 0:25 0:30 ");
  EXPECT_EQ(texts(3600, 6), "0:00 10:00 20:00 30:00 40:00 50:00 1:00:00 ");
  EXPECT_EQ(texts(172800, 4), "0:00 12:00:00 1-00:00:00 1-12:00:00 2-00:00:00 ");
}

TEST(Ticks, InUtcStandOnTheHour) {
  const SimTime first = from_unix_seconds(1'767'225'600 + 1234);
  const auto ticks = time_ticks(first, first + Duration{7200} * kSecond.count(), 4, false, first);
  ASSERT_FALSE(ticks.empty());
  EXPECT_EQ(ticks[0].text, "00:30");
}

TEST(TimelineSvg, IsOneDocumentWithEveryPart) {
  ResultBuilder b = test::two_by_six();
  summarise(b.raw());
  const std::string svg = timeline_svg(b.raw());
  EXPECT_EQ(svg.rfind("<svg xmlns=", 0), 0U);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  EXPECT_NE(svg.find("J1 REVOKED here"), std::string::npos);
  EXPECT_NE(svg.find("12 distinct GPUs of 16"), std::string::npos);
  EXPECT_NE(svg.find("2 jobs (and 1 rejected), 4 records (2 COMPLETED, 2 REVOKED), 2 allocations"),
            std::string::npos);
}

TEST(TimelineSvg, EscapesNames) {
  ResultBuilder b({make_cluster("a", 1, devices(8))}, false);
  const JobId j = b.job("<&\"\x01\xff>", 0, 8, 0);
  b.ran(j, 0, RecordState::completed, 0, 0, 10, {place(0, 0xFF)});
  summarise(b.raw());
  const std::string svg = timeline_svg(b.raw());
  EXPECT_NE(svg.find("&lt;&amp;&quot;??&gt;"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
}

TEST(TimelineSvg, SaysWhatItLeftOut) {
  ResultBuilder b({make_cluster("big", 200, devices(8))}, false);
  for (int i = 0; i < 13000; ++i) {
    const JobId j = b.job("J", 0, 1, i);
    b.ran(j, 0, RecordState::completed, i, i, i + 1, {place(i % 20, 1)});
  }
  summarise(b.raw());
  const std::string svg = timeline_svg(b.raw());
  EXPECT_NE(svg.find("Cut: the first 640 of 1600 lanes"), std::string::npos);
  EXPECT_NE(svg.find("Cut: the first 12000 bars in order of start; 1000 are not shown"),
            std::string::npos);
}

TEST(TimelineSvg, NothingAtAllIsStillAPicture) {
  ResultBuilder b({make_cluster("a", 1, {})}, false);
  summarise(b.raw());
  EXPECT_NE(timeline_svg(b.raw()).find("0 jobs"), std::string::npos);
}

TEST(TimelinePng, IsAPictureOrSaysWhatIsMissing) {
  ResultBuilder b = test::two_by_six();
  summarise(b.raw());
  try {
    const std::string png = timeline_png(b.raw(), 1600);
    EXPECT_EQ(png.substr(1, 3), "PNG");
    EXPECT_THROW(timeline_png(b.raw(), 0), InputError);
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().front().code, "C130");
  }
}

TEST(CleanText, KeepsOnlyUtf8) {
  EXPECT_EQ(clean_text("a\tb"), "a?b");
  EXPECT_EQ(clean_text("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(clean_text("\xc3"), "?");
  EXPECT_EQ(clean_text("\xed\xa0\x80"), "???");
}

}  // namespace
}  // namespace fedsim

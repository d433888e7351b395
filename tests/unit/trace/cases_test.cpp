// Real dumps, where the reference data is at hand: every row is accounted for.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fedsim/trace.hpp"
#include "support/paths.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;

void expect_accounted(const fs::path& file, const ReadOptions& options, std::size_t jobs) {
  std::size_t shown = 0;
  const std::string text = show_trace(file, options, [&](const std::string&) { ++shown; });
  const auto s = nlohmann::json::parse(text)["summary"];
  EXPECT_EQ(shown, jobs) << file;
  EXPECT_EQ(s["rows"].get<std::size_t>(), s["steps"].get<std::size_t>() +
                                              s["folded"].get<std::size_t>() +
                                              s["broken"].get<std::size_t>() + shown)
      << file;
}

TEST(RealDumps, EveryRowIsAccountedFor) {
  const fs::path data = test::reference_data() / "data";
  if (!fs::exists(data / "two-clusters-2025")) GTEST_SKIP() << "no reference data at " << data;
  expect_accounted(data / "two-clusters-2025/alpha.sacct.psv.xz", {}, 1282);
  expect_accounted(data / "two-clusters-2025/beta.sacct.psv.xz", {}, 3910);
  ReadOptions xdmod;
  xdmod.columns = "xdmod";
  expect_accounted(data / "xdmod-two-clusters-2016/phillips.log.xz", xdmod, 4285);
  expect_accounted(data / "xdmod-two-clusters-2016/pozidriv.log.xz", xdmod, 11704);
  expect_accounted(data / "swf/KTH-SP2-1996-2.1-cln.swf.xz", {}, 28476);
  EXPECT_THROW(read_trace(data / "xdmod-two-clusters-2016/phillips.log.xz"), InputError);
}

}  // namespace
}  // namespace fedsim

// Files of a run: all of them, whole or not at all, and what is in the two JSON files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fedsim/result.hpp"
#include "result/metrics.hpp"
#include "support/result_fixture.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class WriteResult : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("fedsim-write-test-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override {
    fs::remove_all(folder_);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  fs::path folder_;
};

TEST_F(WriteResult, WritesEveryFileAndNoOther) {
  test::ResultBuilder b = test::two_by_six();
  summarise(b.raw());
  b.raw().summary.fingerprint = 0xABC;
  WriteOptions options;
  options.times = TimeStyle::relative;
  write_result(b.raw(), folder_ / "deep" / "out", options);
  std::set<std::string> names;
  for (const auto& e : fs::directory_iterator(folder_ / "deep" / "out"))
    names.insert(e.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"allocations.csv", "gpus.csv", "jobs.csv",
                                          "manifest.json", "processes.csv", "records.csv",
                                          "summary.json", "timeline.svg"}));
  const std::string records = read("deep/out/records.csv");
  EXPECT_NE(
      records.find("\nJ1,67108865,,alpha,beta,COMPLETED,0,0,0.75,30.75,b1,b1:gpu:a100[0-5],batch,"),
      std::string::npos)
      << records;
  EXPECT_NE(records.find("\nJ1,67108865,,alpha,alpha,REVOKED,0,0,,0.8,,,batch,"),
            std::string::npos);
}

TEST_F(WriteResult, SummaryHasWhatChecksRelyOn) {
  test::ResultBuilder b = test::two_by_six();
  summarise(b.raw());
  b.raw().summary.fingerprint = 0xABC;
  const Json s = Json::parse(summary_json(b.raw()));
  EXPECT_EQ(s["jobs"], 2);
  EXPECT_EQ(s["rejected"], 1);
  EXPECT_EQ(s["records"]["COMPLETED"], 2);
  EXPECT_EQ(s["records"]["REVOKED"], 2);
  EXPECT_EQ(s["naive_gpu_sum"], 18);
  EXPECT_EQ(s["gpus_in_fleet"], 16);
  EXPECT_EQ(s["fingerprint"], "0000000000000abc");
  for (const char* key :
       {"allocations", "gpu_hours", "processes", "makespan_s", "utilisation", "events", "wall_s"}) {
    EXPECT_TRUE(s.contains(key)) << key;
  }
  for (const char* key : {"p50", "p90", "p95", "mean"})
    EXPECT_TRUE(s["wait_s"].contains(key)) << key;
}

TEST_F(WriteResult, ManifestNamesInputsByContent) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "in.txt") << "hello";
  test::ResultBuilder b = test::two_by_six();
  b.model().hash = 5;
  WriteOptions options;
  options.inputs["trace"] = folder_ / "in.txt";
  const Json before = Json::parse(manifest_json(b.raw(), options));
  EXPECT_EQ(before["model_hash"], "0000000000000005");
  EXPECT_EQ(before["clusters"][0]["slurm"], "22.05");
  EXPECT_EQ(before["fidelity"], "slurm");
  EXPECT_EQ(before["seed"], 0);
  EXPECT_TRUE(before["not_modelled"].is_array());
  std::ofstream(folder_ / "in.txt") << "hellp";
  const Json after = Json::parse(manifest_json(b.raw(), options));
  EXPECT_NE(before["inputs"][0]["hash"], after["inputs"][0]["hash"]);
  options.inputs["trace"] = folder_ / "nosuch";
  EXPECT_THROW(manifest_json(b.raw(), options), FileError);
}

TEST_F(WriteResult, LeavesNothingHalfWrittenOnAFullDisk) {
  EXPECT_THROW(write_file("/dev/full/x", "text"), FileError);
  fs::create_directories(folder_);
  write_file(folder_ / "a.csv", "old");
  fs::create_directories(folder_ / "b.csv");  // a folder in the way of the rename
  EXPECT_THROW(write_file(folder_ / "b.csv", "new"), FileError);
  write_file(folder_ / "a.csv", "new");
  EXPECT_EQ(read("a.csv"), "new");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 2U);  // no temporary file left
}

TEST_F(WriteResult, SaysWhichFolderCantBeMade) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  test::ResultBuilder b = test::two_by_six();
  try {
    write_result(b.raw(), folder_ / "file" / "out", {});
    FAIL();
  } catch (const FileError& e) {
    EXPECT_NE(std::string(e.what()).find("file/out"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace fedsim

// Inputs: plain, gzip and xz give the same bytes; damage and absence are errors with a name.
#include "trace/input.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;

// "hello\n" packed by gzip -n and xz.
const unsigned char kGzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                               0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xe7, 0x02, 0x00,
                               0x20, 0x30, 0x3a, 0x36, 0x06, 0x00, 0x00, 0x00};

class InputFile : public testing::Test {
 protected:
  std::string write(const std::string& bytes) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::path(testing::TempDir()) / (std::string("fedsim-input-") + info->name());
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_.string();
  }
  void TearDown() override { fs::remove(path_); }
  fs::path path_;
};

std::string gzip_bytes() { return {reinterpret_cast<const char*>(kGzip), sizeof kGzip}; }

TEST_F(InputFile, Plain) { EXPECT_EQ(read_input(write("a\nb")).text, "a\nb"); }
TEST_F(InputFile, Empty) { EXPECT_EQ(read_input(write("")).text, ""); }
TEST_F(InputFile, ByteOrderMark) { EXPECT_EQ(read_input(write("\xef\xbb\xbfx")).text, "x"); }
TEST_F(InputFile, Gzip) { EXPECT_EQ(read_input(write(gzip_bytes())).text, "hello\n"); }

TEST_F(InputFile, GzipMembersFollowEachOther) {
  EXPECT_EQ(read_input(write(gzip_bytes() + gzip_bytes())).text, "hello\nhello\n");
}

TEST_F(InputFile, DamageIsNamed) {
  EXPECT_THROW(read_input(write(gzip_bytes().substr(0, 15))), InputError);
  EXPECT_THROW(read_input(write(std::string("\xfd" "7zXZ\0\0\4", 8))), InputError);
}

TEST(Input, MissingAndFolder) {
  EXPECT_THROW(read_input("/nonexistent/file"), FileError);
  EXPECT_THROW(read_input(testing::TempDir()), FileError);
}

}  // namespace
}  // namespace fedsim

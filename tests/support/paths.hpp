// Where the repository and the reference data lie.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace fedsim::test {

/// The source tree. ctest names it; __FILE__ alone is relative to a build folder when a compiler
/// cache has made it so.
inline std::filesystem::path repository() {
  if (const char* given = std::getenv("FEDSIM_ROOT")) return given;
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

/// Reference data: FEDSIM_SHARED, or the folder "shared" beside the repository. Tests skip without.
inline std::filesystem::path reference_data() {
  if (const char* given = std::getenv("FEDSIM_SHARED")) return given;
  return repository().parent_path() / "shared";
}

}  // namespace fedsim::test

// Reading a whole input: a file, standard input ("-"), gzip or xz.
#pragma once

#include <filesystem>
#include <string>

namespace fedsim {

/// The bytes of one input and the name that messages use for it.
struct Input {
  std::string name;
  std::string text;
};

/// Reads and unpacks. Throws FileError, or InputError (C050) for a damaged archive.
Input read_input(const std::filesystem::path& path);

}  // namespace fedsim

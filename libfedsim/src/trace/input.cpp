// Reading a whole input: a file, standard input ("-"), gzip (RFC 1952) or xz.
#include "trace/input.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

[[noreturn]] void damaged(const std::string& name, const char* kind) {
  throw InputError({Severity::error, "C050", name, 0, std::string("damaged ") + kind + " archive",
                    "unpack it by hand to see how far it is readable"});
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string read_all(const std::filesystem::path& path, const std::string& name) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw FileError(name, errno, "read");
  struct stat status {};
  std::size_t expected = kChunk;
  if (::fstat(file.get(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw FileError(name, EISDIR, "read");
    if (S_ISREG(status.st_mode)) expected = static_cast<std::size_t>(status.st_size) + 1;
  }
  std::string bytes;
  std::size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(filled + (filled == 0 ? expected : filled));
    const ssize_t n = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw FileError(name, errno, "read");
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

std::string gunzip(const std::string& packed, const std::string& name) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) damaged(name, "gzip");
  std::string out;
  std::string chunk(kChunk, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status != Z_STREAM_END || stream.avail_in > 0) {
    if (status == Z_STREAM_END) inflateReset(&stream);  // members may follow each other
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk.data(), chunk.size() - stream.avail_out);
    if (status != Z_OK && status != Z_STREAM_END) break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) damaged(name, "gzip");
  return out;
}

std::string unxz(const std::string& packed, const std::string& name) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK) damaged(name, "xz");
  std::string out;
  std::string chunk(kChunk, '\0');
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    stream.next_out = reinterpret_cast<std::uint8_t*>(chunk.data());
    stream.avail_out = chunk.size();
    status = lzma_code(&stream, LZMA_FINISH);
    out.append(chunk.data(), chunk.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) damaged(name, "xz");
  return out;
}

bool starts_with(const std::string& bytes, const char* magic, std::size_t size) {
  return bytes.size() >= size && std::memcmp(bytes.data(), magic, size) == 0;
}

}  // namespace

Input read_input(const std::filesystem::path& path) {
  Input input;
  input.name = path == "-" ? "stdin" : path.string();
  input.text = read_all(path, input.name);
  if (starts_with(input.text, "\x1f\x8b", 2)) {
    input.text = gunzip(input.text, input.name);
  } else if (starts_with(input.text, "\xfd" "7zXZ", 5)) {
    input.text = unxz(input.text, input.name);
  }
  if (starts_with(input.text, "\xef\xbb\xbf", 3)) input.text.erase(0, 3);  // byte order mark
  return input;
}

}  // namespace fedsim

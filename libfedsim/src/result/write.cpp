// Writes the files of a run. Each goes to a temporary name in the same folder, is flushed to the
// disk and then renamed: a reader sees a file whole or not at all, also after a full disk or a
// crash.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "fedsim/result.hpp"

namespace fedsim {
namespace {

// A file under its temporary name. What was not committed is removed.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path target)
      : target_(std::move(target)),
        temporary_(target_.string() + ".part-" + std::to_string(::getpid())),
        handle_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (handle_ < 0) throw FileError(target_.string(), errno, "write");
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile() {
    if (handle_ >= 0) ::close(handle_);
    if (!committed_) ::unlink(temporary_.c_str());
  }

  /// Writes everything and hands it to the disk: a full disk shows here.
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(handle_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw FileError(target_.string(), errno, "write");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    // Some file systems can't sync; a real loss shows in close().
    const bool synced = ::fsync(handle_) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int sync_error = errno;
    const bool closed = ::close(std::exchange(handle_, -1)) == 0;
    if (!synced) throw FileError(target_.string(), sync_error, "write");
    if (!closed) throw FileError(target_.string(), errno, "write");
  }

  void commit() {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      throw FileError(target_.string(), errno, "write");
    }
    committed_ = true;
  }

 private:
  std::filesystem::path target_;
  std::string temporary_;
  int handle_;
  bool committed_ = false;
};

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(folder.string(), error.value(), "make folder");
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  PendingFile file(path);
  file.write(bytes);
  file.commit();
}

// Every file is complete under its temporary name before the first gets its own: a full disk, or a
// fault while a later table is made, leaves an older result as it was.
void write_result(const Result& result, const std::filesystem::path& folder,
                  const WriteOptions& options) {
  const std::string manifest = manifest_json(result, options);
  make_folder(folder);
  const SimTime t0 = result.scenario.trace->t0;
  std::vector<std::unique_ptr<PendingFile>> files;
  const auto add = [&](const std::string& name, std::string_view bytes) {
    files.push_back(std::make_unique<PendingFile>(folder / name));
    files.back()->write(bytes);
  };
  const auto add_table = [&](const Table& table) {
    add(table.name() + ".csv", to_csv(table, options.times, t0));
  };
  add_table(result.jobs());
  add_table(result.records());
  add_table(result.allocations());
  add_table(result.gpus());
  add_table(result.processes());
  if (options.events) add_table(result.event_table());
  add("timeline.svg", timeline_svg(result));
  add("summary.json", summary_json(result));
  add("manifest.json", manifest);
  for (const auto& file : files) file->commit();
}

}  // namespace fedsim

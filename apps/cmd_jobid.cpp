// fedsim jobid: a federated job id taken apart, or put together from origin and local id.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "fedsim/error.hpp"
#include "fedsim/ids.hpp"

namespace fedsim::apps {
namespace {

std::uint32_t parse_id(const std::string& text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end) {
    throw InputError({Severity::error, "C040", "", 0, "\"" + text + "\" is no job id or cluster id",
                      "ids are whole numbers up to 4294967295"});
  }
  return value;
}

void print_id(std::uint32_t id, const std::string& format) {
  const FederatedJobId parts = decode_job_id(id);
  if (format == "json") {
    std::printf("{\"jobid\": %u, \"cluster_id\": %u, \"local_id\": %u}\n", id, parts.cluster,
                parts.local);
  } else if (parts.cluster == 0) {
    std::printf("%u: local id %u, not federated\n", id, parts.local);
  } else {
    std::printf("%u: origin cluster id %u, local id %u\n", id, parts.cluster, parts.local);
  }
}

}  // namespace

void add_jobid(CLI::App& root, Context&) {
  CLI::App* command =
      root.add_subcommand("jobid", "Federated job ids: jobid ID, or jobid CLUSTER LOCAL");
  auto words = std::make_shared<std::vector<std::string>>();
  auto format = std::make_shared<std::string>();
  command
      ->add_option("ID", *words,
                   "A job id to take apart, or cluster id and local id to put together")
      ->required()
      ->expected(1, 2);
  add_format(*command, *format, {"text", "json"});
  command->footer(
      "The upper 6 bits are the origin's id in the federation, the lower 26 its local id.");
  command->callback([words, format] {
    if (words->size() == 1) {
      print_id(parse_id(words->front()), *format);
      return;
    }
    print_id(encode_job_id({parse_id((*words)[0]), parse_id((*words)[1])}), *format);
  });
}

}  // namespace fedsim::apps

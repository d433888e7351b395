// What may stand in which sacct column: used to put a row with stray delimiters together again.
#include <algorithm>

#include "base/text.hpp"
#include "trace/civil.hpp"
#include "trace/sacct_table.hpp"
#include "trace/tres.hpp"

namespace fedsim::sacct {

const char* const kXdmodColumns =
    "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,End,"
    "Elapsed,ExitCode,State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,"
    "JobName";

namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&list)[N]) {
  return std::any_of(std::begin(list), std::end(list),
                     [&](std::string_view entry) { return iequals(name, entry); });
}

bool is_exit_code(std::string_view value) {
  const std::vector<std::string> parts = split(value, ':');
  return parts.size() == 2 && parse_int(parts[0]) && parse_int(parts[1]);
}

bool is_job_id(std::string_view value) {
  if (value.empty() || !is_digit(value[0])) return false;
  return std::all_of(value.begin(), value.end(), [](char c) {
    return is_digit(c) || std::string_view("_+.[]-,%:").find(c) != std::string_view::npos ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

bool is_free_text(std::string_view column) {
  static constexpr std::string_view kFree[] = {
      "JobName",     "SubmitLine",    "Comment",  "AdminComment", "SystemComment", "WorkDir",
      "Constraints", "Container",     "Extra",    "Licenses",     "WCKey",         "FailedNode",
      "Reason",      "Reservation",   "StdOut",   "StdErr",       "StdIn"};
  return is_one_of(column, kFree);
}

bool plausible(std::string_view column, std::string_view value) {
  static constexpr std::string_view kTimes[] = {"Submit", "Eligible", "Start", "End"};
  static constexpr std::string_view kDurations[] = {"Elapsed",   "ElapsedRaw", "TotalCPU",
                                                    "UserCPU",   "SystemCPU",  "Suspended",
                                                    "CPUTime",   "CPUTimeRAW"};
  static constexpr std::string_view kCounts[] = {"NCPUS",      "AllocCPUS", "ReqCPUS", "NNodes",
                                                 "AllocNodes", "ReqNodes",  "UID",     "GID",
                                                 "Priority",   "Restarts",  "NTasks"};
  static constexpr std::string_view kTres[] = {"ReqTRES", "AllocTRES"};
  if (iequals(column, "JobID") || iequals(column, "JobIDRaw")) return is_job_id(value);
  if (iequals(column, "State")) {
    return is_known_state(value.substr(0, value.find(' ')));
  }
  if (value.empty()) return true;
  if (is_one_of(column, kTimes)) {
    return value == "Unknown" || value == "None" || parse_written_time(value).has_value();
  }
  if (is_one_of(column, kDurations)) {
    return value == "INVALID" || parse_elapsed(value, 1e18).has_value();
  }
  if (is_one_of(column, kCounts)) return parse_count(value).has_value();
  if (is_one_of(column, kTres)) return value.find('=') != std::string_view::npos;
  if (iequals(column, "ExitCode")) return is_exit_code(value);
  if (iequals(column, "ReqMem")) return parse_req_mem(value).has_value();
  return true;
}

}  // namespace fedsim::sacct

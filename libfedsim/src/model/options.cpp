// Options of slurm.conf: see options.hpp. Defaults: slurm.conf(5), sched_config page, semantics
// 0.1.
#include "model/options.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "base/text.hpp"

namespace fedsim {
namespace {

class OptionReader {
 public:
  OptionReader(const ClusterSpec& spec, ClusterModel& out, std::vector<Diagnostic>& found)
      : spec_(spec), out_(out), found_(found) {}

  void run() {
    read_scheduler();
    read_select();
    read_limits();
    for (const std::string& word : split_list(text("SchedulerParameters"))) read_parameter(word);
  }

 private:
  std::string text(const char* key) const {
    const auto it = spec_.options.find(key);
    return it == spec_.options.end() ? std::string{} : it->second;
  }

  void warn(const std::string& key, const std::string& value) {
    found_.push_back(
        {Severity::warning, "C113", "", 0,
         "cluster " + spec_.name + ": can't read " + key + "=" + value + ", default kept", ""});
  }

  void number(const char* key, std::int64_t& target, std::int64_t factor = 1) {
    const std::string value = text(key);
    if (value.empty()) return;
    const auto v = parse_int(value);
    if (v && *v >= 0) {
      target = *v * factor;
    } else if (!iequals(value, "UNLIMITED")) {
      warn(key, value);
    }
  }

  void read_scheduler() {
    SchedulerModel& s = out_.scheduler;
    s.type = iequals(text("SchedulerType"), "sched/builtin") ? SchedulerType::builtin
                                                             : SchedulerType::backfill;
    const std::string priority = text("PriorityType");
    // The default changed from basic to multifactor with 23.11.
    const bool multifactor = priority.empty() ? spec_.release >= SlurmRelease{23, 11}
                                              : iequals(priority, "priority/multifactor");
    s.priority = multifactor ? PriorityType::multifactor : PriorityType::basic;
  }

  void read_select() {
    const std::string select = to_lower(text("SelectType"));
    // select/linear was the default until 23.02.
    out_.linear =
        select == "select/linear" || (select.empty() && spec_.release < SlurmRelease{23, 11});
    const std::string parameters = to_upper(text("SelectTypeParameters"));
    const std::vector<std::string> words = split_list(parameters);
    const auto has = [&](const char* w) {
      return std::find(words.begin(), words.end(), w) != words.end();
    };
    out_.consumes_memory = out_.linear
                               ? parameters.find("MEMORY") != std::string::npos
                               : words.empty() || parameters.find("MEMORY") != std::string::npos;
    out_.least_loaded_nodes = has("CR_LLN");
  }

  void read_limits() {
    const std::string enforce = text("EnforcePartLimits");
    if (iequals(enforce, "ALL") || iequals(enforce, "YES")) {
      out_.enforce_part_limits = EnforcePartLimits::all;
    } else if (iequals(enforce, "ANY")) {
      out_.enforce_part_limits = EnforcePartLimits::any;
    }
    number("KillWait", out_.kill_wait_s);
    number("OverTimeLimit", out_.over_time_limit_s, 60);
    number("MinJobAge", out_.min_job_age_s);
    number("SlurmctldTimeout", out_.controller_timeout_s);
    out_.backup_controller =
        split_list(text("SlurmctldHost")).size() > 1 || !text("BackupController").empty();
    read_job_ids();
    out_.requeue_exit = exit_codes("RequeueExit");
    out_.requeue_exit_hold = exit_codes("RequeueExitHold");
    const std::string dependency = to_lower(text("DependencyParameters"));
    out_.remote_singleton = dependency.find("disable_remote_singleton") == std::string::npos;
    out_.kill_invalid_depend = dependency.find("kill_invalid_depend") != std::string::npos;
    number("DefMemPerCPU", out_.def_mem_per_cpu_mib);
    number("DefMemPerNode", out_.def_mem_per_node_mib);
    number("MaxMemPerCPU", out_.max_mem_per_cpu_mib);
    number("MaxMemPerNode", out_.max_mem_per_node_mib);
    for (const std::string& word : split_list(text("JobDefaults"))) {
      const std::size_t eq = word.find('=');
      const auto v = eq == std::string::npos ? std::nullopt : parse_int(word.substr(eq + 1));
      if (!v) continue;
      if (istarts_with(word, "DefCpuPerGPU")) out_.def_cpu_per_gpu = *v;
      if (istarts_with(word, "DefMemPerGPU")) out_.def_mem_per_gpu_mib = *v;
    }
  }

  void read_job_ids() {
    constexpr std::int64_t kMost = (1 << 26) - 1;  // upper bits are the origin's
    std::int64_t first = out_.first_job_id;
    std::int64_t last = out_.max_job_id;
    number("FirstJobId", first);
    number("MaxJobId", last);
    first = std::clamp<std::int64_t>(first, 1, kMost);
    out_.first_job_id = static_cast<std::uint32_t>(first);
    out_.max_job_id = static_cast<std::uint32_t>(std::clamp(last, first, kMost));
  }

  /// "1,5-7": codes 0 to 255; what can't be read is left out, as slurmctld does with a message.
  std::vector<std::uint8_t> exit_codes(const char* key) {
    std::vector<std::uint8_t> out;
    for (const std::string& piece : split_list(text(key))) {
      const std::size_t dash = piece.find('-');
      const auto low = parse_int(piece.substr(0, dash));
      const auto high = dash == std::string::npos ? low : parse_int(piece.substr(dash + 1));
      if (!low || !high || *low < 0) continue;
      for (std::int64_t code = *low; code <= std::min<std::int64_t>(*high, 255); ++code)
        out.push_back(static_cast<std::uint8_t>(code));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  /// One word of SchedulerParameters; words that don't change a modelled decision are left alone.
  void read_parameter(const std::string& word) {
    const std::size_t eq = word.find('=');
    const std::string key = to_lower(trim(word.substr(0, eq)));
    SchedulerModel& s = out_.scheduler;
    if (key == "bf_continue") s.bf_continue = true;
    if (key == "bf_busy_nodes") s.bf_busy_nodes = true;
    if (key == "bf_one_resv_per_job") s.bf_one_resv_per_job = true;
    if (key == "bf_running_job_reserve") s.bf_running_job_reserve = true;
    if (key == "defer") s.defer = true;
    if (eq == std::string::npos) return;
    const auto value = parse_int(trim(word.substr(eq + 1)));
    const auto set_int = [&](const char* name, int& target, int low, int high) {
      if (key != name) return;
      if (value && *value >= low && *value <= high) {
        target = static_cast<int>(*value);
      } else {
        warn("SchedulerParameters " + key, word.substr(eq + 1));
      }
    };
    const auto set_s = [&](const char* name, std::int64_t& target, std::int64_t low,
                           std::int64_t high, std::int64_t factor = 1) {
      if (key != name) return;
      if (value && *value >= low && *value <= high) {
        target = *value * factor;
      } else {
        warn("SchedulerParameters " + key, word.substr(eq + 1));
      }
    };
    set_s("sched_interval", s.sched_interval_s, -1, 1'000'000);
    set_s("batch_sched_delay", s.batch_sched_delay_s, 0, 1'000'000);
    set_int("default_queue_depth", s.default_queue_depth, 0, 1'000'000);
    set_int("partition_job_depth", s.partition_job_depth, 0, 1'000'000);
    set_int("sched_max_job_start", s.sched_max_job_start, 0, 1'000'000);
    set_s("bf_interval", s.bf_interval_s, -1, 10'800);
    set_s("bf_resolution", s.bf_resolution_s, 1, 3'600);
    set_s("bf_window", s.bf_window_s, 1, 43'200, 60);
    set_int("bf_max_job_test", s.bf_max_job_test, 1, 1'000'000);
    set_int("bf_max_job_part", s.bf_max_job_part, 0, 1'000'000);
    set_int("bf_max_job_user", s.bf_max_job_user, 0, 1'000'000);
    set_int("bf_max_job_start", s.bf_max_job_start, 0, 10'000);
    set_int("bf_node_space_size", s.bf_node_space_size, 2, 2'000'000);
    set_s("bf_min_age_reserve", s.bf_min_age_reserve_s, 0, 2'592'000);
    set_s("bf_min_prio_reserve", s.bf_min_prio_reserve, 0, UINT32_MAX);
    set_int("bf_job_part_count_reserve", s.bf_job_part_count_reserve, 0, 100'000);
    set_s("bf_window_linear", s.bf_window_linear_s, 0, 1'000'000);
  }

  const ClusterSpec& spec_;
  ClusterModel& out_;
  std::vector<Diagnostic>& found_;
};

}  // namespace

void read_cluster_options(const ClusterSpec& spec, ClusterModel& out,
                          std::vector<Diagnostic>& found) {
  OptionReader(spec, out, found).run();
}

}  // namespace fedsim

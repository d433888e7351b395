// Rules of generic resources: see gres_request.hpp.
#include "request/gres_request.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "request/words.hpp"

namespace fedsim {
namespace {

constexpr std::int64_t kLots = INT64_MAX;

/// A count with a power-of-1024 suffix.
std::optional<std::int64_t> gres_count(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const std::string number = text.substr(0, digits);
  std::int64_t value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec != std::errc{}) return std::nullopt;
  const std::string unit = digits == std::string::npos ? "" : to_lower(text.substr(digits));
  constexpr std::string_view kUnits = "kmgtp";
  if (unit.empty()) return value;
  const std::size_t power = kUnits.find(unit[0]);
  const bool good = power != std::string_view::npos &&
                    (unit.size() == 1 || unit.substr(1) == "ib" || unit.substr(1) == "b");
  if (!good) return std::nullopt;
  for (std::size_t i = 0; i <= power; ++i) {
    if (value > kLots / 1024) return kLots;
    value *= 1024;
  }
  return value;
}

class Validator {
 public:
  Validator(JobDescription& job, const std::set<std::string>& types, bool in_controller)
      : job_(job), types_(types), in_controller_(in_controller) {}

  GresJob run() {
    imply_tasks();
    read_lists();
    tasks_of_gpus();
    if (out_.verdict != GresVerdict::ok || out_.asks.empty()) return std::move(out_);
    if (!job_.memory_per_gres.empty() && !has_gpus_) {
      return fail("Requested mem_per_tres=" + job_.memory_per_gres +
                  " but did not request any GPU.");
    }
    // A record that breaks a rule ends the loop; a name seen with and without a type before that
    // has the last word all the same.
    std::size_t passed = 0;
    while (passed < out_.asks.size() && rules_hold(out_.asks[passed])) ++passed;
    if (passed < out_.asks.size()) out_.verdict = GresVerdict::invalid;
    if (mixes_types(passed)) out_.verdict = merge_types();
    return std::move(out_);
  }

 private:
  void error(std::string text) { out_.errors.push_back(std::move(text)); }

  GresJob fail(const std::string& text) {
    if (!text.empty()) error(text);
    out_.verdict = GresVerdict::invalid;
    return std::move(out_);
  }

  bool rules_hold(GresAsk& ask) {
    if (!counts_agree(ask)) return false;
    sharing_ = sharing_ || ask.name == "gpu";
    if (ask.name == "shard" || ask.name == "mps") {
      shared_ = true;
      if ((ask.per_job > 0 && job_.max_nodes != 1) ||
          (ask.per_socket > 0 && job_.sockets_per_node != 1) ||
          (ask.per_task > 0 && job_.num_tasks != 1)) {
        return false;
      }
    }
    return !(sharing_ && shared_);
  }

  bool mixes_types(std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (out_.asks[i].name == out_.asks[j].name && out_.asks[i].type.empty() &&
            !out_.asks[j].type.empty())
          return true;
    return false;
  }

  void imply_tasks() {
    if (job_.gres_per_task.empty() && job_.ntasks_per_gres == kUnset) return;
    if (job_.num_tasks != kUnset || job_.min_nodes == kUnset || job_.min_nodes != job_.max_nodes) {
      return;
    }
    if (job_.ntasks_per_gres != kUnset)
      job_.num_tasks = job_.min_nodes * job_.ntasks_per_gres;
    else if (job_.ntasks_per_node != kUnset)
      job_.num_tasks = job_.min_nodes * job_.ntasks_per_node;
    else if (job_.cpus_per_task == kUnset)
      job_.num_tasks = job_.min_nodes;
  }

  // Reading ----------------------------------------------------------------

  GresAsk& ask_for(const std::string& name, const std::string& type) {
    for (GresAsk& a : out_.asks)
      if (a.name == name && a.type == type) return a;
    out_.asks.push_back({name, type});
    return out_.asks.back();
  }

  /// One entry behind "gres:": name[:type][:count]. False ends the reading of the list.
  template <class F>
  bool read_entry(const std::string& entry, F&& put) {
    const std::vector<std::string> parts = split(entry, ':');
    std::string type;
    std::int64_t count = 1;
    if (parts.size() >= 3) {
      const std::string last = join({parts.begin() + 2, parts.end()}, ":");
      const auto n = gres_count(last);
      if (parts[1].empty() || last.empty() || !n) return invalid();
      type = parts[1];
      count = *n;
    } else if (parts.size() == 2) {
      if (parts[1].empty()) return invalid();
      if (const auto n = gres_count(parts[1]))
        count = *n;
      else
        type = parts[1];
    }
    if (count == 0) return true;
    if (types_.count(parts[0]) == 0) return invalid();
    put(ask_for(parts[0], type), count);
    return true;
  }

  bool invalid() {
    out_.verdict = GresVerdict::invalid;
    return false;
  }

  template <class F>
  void read_list(const std::string& list, bool asks_for_gpus, F&& put) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t at = rest.find("gres:");
      if (at == std::string_view::npos) return;
      rest.remove_prefix(at + 5);
      const std::size_t comma = rest.find(',');
      const std::string entry(rest.substr(0, comma));
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
      if (entry.empty()) continue;
      const bool go_on = read_entry(entry, [&](GresAsk& ask, std::int64_t count) {
        put(ask, count);
        ask.tasks_per = job_.ntasks_per_gres;
        has_gpus_ = has_gpus_ || (asks_for_gpus && ask.name == "gpu");
      });
      if (!go_on) return;
    }
  }

  void read_lists() {
    const auto times = [](std::int64_t a, std::int64_t b) {
      return b > 0 && a > kLots / b ? kLots : a * b;
    };
    const auto most = [](GresAsk& a, std::int64_t n) { a.total = std::max(a.total, n); };
    read_list(job_.cpus_per_gres, false, [](GresAsk& a, std::int64_t n) { a.cpus_per = n; });
    read_list(job_.gres_per_job, true, [&](GresAsk& a, std::int64_t n) {
      a.per_job = n;
      most(a, n);
    });
    read_list(job_.gres_per_node, true, [&](GresAsk& a, std::int64_t n) {
      a.per_node = n;
      most(a, job_.min_nodes != kUnset ? times(n, job_.min_nodes) : n);
    });
    read_list(job_.gres_per_socket, true, [&](GresAsk& a, std::int64_t n) {
      a.per_socket = n;
      if (job_.min_nodes != kUnset && job_.sockets_per_node != kUnset)
        n = times(n, job_.min_nodes * job_.sockets_per_node);
      else if (job_.num_tasks != kUnset && job_.ntasks_per_socket != kUnset)
        n = times(n, (job_.num_tasks + job_.ntasks_per_socket - 1) / job_.ntasks_per_socket);
      most(a, n);
    });
    read_list(job_.gres_per_task, true, [&](GresAsk& a, std::int64_t n) {
      a.per_task = n;
      most(a, job_.num_tasks != kUnset ? times(n, job_.num_tasks) : n);
    });
    read_list(job_.memory_per_gres, false,
              [](GresAsk& a, std::int64_t n) { a.memory_per_mib = n; });
  }

  std::int64_t gpus() const {
    std::int64_t n = 0;
    for (const GresAsk& a : out_.asks) n += a.name == "gpu" ? a.total : 0;
    return n;
  }

  /// --ntasks-per-gpu: tasks follow from GPUs, or GPUs from tasks.
  void tasks_of_gpus() {
    if (job_.ntasks_per_gres == kUnset || job_.ntasks_per_gres == 0) return;
    if (has_gpus_ && !out_.asks.empty()) {
      job_.num_tasks = gpus() * job_.ntasks_per_gres;
      return;
    }
    if (job_.num_tasks == kUnset || job_.num_tasks == 0) {
      error(
          "gres_job_state_validate: --ntasks-per-tres needs either a GRES GPU specification or a "
          "node/ntask specification");
      out_.verdict = GresVerdict::invalid;
      return;
    }
    const std::string list = "gres:gpu:" + std::to_string(job_.num_tasks / job_.ntasks_per_gres);
    read_list(list, true, [](GresAsk& a, std::int64_t n) {
      a.per_job = n;
      a.total = std::max(a.total, n);
    });
    if (out_.asks.empty()) {
      error("gres_job_state_validate: Failed to add generated GRES " + list +
            " (via ntasks_per_tres) to gres_list");
    } else {
      has_gpus_ = true;
    }
  }

  // Rules ------------------------------------------------------------------

  bool wrong(std::string text) {
    error(std::move(text));
    return false;
  }

  bool counts_agree(GresAsk& a) {
    return sizes_agree(a) && nodes_agree(a) && sockets_agree(a) && tasks_agree(a) &&
           tasks_per_part_agree(a) && cpus_agree(a) && node_count_agrees(a);
  }

  bool sizes_agree(const GresAsk& a) {
    const std::string s = "--" + a.name + "s";
    if (a.per_job > 0 && std::max({a.per_node, a.per_task, a.per_socket}) > a.per_job) {
      return wrong("Failed to ensure " + s + " >= --gres=" + a.name + "/" + s +
                   "-per-node >= " + s + "-per-socket");
    }
    if (a.per_node > 0 && std::max(a.per_task, a.per_socket) > a.per_node) {
      return wrong("Failed to ensure " + s + " >= " + s + "-per-task");
    }
    if (a.per_socket > 0 && job_.sockets_per_node == kUnset) {
      return wrong(s + "-per-socket option requires --sockets-per-node specification");
    }
    if (!in_controller_ && a.cpus_per > 0 && job_.cpus_per_task != kUnset) {
      return wrong("--cpus-per-" + a.name + " is mutually exclusive with --cpus-per-task");
    }
    return true;
  }

  /// "-1" as Slurm prints an unset count.
  static std::string shown(std::int64_t n) {
    return n == kUnset ? "4294967294" : std::to_string(n);
  }

  bool nodes_agree(const GresAsk& a) {
    if (a.per_job == 0 || a.per_node == 0) return true;
    const std::string s = "--" + a.name + "s";
    if (a.per_job % a.per_node != 0) {
      return wrong("Failed to validate job spec, " + s + " is not multiple of --gres=" + a.name +
                   "/" + s + "-per-node");
    }
    const std::int64_t nodes = a.per_job / a.per_node;
    const bool too_few = job_.min_nodes != kUnset && nodes < job_.min_nodes;
    const bool too_many = job_.max_nodes != kUnset && nodes > job_.max_nodes;
    if (too_few || too_many) {
      return wrong("Failed to validate job spec. Based on --" + a.name + " and --gres=" + a.name +
                   "/" + s + "-per-node required nodes (" + std::to_string(nodes) +
                   ") doesn't fall between min_nodes (" + shown(job_.min_nodes) +
                   ") and max_nodes (" + shown(job_.max_nodes) + ") boundaries.");
    }
    job_.min_nodes = job_.max_nodes = nodes;
    return true;
  }

  bool sockets_agree(const GresAsk& a) {
    if (a.per_node == 0 || a.per_socket == 0) return true;
    const std::string s = "--" + a.name + "s";
    const std::string pair = "--gres=" + a.name + "/" + s + "-per-node";
    if (a.per_node % a.per_socket != 0) {
      return wrong("Failed to validate job spec, " + pair + " not multiple of " + s +
                   "-per-socket.");
    }
    if (job_.sockets_per_node == a.per_node / a.per_socket) return true;
    return wrong("Failed to validate job spec. Based on " + pair + " and " + s +
                 "-per-socket required number of sockets differ from --sockets-per-node.");
  }

  bool tasks_agree(GresAsk& a) {
    const std::string s = "--" + a.name + "s";
    if (a.tasks_per > 0 && job_.num_tasks != kUnset && job_.num_tasks % a.tasks_per != 0) {
      return wrong(
          "Failed to validate job spec, -n/--ntasks has to be a multiple of --ntasks-per-" +
          a.name + ".");
    }
    if (a.per_task == 0) return true;
    if (a.per_job == 0) {
      if (job_.num_tasks == kUnset) {
        return wrong("Failed to validate job spec. " + s + "-per-task used without either " + s +
                     " or -n/--ntasks is not allowed.");
      }
      a.per_job = job_.num_tasks * a.per_task;
      return true;
    }
    if (a.per_job % a.per_task != 0) {
      return wrong("Failed to validate job spec, " + s + " not multiple of " + s + "-per-task");
    }
    const std::int64_t tasks = a.per_job / a.per_task;
    if (job_.num_tasks == kUnset) job_.num_tasks = tasks;
    if (job_.num_tasks == tasks) return true;
    return wrong("Failed to validate job spec. Based on " + s + " and " + s +
                 "-per-task number of requested tasks differ from -n/--ntasks.");
  }

  bool tasks_per_part_agree(const GresAsk& a) {
    const std::string s = "--" + a.name + "s";
    const auto agree = [&](std::int64_t per, std::int64_t& tasks, const std::string& option,
                           const std::string& part, const std::string& parts,
                           const std::string& said) {
      if (per == 0 || a.per_task == 0) return true;
      if (per % a.per_task != 0) {
        return wrong("Failed to validate job spec, " + option + " not multiple of " + s +
                     "-per-task.");
      }
      if (tasks == kUnset || tasks == 0) tasks = per / a.per_task;
      if (tasks == per / a.per_task) return true;
      return wrong("Failed to validate job spec. Based on " + option + " and " + s +
                   "-per-task requested number of tasks per " + parts + " differ from " + said +
                   part + ".");
    };
    return agree(a.per_node, job_.ntasks_per_node, "--gres=" + a.name + "/" + s + "-per-node",
                 "node", "node", "--ntasks-per-") &&
           agree(a.per_socket, job_.ntasks_per_socket, s + "-per-socket", "socket", "sockets",
                 "--ntasks-per-");
  }

  bool cpus_agree(const GresAsk& a) {
    if (a.cpus_per == 0 || a.per_task == 0) return true;
    const std::int64_t cpus = a.cpus_per * a.per_task;
    if (job_.cpus_per_task == kUnset || job_.cpus_per_task == 0) job_.cpus_per_task = cpus;
    if (job_.cpus_per_task == cpus) return true;
    return wrong("Failed to validate job spec. Based on --cpus-per-" + a.name + " and --" + a.name +
                 "s-per-task requested number of cpus differ from -c/--cpus-per-task.");
  }

  bool node_count_agrees(const GresAsk& a) {
    if (a.per_job == 0) return true;
    if (job_.min_nodes != kUnset && a.per_job < job_.min_nodes) {
      return wrong("Failed to validate job spec, --" + a.name + "s < -N");
    }
    if (job_.max_nodes != kUnset && a.per_job < job_.max_nodes) job_.max_nodes = a.per_job;
    return true;
  }

  /// A name both with and without a type: the record without one must carry no counts, and what it
  /// says (CPUs and memory per device) then holds for every type.
  GresVerdict merge_types() {
    for (std::size_t i = 0; i < out_.asks.size(); ++i) {
      const GresAsk any = out_.asks[i];
      if (!any.type.empty()) continue;
      bool typed = false;
      for (GresAsk& other : out_.asks) {
        if (other.name != any.name || other.type.empty()) continue;
        typed = true;
        if (any.per_job + any.per_node + any.per_socket + any.per_task > 0)
          return GresVerdict::invalid_type;
        if (any.cpus_per > 0) other.cpus_per = any.cpus_per;
        if (any.memory_per_mib > 0) other.memory_per_mib = any.memory_per_mib;
        if (any.tasks_per > 0) other.tasks_per = any.tasks_per;
      }
      if (typed) out_.asks.erase(out_.asks.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    return GresVerdict::ok;
  }

  JobDescription& job_;
  const std::set<std::string>& types_;
  bool in_controller_;
  bool has_gpus_ = false;
  bool sharing_ = false;  ///< gpu was asked for
  bool shared_ = false;   ///< shard or mps was
  GresJob out_;
};

}  // namespace

GresJob validate_gres(JobDescription& job, const std::set<std::string>& gres_types, bool cons_tres,
                      bool in_controller) {
  const bool more = !job.cpus_per_gres.empty() || !job.gres_per_job.empty() ||
                    !job.gres_per_socket.empty() || !job.gres_per_task.empty() ||
                    !job.memory_per_gres.empty();
  if (!more && job.gres_per_node.empty() && job.ntasks_per_gres == kUnset) return {};
  if (more && !cons_tres) return {{}, GresVerdict::unsupported, {}};
  return Validator(job, gres_types, in_controller).run();
}

bool is_gres_list(const std::string& list, const std::set<std::string>& gres_types) {
  if (list.empty()) return true;
  for (const std::string& entry : split(list, ',')) {
    if (entry.empty()) continue;
    std::vector<std::string> parts = split(entry, ':');
    if (parts.size() < 2 || parts.back().empty()) return false;
    bool zero = false;
    if (is_digit(parts.back()[0])) {
      const auto count = gres_count(parts.back());
      if (!count) return false;
      zero = *count == 0;
      parts.pop_back();
    }
    if (zero) continue;
    if (parts[0] != "gres" || parts.size() < 2 || gres_types.count(parts[1]) == 0) return false;
  }
  return true;
}

const char* text_of(GresVerdict verdict) {
  switch (verdict) {
    case GresVerdict::ok:
      return "";
    case GresVerdict::invalid:
      return "Invalid generic resource (gres) specification";
    case GresVerdict::invalid_type:
      return "Invalid GRES specification (with and without type identification)";
    case GresVerdict::unsupported:
      return "Requested operation not supported on this system";
  }
  return "";
}

}  // namespace fedsim

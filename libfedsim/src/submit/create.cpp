// The tests of job creation, in slurmctld's order (22.05 validate_job_create_req, _job_create).
#include <algorithm>
#include <charconv>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "request/words.hpp"
#include "submit/submission.hpp"

namespace fedsim {
namespace {

std::optional<Refusal> refuse(std::string text, std::string detail = "") {
  return Refusal{std::move(text), std::move(detail)};
}

class Creation {
 public:
  Creation(const ControllerView& view, Submission& s) : view_(view), s_(s), job_(s.job) {}

  std::optional<Refusal> run() {
    using Test = std::optional<Refusal> (Creation::*)();
    constexpr Test kOrder[] = {
        &Creation::request,
        &Creation::required_nodes,
        &Creation::find_partitions,
        &Creation::association,
        &Creation::qos,
        &Creation::partition_limits,
        &Creation::time_and_size,
        &Creation::memory,
        &Creation::licenses,
        &Creation::gres,
        &Creation::qos_limits,
        &Creation::excluded_nodes,
        &Creation::dependency,
        &Creation::features,
        &Creation::reservation,
    };
    for (const Test test : kOrder)
      if (auto refusal = (this->*test)()) return refusal;
    return std::nullopt;
  }

 private:
  std::optional<Refusal> request() {
    if (job_.nice < 0) return refuse("Invalid --nice value");
    if (!array_is_valid()) return refuse("Invalid job array specification");
    if (job_.ntasks_per_node != kUnset && job_.min_nodes != kUnset && job_.num_tasks == kUnset) {
      job_.num_tasks = job_.ntasks_per_node * job_.min_nodes;
    }
    if (!job_.overcommit && job_.num_tasks != kUnset && job_.num_tasks > job_.min_cpus) {
      job_.min_cpus = job_.num_tasks * std::max<std::int64_t>(job_.cpus_per_task, 1);
    }
    return std::nullopt;
  }

  static std::optional<std::int64_t> array_number(std::string_view& text) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} && read.ec != std::errc::invalid_argument) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.starts_with("]")) text.remove_prefix(1);
    return value;
  }

  /// One piece: N, N-M, N-M:STEP; what stands behind "%" is not looked at here.
  bool array_piece_is_valid(std::string_view text) const {
    if (text.starts_with("[")) text.remove_prefix(1);
    const auto first = array_number(text);
    if (!first || *first < 0) return false;
    std::int64_t last = *first;
    if (text.starts_with("-")) {
      text.remove_prefix(1);
      const auto high = array_number(text);
      if (!high) return false;
      last = *high;
      if (text.starts_with(":")) {
        text.remove_prefix(1);
        const auto step = array_number(text);
        if (!step || *step <= 0 || *step >= view_.max_array_size) return false;
      }
    }
    if (!text.empty() && text[0] != '%') return false;
    return *first <= last && last < view_.max_array_size;
  }

  bool array_is_valid() const {
    if (job_.array.empty()) return true;
    for (const std::string& piece : split(job_.array, ',')) {
      if (!piece.empty() && !array_piece_is_valid(piece)) return false;
    }
    return true;
  }

  // Nodes ------------------------------------------------------------------

  std::optional<std::vector<std::size_t>> nodes_of(const std::string& hosts) const {
    std::string problem;
    const auto list = try_expand_hostlist(hosts, problem);
    if (!list) return std::nullopt;
    std::vector<std::size_t> out;
    for (const std::string& name : *list) {
      const auto node = view_.node(name);
      if (!node) return std::nullopt;
      out.push_back(*node);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  std::optional<Refusal> required_nodes() {
    if (!job_.nodelist.empty()) {
      auto list = nodes_of(job_.nodelist);
      if (!list) return refuse(kNodeName);
      if (job_.contiguous) {
        std::vector<std::size_t> all;
        for (std::size_t i = list->front(); i <= list->back(); ++i) all.push_back(i);
        list = all;
      }
      s_.required = *list;
      const auto n = static_cast<std::int64_t>(list->size());
      job_.min_nodes = std::max(job_.min_nodes, n);
      job_.min_cpus = std::max(job_.min_cpus, n);
      if (job_.max_nodes > 0 && job_.min_nodes > job_.max_nodes) return refuse(kNodeCount);
    }
    if (job_.max_nodes == 0) return refuse(kNodeCount);
    return std::nullopt;
  }

  std::optional<Refusal> excluded_nodes() {
    if (!job_.exclude.empty()) {
      const auto list = nodes_of(job_.exclude);
      if (!list) return refuse(kNodeName);
      s_.excluded = *list;
    }
    for (const std::size_t n : s_.required)
      if (std::binary_search(s_.excluded.begin(), s_.excluded.end(), n)) return refuse(kNodeName);
    if (job_.max_nodes > 0 && job_.max_nodes < job_.min_nodes) return refuse(kNodeCount);
    return std::nullopt;
  }

  // Partition, account, QOS -------------------------------------------------

  std::optional<Refusal> find_partitions() {
    if (!job_.has("partition")) {
      for (const StaticPartition& p : view_.partitions)
        if (p.spec->is_default) s_.partitions = {&p};
      if (s_.partitions.empty())
        return refuse("No partition specified or system default partition");
    } else {
      if (job_.partition.empty()) return no_partition("(null)");
      for (const std::string& name : split(job_.partition, ',')) {
        if (name.empty()) continue;
        const StaticPartition* p = view_.partition(name);
        if (p == nullptr) return no_partition(std::string(trim(name)));
        if (std::find(s_.partitions.begin(), s_.partitions.end(), p) == s_.partitions.end())
          s_.partitions.push_back(p);
      }
    }
    s_.partition_text = job_.partition;
    const std::size_t dropped = std::erase_if(s_.partitions, [](const StaticPartition* p) {
      return p->spec->state == "DRAIN" || p->spec->state == "INACTIVE";
    });
    if (dropped > 0 || s_.partition_text.empty()) {
      std::vector<std::string> names;
      for (const StaticPartition* p : s_.partitions) names.push_back(p->spec->name);
      s_.partition_text = join(names, ",");
    }
    if (s_.partitions.empty())
      return refuse("Required partition not available (inactive or drain)");
    return std::nullopt;
  }

  static std::optional<Refusal> no_partition(const std::string& name) {
    return refuse("Invalid partition name specified", "invalid partition specified: " + name);
  }

  std::optional<Refusal> association() {
    s_.account = to_lower(job_.account);
    if (view_.accounting.empty()) return std::nullopt;
    const auto user = view_.accounting.users.find(s_.user);
    const bool known = user != view_.accounting.users.end();
    if (!job_.has("account") && known && !user->second.accounts.empty())
      s_.account = user->second.accounts.front();
    const bool member =
        known && std::find(user->second.accounts.begin(), user->second.accounts.end(),
                           s_.account) != user->second.accounts.end();
    if (member || !view_.enforce_associations) return std::nullopt;
    return refuse("Invalid account or account/partition combination specified");
  }

  std::optional<Refusal> qos() {
    s_.qos = job_.qos;
    const auto user = view_.accounting.users.find(s_.user);
    const bool known = user != view_.accounting.users.end();
    if (!job_.has("qos")) {
      s_.qos = known && !user->second.default_qos.empty() ? user->second.default_qos : "normal";
      return std::nullopt;
    }
    if (!view_.enforce_qos || view_.accounting.empty()) return std::nullopt;
    const std::vector<std::string> own =
        known && !user->second.qos.empty() ? user->second.qos : std::vector<std::string>{"normal"};
    const bool exists = view_.accounting.qos.count(s_.qos) != 0;
    if (exists && std::find(own.begin(), own.end(), s_.qos) != own.end()) return std::nullopt;
    return refuse("Invalid qos specification");
  }

  // Limits -------------------------------------------------------------------

  std::optional<Refusal> partition_limits() {
    if (view_.enforce == EnforceLimits::no) return std::nullopt;
    std::optional<std::string> why;
    bool any = false;
    for (const StaticPartition* p : s_.partitions) {
      const auto problem = partition_access(view_, s_, *p, true);
      any = any || !problem;
      if (problem) why = problem;
      if (problem && view_.enforce == EnforceLimits::all) break;
      if (any && view_.enforce == EnforceLimits::any) why.reset();
    }
    if (why) return refuse(*why);
    return std::nullopt;
  }

  std::optional<Refusal> time_and_size() {
    std::int64_t least = INT64_MAX;
    std::int64_t most = 0;
    std::int64_t max_time = 0;
    const auto larger = [](std::int64_t a, std::int64_t b) {
      return a == kUnlimited || b < 0 ? kUnlimited : std::max(a, b);
    };
    for (const StaticPartition* p : s_.partitions) {
      least = std::min(least, std::max<std::int64_t>(p->spec->min_nodes, 1));
      most = larger(most, p->spec->max_nodes);
      max_time = larger(max_time, p->max_time_min);
    }
    const bool enforced = view_.enforce != EnforceLimits::no;
    if (job_.min_nodes == kUnset)
      job_.min_nodes = std::max<std::int64_t>(least, 1);
    else if (enforced && most >= 0 && job_.min_nodes > most)
      return refuse(kNodeCount);
    else if (job_.min_nodes < least && (job_.max_nodes == kUnset || job_.max_nodes >= least))
      job_.min_nodes = least;
    if (enforced && job_.max_nodes != kUnset && job_.max_nodes < least) return refuse(kNodeCount);
    if (job_.min_nodes == 0) return refuse(kNodeCount);
    return times(max_time);
  }

  std::optional<Refusal> times(std::int64_t max_time) {
    const auto above = [](std::int64_t a, std::int64_t limit) {
      if (limit < 0) return false;
      return a == kUnlimited || a > limit;
    };
    const StaticPartition& first = *s_.partitions.front();
    if (job_.time_limit_min == kUnset) {
      if (first.default_time_min == 0) return refuse(kTimeLimit);
      job_.time_limit_min = first.default_time_min;
    }
    if (job_.time_min_min != kUnset && above(job_.time_min_min, max_time)) return refuse(kTimeMin);
    if (view_.enforce != EnforceLimits::no && job_.time_limit_min != kUnset &&
        job_.time_min_min == kUnset && above(job_.time_limit_min, max_time)) {
      return refuse(kTimeLimit);
    }
    if (job_.time_min_min != kUnset && job_.time_limit_min != kUnset &&
        above(job_.time_min_min, job_.time_limit_min)) {
      return refuse(kTimeMin);
    }
    if (job_.deadline_s == 0) return std::nullopt;
    const std::int64_t left = job_.deadline_s - s_.now_s;
    if (left < 0) return refuse(kTimeLimit);
    if (job_.time_min_min != kUnset && left < job_.time_min_min * 60) return refuse(kTimeMin);
    return std::nullopt;
  }

  std::optional<Refusal> memory() {
    s_.memory_given = job_.memory_mib != kUnset;
    if (!s_.memory_given) {
      set_default_memory(view_, job_, *s_.partitions.front());
    } else if (view_.enforce != EnforceLimits::no && !memory_is_allowed()) {
      return refuse("Memory required by task is not available");
    }
    if (job_.memory_mib == 0) job_.memory_per_cpu = false;
    return std::nullopt;
  }

  bool memory_is_allowed() const {
    bool last = false;
    for (const StaticPartition* p : s_.partitions) {
      JobDescription copy = job_;  // what the test changes is set again when the job waits
      last = apply_max_memory(view_, copy, *p);
      if (view_.enforce == EnforceLimits::all ? !last : last) break;
    }
    return last;
  }

  // Licences, GRES, accounting limits ---------------------------------------

  std::optional<Refusal> licenses() {
    std::string text = job_.licenses;
    std::replace(text.begin(), text.end(), ';', ',');
    for (const std::string& entry : split_list(text)) {
      const std::size_t colon = entry.find_first_of(":=");
      const std::string name = entry.substr(0, colon);
      const auto count = colon == std::string::npos ? std::optional<std::int64_t>{1}
                                                    : read_decimal(entry.substr(colon + 1));
      const auto known = view_.licenses.find(name);
      if (!count || *count < 0 || known == view_.licenses.end() || *count > known->second)
        return refuse("Invalid license specification");
      s_.tres_licenses[name] += *count;
    }
    return std::nullopt;
  }

  std::optional<Refusal> gres() {
    s_.gres = validate_gres(job_, view_.gres_types, view_.cons_tres, true);
    if (s_.gres.verdict != GresVerdict::ok) {
      return refuse(text_of(s_.gres.verdict));
    }
    for (const std::string* list :
         {&job_.cpus_per_gres, &job_.memory_per_gres, &job_.gres_per_job, &job_.gres_per_node,
          &job_.gres_per_socket, &job_.gres_per_task}) {
      if (!is_gres_list(*list, view_.gres_types))
        return refuse("Invalid Trackable RESource (TRES) specification");
    }
    s_.tres_cpus = job_.min_cpus;
    s_.tres_nodes = job_.min_nodes;
    return std::nullopt;
  }

  std::int64_t requested(const std::string& tres) const {
    if (tres == "cpu") return s_.tres_cpus;
    if (tres == "node") return s_.tres_nodes;
    std::int64_t n = 0;
    for (const GresAsk& a : s_.gres.asks) {
      const bool all = tres == "gres/" + a.name;
      if (all || tres == "gres/" + a.name + ":" + a.type) n += a.total;
    }
    return n;
  }

  std::optional<Refusal> qos_limits() {
    const auto found = view_.accounting.qos.find(s_.qos);
    if (!view_.enforce_limits || found == view_.accounting.qos.end()) return std::nullopt;
    const Accounting::Qos& limits = found->second;
    if (!limits.deny_on_limit) return std::nullopt;
    constexpr const char* kPolicy =
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
    // In the order of TRES ids: CPUs and nodes before generic resources.
    for (const bool gres : {false, true}) {
      for (const auto& [tres, limit] : limits.max_tres_per_job) {
        if (tres.starts_with("gres/") != gres || requested(tres) <= limit) continue;
        if (gres) return refuse(kPolicy, "QOSMaxGRESPerJob");
        return refuse(kPolicy, tres == "node" ? "QOSMaxNodePerJobLimit" : "QOSMaxCpuPerJobLimit");
      }
    }
    if (limits.max_wall_s >= 0 && job_.time_limit_min != kUnset &&
        (job_.time_limit_min == kUnlimited || job_.time_limit_min > limits.max_wall_s / 60)) {
      return refuse(kPolicy, "QOSMaxWallDurationPerJobLimit");
    }
    return std::nullopt;
  }

  // The rest -----------------------------------------------------------------

  /// Job 1 is the one that keeps the nodes busy; no other exists.
  std::optional<Refusal> dependency() {
    constexpr const char* kProblem = "Job dependency problem";
    const std::string& text = job_.dependency;
    if (text.empty() || text == "0") return std::nullopt;
    const char separator = text.find('?') != std::string::npos ? '?' : ',';
    for (const std::string& entry : split(text, separator)) {
      if (iequals(entry, "singleton")) {
        s_.depends = true;
        continue;
      }
      const std::size_t colon = entry.find(':');
      std::string ids = entry;
      if (colon != std::string::npos) {
        const std::string kind = to_lower(entry.substr(0, colon));
        if (kind == "expand") return refuse("Requested operation not supported on this system");
        if (kind != "after" && kind != "afterok" && kind != "afterany" && kind != "afternotok" &&
            kind != "aftercorr" && kind != "afterburstbuffer") {
          return refuse(kProblem);
        }
        ids = entry.substr(colon + 1);
      }
      for (const std::string& id : split(ids, ':')) {
        if (id.empty() || !is_digit(id[0])) return refuse(kProblem);
        const std::int64_t n = read_leading_decimal(id);
        if (n == 0) return refuse(kProblem);
        if (n == 1) s_.depends = true;
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> features() {
    if (job_.features.empty()) return std::nullopt;
    constexpr const char* kFeature = "Invalid feature specification";
    auto terms = parse_features(job_.features);
    if (!terms || !is_consistent(*terms)) return refuse(kFeature);
    for (const FeatureTerm& t : *terms) {
      const bool known =
          std::any_of(view_.nodes.begin(), view_.nodes.end(),
                      [&](const StaticNode& n) { return n.features.count(t.name) != 0; });
      if (!known) return refuse(kFeature);
    }
    std::replace(job_.features.begin(), job_.features.end(), ',', '&');
    s_.features = std::move(*terms);
    return std::nullopt;
  }

  std::optional<Refusal> reservation() {
    if (job_.reservation.empty()) return std::nullopt;
    return refuse("Requested reservation is invalid");
  }

  const ControllerView& view_;
  Submission& s_;
  JobDescription& job_;
};

}  // namespace

std::optional<Refusal> create_job(const ControllerView& view, Submission& s) {
  if (auto refusal = Creation(view, s).run()) return refusal;
  JobDescription& j = s.job;
  s.tres_memory_mib = j.memory_mib;
  s.tres_memory_per_cpu = j.memory_per_cpu;
  s.cpus_per_task_given = j.cpus_per_task != kUnset;
  j.cpus_per_task = std::max<std::int64_t>(j.cpus_per_task, 1);
  j.min_cpus_per_node = std::max<std::int64_t>(j.min_cpus_per_node, 1);
  if (j.ntasks_per_node > 0 && !j.overcommit && j.num_tasks > 1)
    j.min_cpus_per_node = std::max(j.min_cpus_per_node, j.cpus_per_task * j.ntasks_per_node);
  j.min_cpus_per_node = std::max(j.min_cpus_per_node, j.cpus_per_task);
  s.created_min_cpus_per_node = j.min_cpus_per_node;
  if (j.spread && j.max_nodes == kUnset && j.num_tasks > 0)
    j.max_nodes = std::min(static_cast<std::int64_t>(view.nodes.size()), j.num_tasks);
  return std::nullopt;
}

}  // namespace fedsim

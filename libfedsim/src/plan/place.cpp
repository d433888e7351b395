// PlaceDesk: occupations read, jobs placed, placements written as scontrol does.
#include "fedsim/place.hpp"

#include <algorithm>
#include <bit>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "fedsim/slurm_conf.hpp"
#include "result/gpu_idx.hpp"
#include "submit/submission.hpp"

namespace fedsim {
namespace {

InputError bad(std::string message, std::string remedy) {
  return InputError(
      Diagnostic{Severity::error, "C142", "", 0, std::move(message), std::move(remedy)});
}

/// "0-3,7" -> 0 1 2 3 7.
std::vector<int> read_indices(const std::string& text) {
  std::vector<int> out;
  for (const std::string& piece : split_list(text)) {
    const std::size_t dash = piece.find('-');
    const auto first = parse_int(piece.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_int(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= 65536)
      throw bad("\"" + piece + "\" is no range of indices", "write 0-3,7");
    for (std::int64_t i = *first; i <= *last; ++i) out.push_back(static_cast<int>(i));
  }
  return out;
}

/// One entry of a gres text: "gpu:a100:3(IDX:0-2)".
struct HeldGres {
  std::string name;
  std::int64_t count = 0;
  std::vector<int> devices;
};

std::vector<HeldGres> read_gres(const std::string& text) {
  std::vector<HeldGres> out;
  std::string entry;
  int depth = 0;
  for (const char c : text + ",") {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) {
      entry += c;
      continue;
    }
    if (entry.empty()) continue;
    const std::size_t open = entry.find('(');
    const std::vector<std::string> words = split(entry.substr(0, open), ':');
    HeldGres gres{words.front(), parse_int(words.back()).value_or(0), {}};
    const std::size_t idx = entry.find("IDX:");
    if (idx != std::string::npos)
      gres.devices = read_indices(entry.substr(idx + 4, entry.find(')') - idx - 4));
    out.push_back(std::move(gres));
    entry.clear();
  }
  return out;
}

}  // namespace

class PlaceDesk::Desk {
 public:
  Desk(const ClusterSpec& cluster, const Accounting& accounting)
      : cluster_(cluster),
        accounting_(accounting),
        view_(cluster_, accounting_),
        use_(view_.hardware->idle),
        everywhere_((use_.size() + 63) / 64, ~std::uint64_t{0}) {}

  void occupy(const std::vector<HeldJob>& jobs) {
    use_ = view_.hardware->idle;
    for (const HeldJob& job : jobs) {
      const JobDescription description = run_sbatch(job.options, view_.client).job;
      const StaticPartition& part = partition_of(description);
      const auto p = static_cast<std::size_t>(&part - view_.partitions.data());
      for (const HeldNodes& held : job.nodes) {
        std::string problem;
        const auto names = try_expand_hostlist(held.nodes, problem);
        if (!names) throw bad("\"" + held.nodes + "\" is no host list: " + problem, "n[1-4]");
        for (const std::string& name : *names) hold(name, held, description, part, p);
      }
    }
  }

  PlaceAnswer place(const std::vector<std::string>& options, const std::string& user,
                    std::int64_t now_s) const {
    PlaceAnswer out;
    Submission s;
    out.verdict = submit(view_, options, user, false, now_s, s);
    if (!s.has_record) return out;
    out.reason = s.reason;
    if (s.held || s.depends || s.past_deadline || s.job.begin_s > now_s) return out;
    std::vector<const StaticPartition*> order = s.partitions;
    std::stable_sort(order.begin(), order.end(),
                     [](const StaticPartition* a, const StaticPartition* b) {
                       return a->spec->priority_tier > b->spec->priority_tier;
                     });
    const JobDescription described = s.job;
    for (const StaticPartition* part : order) {
      s.job = described;
      if (const auto reason = waits_in(s, *part); !reason.empty()) {
        out.reason = reason;
        continue;
      }
      set_gpu_defaults(s, *part);
      const FitRequest fit = fit_request(view_, s, *part);
      if (!fit.fits_configuration) continue;
      const auto placement = fedsim::place({*view_.hardware, use_}, fit.request, everywhere_);
      if (!placement) continue;
      out.started = true;
      out.reason = "None";
      write(*placement, s, is_exclusive(s.job, *part), out);
      return out;
    }
    return out;
  }

 private:
  const StaticPartition& partition_of(const JobDescription& job) const {
    const StaticPartition* found = nullptr;
    if (job.has("partition")) found = view_.partition(split_list(job.partition).front());
    for (const StaticPartition& p : view_.partitions)
      if (found == nullptr && !job.has("partition") && p.spec->is_default) found = &p;
    if (found == nullptr)
      throw bad("a running job is in no partition of the cluster", "name one with -p");
    return *found;
  }

  void hold(const std::string& name, const HeldNodes& held, const JobDescription& job,
            const StaticPartition& part, std::size_t p) {
    const auto n = view_.node(name);
    if (!n) throw bad("a running job holds node " + name + ", which the cluster lacks", "check it");
    const NodeHardware& node = view_.hardware->nodes[*n];
    NodeUse& use = use_[*n];
    CoreSet cores;
    for (const int id : read_indices(held.cpu_ids)) {
      const int core = id / node.threads_per_core;
      if (core >= node.cores()) throw bad(name + " has no CPU " + std::to_string(id), "check it");
      cores.set(core);
    }
    NodeShare share;
    share.cores = cores;
    share.memory_mib = held.memory_mib;
    share.partition = static_cast<std::uint32_t>(p);
    share.exclusive = is_exclusive(job, part);
    share.sharing = sharing_of(rules_of(view_, job, part));
    for (const HeldGres& gres : read_gres(held.gres)) add_gres(node, gres, share);
    fedsim::hold(node, share, use);
  }

  static bool is_exclusive(const JobDescription& job, const StaticPartition& part) {
    return job.shared == SharedNodes::none || part.spec->oversubscribe == OverSubscribe::exclusive;
  }

  static void add_gres(const NodeHardware& node, const HeldGres& gres, NodeShare& share) {
    const GresHardware* hardware = node.find(gres.name);
    if (hardware == nullptr)
      throw bad(node.name + " has no gres " + gres.name + ", which a running job holds",
                "check it");
    GresShare held{static_cast<std::size_t>(hardware - node.gres.data()), 0, gres.count};
    for (const int d : gres.devices) {
      if (static_cast<std::size_t>(d) >= hardware->devices.size())
        throw bad(node.name + " has no " + gres.name + " " + std::to_string(d), "check the IDX");
      held.devices |= std::uint64_t{1} << d;
    }
    share.others.push_back(held);
  }

  /// The partition's reason to keep the job waiting, "" when it may be tried.
  std::string waits_in(Submission& s, const StaticPartition& part) const {
    if (!s.memory_given) set_default_memory(view_, s.job, part);
    const bool allowed =
        part.allowed_accounts.empty() || part.allowed_accounts.count(s.account) != 0;
    if (!allowed) return "AccountNotAllowed";
    return partition_limit(view_, s, part);
  }

  std::string gres_text(const NodePlacement& p, const Submission& s, bool whole) const {
    const NodeHardware& node = view_.hardware->nodes[p.node];
    std::string out;
    for (const DevicePick& pick : p.devices) {
      const GresHardware& hw = node.gres[pick.gres];
      const bool known = pick.ask < s.gres.asks.size() && !whole;
      std::vector<std::string> types;
      for (const Device& d : hw.devices)
        if (std::find(types.begin(), types.end(), d.type) == types.end()) types.push_back(d.type);
      if (known && !s.gres.asks[pick.ask].type.empty()) types = {s.gres.asks[pick.ask].type};
      if (types.empty()) types.emplace_back();
      for (const std::string& type : types) {
        std::vector<int> indices;
        for (std::size_t i = 0; i < hw.devices.size(); ++i)
          if (((pick.devices >> i) & 1U) != 0 && hw.devices[i].type == type)
            indices.push_back(static_cast<int>(i));
        std::int64_t n = static_cast<std::int64_t>(indices.size());
        if (hw.devices.empty() || (hw.parts_of_gpus && n > 0)) n = pick.count;
        out += (out.empty() ? "" : ",") + hw.name + (type.empty() ? "" : ":" + type) + ":" +
               std::to_string(n);
        out += hw.devices.empty() ? "(CNT:" + std::to_string(n) + ")"
                                  : "(IDX:" + index_ranges(indices) + ")";
      }
    }
    return out;
  }

  void write(const NodePlacements& placement, const Submission& s, bool whole,
             PlaceAnswer& out) const {
    const bool any_gres = std::any_of(placement.begin(), placement.end(),
                                      [](const NodePlacement& p) { return !p.devices.empty(); });
    std::vector<std::string> all;
    std::vector<std::string> names;
    for (const NodePlacement& p : placement) {
      const NodeHardware& node = view_.hardware->nodes[p.node];
      std::vector<int> ids;
      for (int c = 0; c < node.cores(); ++c)
        for (int t = 0; t < node.threads_per_core && p.cores.test(c); ++t)
          ids.push_back(c * node.threads_per_core + t);
      HeldNodes held{node.name, index_ranges(ids), p.memory_mib, gres_text(p, s, whole)};
      if (whole && any_gres && held.gres.empty()) held.gres = "(null)";
      all.push_back(node.name);
      const bool same = !out.held.empty() && out.held.back().cpu_ids == held.cpu_ids &&
                        out.held.back().memory_mib == held.memory_mib &&
                        out.held.back().gres == held.gres;
      if (same) {
        names.push_back(node.name);
      } else {
        names = {node.name};
        out.held.push_back(std::move(held));
      }
      out.held.back().nodes = compress_hostlist(names);
    }
    out.nodelist = compress_hostlist(all);
  }

  const ClusterSpec cluster_;
  const Accounting accounting_;
  const ControllerView view_;
  std::vector<NodeUse> use_;
  const Bitmap everywhere_;
};

PlaceDesk::PlaceDesk(const ClusterSpec& cluster, const Accounting& accounting)
    : desk_(std::make_unique<Desk>(cluster, accounting)) {}

PlaceDesk::~PlaceDesk() = default;

void PlaceDesk::occupy(const std::vector<HeldJob>& jobs) {
  desk_->occupy(jobs);
}

PlaceAnswer PlaceDesk::place(const std::vector<std::string>& options, const std::string& user,
                             std::int64_t now_s) const {
  return desk_->place(options, user, now_s);
}

}  // namespace fedsim

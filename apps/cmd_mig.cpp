// fedsim mig: the instances that a GPU can be cut into.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "fedsim/error.hpp"
#include "fedsim/mig.hpp"

namespace fedsim::apps {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string gpu = "A100-40GB";
  std::string format;
  std::vector<std::string> instances;
};

InputError bad(std::string message, std::string remedy) {
  return InputError(
      Diagnostic{Severity::error, "C143", "", 0, std::move(message), std::move(remedy)});
}

const MigGpu& gpu_of(const std::string& name) {
  if (const MigGpu* gpu = find_mig_gpu(name)) return *gpu;
  std::string known;
  for (const MigGpu& g : mig_gpus()) known += (known.empty() ? "" : ", ") + g.name;
  throw bad("\"" + name + "\" is no GPU with MIG, or not one alone", "known are " + known);
}

const MigProfile& profile_of(const MigGpu& gpu, const std::string& name) {
  if (const MigProfile* profile = gpu.find(name)) return *profile;
  std::string known;
  for (const MigProfile& p : gpu.profiles) known += (known.empty() ? "" : ", ") + p.name;
  throw bad(gpu.name + " has no profile \"" + name + "\"", "its profiles are " + known);
}

int count_of(const std::string& text, const std::string& word) {
  const bool digits =
      !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) throw bad("\"" + word + "\": can't read the count", "write 3g, 3g:2 or 2x3g");
  return std::stoi(text);
}

/// "3g", "3g.20gb:2", "2x3g", several with commas.
std::vector<std::pair<const MigProfile*, int>> demand_of(const MigGpu& gpu,
                                                         const std::vector<std::string>& words) {
  std::vector<std::pair<const MigProfile*, int>> out;
  const auto add = [&](const std::string& word) {
    const std::size_t colon = word.find(':');
    const std::size_t times = word.find('x');
    std::string name = word;
    int n = 1;
    if (colon != std::string::npos) {
      n = count_of(word.substr(colon + 1), word);
      name = word.substr(0, colon);
    } else if (times != std::string::npos) {
      n = count_of(word.substr(0, times), word);
      name = word.substr(times + 1);
    }
    const MigProfile* profile = &profile_of(gpu, name);
    for (auto& [known, count] : out) {
      if (known != profile) continue;
      count += n;
      return;
    }
    out.emplace_back(profile, n);
  };
  for (const std::string& list : words)
    for (const std::string& word : CLI::detail::split(list, ',')) add(word);
  return out;
}

Json to_json(const std::vector<MigPlacement>& instances) {
  Json out = Json::array();
  for (const MigPlacement& i : instances)
    out.push_back({{"profile", i.profile->name}, {"start", i.start}});
  return out;
}

/// "3g.20gb at 0-3, 2g.10gb at 4-5".
std::string to_text(const std::vector<MigPlacement>& instances) {
  std::string out;
  for (const MigPlacement& i : instances) {
    const int last = i.start + i.profile->memory_slices - 1;
    out += (out.empty() ? "" : ", ") + i.profile->name + " at " + std::to_string(i.start);
    if (last > i.start) out += "-" + std::to_string(last);
  }
  return out;
}

void print_profiles(const Flags& flags) {
  const MigGpu& gpu = gpu_of(flags.gpu);
  if (flags.format == "json") {
    Json out{{"gpu", gpu.name}, {"profiles", Json::array()}};
    for (const MigProfile& p : gpu.profiles) {
      out["profiles"].push_back({{"profile", p.name},
                                 {"id", p.id},
                                 {"compute_slices", p.compute_slices},
                                 {"memory_slices", p.memory_slices},
                                 {"max_instances", p.max_instances},
                                 {"starts", p.starts},
                                 {"memory_mib", p.memory_mib},
                                 {"sm_count", p.sm_count},
                                 {"copy_engines", p.copy_engines}});
    }
    std::printf("%s\n", out.dump(1).c_str());
    return;
  }
  std::printf("%s: 7 compute slices, 8 memory slices\n", gpu.name.c_str());
  std::printf("%-14s %3s %8s %7s %4s %11s %4s  %s\n", "profile", "id", "compute", "memory", "max",
              "memory MiB", "SMs", "starts");
  for (const MigProfile& p : gpu.profiles) {
    std::string starts;
    for (const int s : p.starts) starts += (starts.empty() ? "" : ",") + std::to_string(s);
    const std::string memory = p.memory_mib > 0 ? std::to_string(p.memory_mib) : "-";
    const std::string sms = p.sm_count > 0 ? std::to_string(p.sm_count) : "-";
    std::printf("%-14s %3d %6d/7 %5d/8 %4d %11s %4s  %s\n", p.name.c_str(), p.id, p.compute_slices,
                p.memory_slices, p.max_instances, memory.c_str(), sms.c_str(), starts.c_str());
  }
}

int print_fit(const Flags& flags) {
  const MigGpu& gpu = gpu_of(flags.gpu);
  std::vector<const MigProfile*> all;
  for (const auto& [profile, n] : demand_of(gpu, flags.instances)) {
    if (n > 64) throw bad("more than 64 of " + profile->name, "one GPU holds seven instances");
    all.insert(all.end(), static_cast<std::size_t>(n), profile);
  }
  const MigFit fit = mig_fit(all);
  if (flags.format == "json") {
    const Json out{{"gpu", gpu.name},
                   {"fits", fit.fits},
                   {"instances", to_json(fit.instances)},
                   {"reason", fit.reason}};
    std::printf("%s\n", out.dump(1).c_str());
  } else if (fit.fits) {
    std::printf("fits: %s\n", to_text(fit.instances).c_str());
  } else {
    std::printf("does not fit: %s\n", fit.reason.c_str());
  }
  return fit.fits ? kOk : kInfeasible;
}

void print_plan(const Flags& flags) {
  const MigGpu& gpu = gpu_of(flags.gpu);
  const MigPlan plan = mig_plan(demand_of(gpu, flags.instances));
  if (flags.format == "json") {
    Json out{{"gpu", gpu.name}, {"gpus", plan.gpus.size()}, {"at_least", plan.at_least}};
    out["layouts"] = Json::array();
    for (const auto& layout : plan.gpus) out["layouts"].push_back(to_json(layout));
    std::printf("%s\n", out.dump(1).c_str());
    return;
  }
  std::printf("%zu %s%s\n", plan.gpus.size(), gpu.name.c_str(),
              plan.at_least == plan.gpus.size()
                  ? ", and no fewer will do"
                  : (", at least " + std::to_string(plan.at_least) + " are needed").c_str());
  for (std::size_t i = 0; i < plan.gpus.size(); ++i)
    std::printf("GPU %zu: %s\n", i, to_text(plan.gpus[i]).c_str());
}

CLI::App* add(CLI::App& mig, const char* name, const char* help,
              const std::shared_ptr<Flags>& flags) {
  CLI::App* command = mig.add_subcommand(name, help);
  command->add_option("--gpu", flags->gpu, "A100-40GB, A100-80GB, H100, H200 or B200")
      ->capture_default_str();
  add_format(*command, flags->format, {"text", "json"});
  return command;
}

}  // namespace

void add_mig(CLI::App& root, Context& context) {
  CLI::App* mig = root.add_subcommand("mig", "MIG instances that a GPU can be cut into");
  mig->require_subcommand(1);
  auto profiles = std::make_shared<Flags>();
  add(*mig, "profiles", "The profiles of a GPU", profiles)->callback([profiles] {
    print_profiles(*profiles);
  });
  auto fits = std::make_shared<Flags>();
  CLI::App* command = add(*mig, "fits", "Whether one GPU can hold the instances", fits);
  command->add_option("INSTANCE", fits->instances, "3g.20gb, 3g, 3g:2 or 2x3g")->required();
  command->footer("Exit status 3 when they do not fit.");
  command->callback([fits, &context] { context.exit_code = print_fit(*fits); });
  auto plan = std::make_shared<Flags>();
  command = add(*mig, "plan", "Layouts for a demand, on as few GPUs as can be", plan);
  command->add_option("--demand", plan->instances, "3g:1,2g:1,1g:2")->required();
  command->footer(
      "Slurm does not repartition GPUs: a layout is a configuration (gres.conf, mig-parted).");
  command->callback([plan] { print_plan(*plan); });
}

}  // namespace fedsim::apps

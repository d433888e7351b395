// SubmissionDesk: sbatch's part, then slurmctld's, as one answer.
#include "fedsim/verdict.hpp"

#include <algorithm>

#include "submit/submission.hpp"

namespace fedsim {

class SubmissionDesk::Desk {
 public:
  Desk(const ClusterSpec& cluster, const Accounting& accounting)
      : cluster_(cluster), accounting_(accounting), view_(cluster_, accounting_) {}

  Verdict judge(const std::vector<std::string>& options, const std::string& user, bool held,
                std::int64_t now_s) const {
    Submission s;
    Verdict out = submit(view_, options, user, held, now_s, s);
    if (s.has_record) out.fields = scontrol_fields(view_, s);
    return out;
  }

 private:
  const ClusterSpec cluster_;
  const Accounting accounting_;
  const ControllerView view_;
};

Verdict submit(const ControllerView& view, const std::vector<std::string>& options,
               const std::string& user, bool held, std::int64_t now_s, Submission& s) {
  SbatchConfig client = view.client;
  client.now_s = now_s;
  SbatchOutcome sent = run_sbatch(options, client);
  Verdict out{sent.exit_code, std::move(sent.lines), {}};
  if (!sent.sent) return out;
  s.job = std::move(sent.job);
  s.user = user;
  s.held = held || s.job.hold;
  s.now_s = now_s;
  std::optional<Refusal> refusal = create_job(view, s);
  if (!refusal) refusal = test_job(view, s);
  s.has_record = !refusal;
  if (!refusal) return out;
  if (!refusal->detail.empty()) out.lines.push_back("sbatch: error: " + refusal->detail);
  out.lines.push_back("sbatch: error: Batch job submission failed: " + refusal->text);
  out.exit_code = 1;
  return out;
}

SubmissionDesk::SubmissionDesk(const ClusterSpec& cluster, const Accounting& accounting)
    : desk_(std::make_unique<Desk>(cluster, accounting)) {}

SubmissionDesk::~SubmissionDesk() = default;

Verdict SubmissionDesk::judge(const std::vector<std::string>& options, const std::string& user,
                              bool held, std::int64_t now_s) const {
  return desk_->judge(options, user, held, now_s);
}

const std::string& Verdict::field(const std::string& name) const {
  static const std::string kNothing;
  for (const auto& [key, value] : fields)
    if (key == name) return value;
  return kNothing;
}

}  // namespace fedsim

// The story of one job in words: what each controller did with it, and what it held in the end.
#include <algorithm>

#include "fedsim/result.hpp"
#include "result/number.hpp"

namespace fedsim {
namespace {

class Story {
 public:
  Story(const Result& result, JobId job)
      : result_(result),
        model_(*result.scenario.model),
        trace_(*result.scenario.trace),
        job_(job),
        row_(result.job_rows[job.index()]) {}

  std::string text() {
    head();
    for (std::size_t i = 0; i < result_.events.size(); ++i) event(i);
    flush();
    ledger();
    return std::move(out_);
  }

 private:
  std::string name(ClusterId c) const { return c.valid() ? model_.clusters[c.index()].name : "?"; }

  static std::string count(std::int64_t n, const std::string& what) {
    const char* ending = what.back() == 's' ? "es" : "s";
    return std::to_string(n) + " " + what + (n == 1 ? "" : ending);
  }

  std::string instant(SimTime t) const {
    std::string out;
    if (trace_.relative_times) {
      // Milliseconds are enough for people.
      append_seconds(out, (t - trace_.t0).count() / 1'000'000 * 1'000'000);
    } else {
      append_iso(out, SimTime{Duration{t.time_since_epoch().count() / 1'000'000 * 1'000'000}});
    }
    return out;
  }

  void head() {
    const JobSpec& spec = trace_.jobs[job_.index()];
    out_ += "job " + std::to_string(row_.job_id);
    const std::string_view label = trace_.strings.view(spec.label);
    if (!label.empty()) out_ += " (" + std::string(label) + ")";
    const FederatedJobId id = decode_job_id(row_.job_id);
    if (id.cluster != 0) {
      out_ += ", the " + std::to_string(id.local) + ". of origin " + name(row_.origin);
    }
    out_ += "\n";
  }

  /// Adds a line; equal lines that follow each other at one cluster become one with a count.
  void line(SimTime at, ClusterId where, const std::string& words) {
    const std::string who = where.valid() ? name(where) : "";
    if (who == who_ && words == words_) {
      ++times_;
      last_ = at;
      return;
    }
    flush();
    who_ = who;
    words_ = words;
    first_ = last_ = at;
    times_ = 1;
  }

  void flush() {
    if (times_ == 0) return;
    std::string at = instant(first_);
    at.resize(std::max<std::size_t>(at.size(), 12), ' ');
    out_ +=
        at + " " + who_ + std::string(who_.size() < 10 ? 10 - who_.size() : 0, ' ') + " " + words_;
    if (times_ > 1) out_ += " (" + std::to_string(times_) + " times until " + instant(last_) + ")";
    out_ += "\n";
    times_ = 0;
  }

  void event(std::size_t i) {
    const StoryEvent& e = result_.events[i];
    if (!e.job.valid()) return around(e);
    if (e.job != job_) return;
    submitted_ = submitted_ || e.kind == StoryKind::submit || e.kind == StoryKind::reject;
    if (e.kind == StoryKind::lock) return lock(i);
    const std::string words = words_of(e);
    if (!words.empty()) line(e.at, e.cluster, words);
    if (e.kind == StoryKind::complete || e.kind == StoryKind::timeout ||
        e.kind == StoryKind::reject)
      over_ = true;
    if (e.kind == StoryKind::requeue) over_ = false;
  }

  /// What happened to clusters while the job was about.
  void around(const StoryEvent& e) {
    if (!submitted_ || over_) return;
    if (e.kind == StoryKind::controller_down) line(e.at, e.cluster, "its controller stops");
    if (e.kind == StoryKind::controller_up) line(e.at, e.cluster, "its controller is back");
    if (e.kind == StoryKind::takeover) line(e.at, e.cluster, "its backup controller takes over");
    if (e.kind == StoryKind::link_down)
      line(e.at, e.cluster, "its link to " + name(e.other) + " goes down");
    if (e.kind == StoryKind::link_up)
      line(e.at, e.cluster, "its link to " + name(e.other) + " is back");
    if (e.kind == StoryKind::fed_state)
      line(e.at, e.cluster, "its state in the federation changes");
  }

  /// A lock that was followed by no start was given back: nothing was free.
  void lock(std::size_t i) {
    const StoryEvent& e = result_.events[i];
    bool starts = false;
    for (std::size_t k = i + 1; k < result_.events.size() && result_.events[k].at == e.at; ++k) {
      const StoryEvent& next = result_.events[k];
      starts = starts || (next.kind == StoryKind::start && next.job == job_);
    }
    const std::string got = e.other == e.cluster ? "takes the start lock, its own"
                                                 : "gets the start lock from " + name(e.other);
    line(e.at, e.cluster, starts ? got : got + ", has no room and gives it back");
  }

  std::string words_of(const StoryEvent& e) const {
    const std::string other = name(e.other);
    switch (e.kind) {
      case StoryKind::submit:
        return "takes the submission";
      case StoryKind::sibling_submit:
        return "sends a copy to " + other;
      case StoryKind::reject:
        return "refuses it: " + std::string(reason_text(row_.reason));
      case StoryKind::lock_denied:
        return "asks " + other + " for the start lock and does not get it (FedJobLock)";
      case StoryKind::double_start_averted:
        return "would start it a second time, cut off from where it runs (real Slurm might)";
      case StoryKind::start:
        return "starts it";
      case StoryKind::revoke:
        return "revokes its record";
      case StoryKind::complete:
        return "it ends";
      case StoryKind::timeout:
        return "it reaches its time limit and is killed";
      case StoryKind::cancel:
        return "cancels it";
      case StoryKind::requeue:
        return "queues it again";
      case StoryKind::hold:
        return "holds it";
      case StoryKind::release:
        return "releases it";
      case StoryKind::update:
        return "changes where it may run";
      case StoryKind::message_retry:
        return "cannot reach " + other + ": tries again later";
      case StoryKind::message_lost:
        return "has no connection to " + other + ": it is not told";
      default:
        return "";
    }
  }

  /// Five populations, kept apart: one id, its records, its allocations, their GPUs, its processes.
  void ledger() {
    std::string records;
    std::string held;
    for (std::uint32_t r = 0; r < result_.record_rows.size(); ++r) {
      const RecordRow& row = result_.record_rows[r];
      if (row.job != job_) continue;
      records += "\n  " + name(row.cluster) + ": " + std::string(to_string(row.state));
      const std::string_view why = reason_text(row.reason);
      if (row.state == RecordState::pending && why != "None") records += ", " + std::string(why);
      if (row.allocation == UINT32_MAX) continue;
      const AllocationRow& a = result_.allocation_rows[row.allocation];
      held += "\n  " + name(a.cluster) + ": " + count(a.nodes_n, "node") + ", " +
              count(a.cpus, "CPU") + ", " + count(a.gpus, "GPU") + ", " +
              count(a.tasks, "process") + " in one group, from " + instant(a.start) + " to " +
              (a.end == kNoTime ? "the end of the run" : instant(a.end));
    }
    out_ += "records:" + (records.empty() ? " none" : records) + "\n";
    out_ += "allocations:" + (held.empty() ? " none" : held) + "\n";
  }

  const Result& result_;
  const FederationModel& model_;
  const Trace& trace_;
  JobId job_;
  const JobRow& row_;
  std::string out_;
  bool submitted_ = false;
  bool over_ = false;
  std::string who_, words_;  ///< the line not yet written
  SimTime first_{}, last_{};
  std::size_t times_ = 0;
};

}  // namespace

std::string job_story(const Result& result, JobId job) {
  return Story(result, job).text();
}

std::vector<JobId> find_jobs(const Result& result, const std::string& text) {
  const Trace& trace = *result.scenario.trace;
  std::vector<JobId> by_label, by_id, by_trace_id;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const JobSpec& spec = trace.jobs[j];
    if (trace.strings.view(spec.label) == text || trace.strings.view(spec.name) == text)
      by_label.push_back(JobId{j});
    if (std::to_string(result.job_rows[j].job_id) == text) by_id.push_back(JobId{j});
    if (std::to_string(spec.trace_id) == text) by_trace_id.push_back(JobId{j});
  }
  if (!by_label.empty()) return by_label;
  return by_id.empty() ? by_trace_id : by_id;
}

}  // namespace fedsim

// Checks of a case: see case_check.hpp.
#include "cases/case_check.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "state/state.hpp"

namespace fedsim::cases {
namespace {

std::string seconds(SimTime t) {
  if (t == kNoTime) return "-";
  std::string text = std::to_string(to_seconds(t - kCaseStart));
  text.resize(text.size() - 3);  // milliseconds
  return text + "s";
}

/// A run of the case that stops where its lines look.
class Checker {
 public:
  explicit Checker(const Case& c)
      : case_(c),
        model_(*c.scenario.model),
        trace_(*c.scenario.trace),
        simulation_(c.scenario),
        s_(simulation_.state()) {}

  std::vector<std::string> run() {
    std::vector<const Expectation*> looks;
    for (const Expectation& e : case_.expectations) {
      if (e.instant != kNoTime) looks.push_back(&e);
    }
    std::stable_sort(looks.begin(), looks.end(), [](const Expectation* a, const Expectation* b) {
      return a->instant < b->instant;
    });
    for (const Expectation* e : looks) {
      advance(e->instant);
      look(*e);
    }
    advance(kEndOfTime);
    starts();
    used_.assign(s_.story.size(), false);
    for (const Expectation& e : case_.expectations) {
      if (e.instant == kNoTime) at_the_end(e);
    }
    return std::move(failures_);
  }

  std::string story() {
    advance(kEndOfTime);
    std::string out;
    for (const StoryEvent& e : s_.story) out += "  " + line_of(e) + "\n";
    return out;
  }

 private:
  /// Everything up to and including `until`, audited after each event.
  void advance(SimTime until) {
    until = std::min(until, case_.scenario.options.horizon);
    // step() has no bound: a copy looks whether the next event is still due.
    for (;;) {
      Simulation ahead = simulation_;
      if (!ahead.step() || ahead.now() > until) return;
      (void)simulation_.step();
    }
  }

  void fail(const Expectation& e, const std::string& found) {
    failures_.push_back("line " + std::to_string(e.line) + ": expected \"" + e.text +
                        "\"; found: " + found);
  }

  std::string label(JobId job) const {
    return job.valid() ? std::string(trace_.strings.view(trace_.jobs[job.index()].label)) : "";
  }
  std::string name(ClusterId c) const { return c.valid() ? model_.clusters[c.index()].name : ""; }

  std::string names(ClusterSet set) const {
    std::string out;
    set.for_each([&](ClusterId c) { out += (out.empty() ? "" : ",") + name(c); });
    return out.empty() ? "-" : out;
  }

  JobId job_of(const Expectation& e) const {
    for (std::size_t j = 0; j < trace_.jobs.size(); ++j) {
      if (label(JobId{j}) == e.job) return JobId{j};
    }
    return {};
  }

  std::string line_of(const StoryEvent& e) const {
    return seconds(e.at) + " " + to_lower(to_string(e.kind)) + " " + label(e.job) +
           " cluster=" + name(e.cluster) + (e.other.valid() ? " other=" + name(e.other) : "");
  }

  bool matches(const Expectation& e, const StoryEvent& event) const {
    return event.kind == e.event && label(event.job) == e.job &&
           (e.cluster.empty() || name(event.cluster) == e.cluster) && event.at >= e.when.from &&
           event.at <= e.when.to;
  }

  /// Starts are asserted whole: their order, and that there are no others.
  void starts() {
    std::vector<const StoryEvent*> seen;
    for (const StoryEvent& e : s_.story) {
      if (e.kind == StoryKind::start) seen.push_back(&e);
    }
    std::size_t k = 0;
    for (const Expectation& e : case_.expectations) {
      if (e.kind != Expectation::Kind::event || e.event != StoryKind::start) continue;
      const bool there = k < seen.size();
      if (!there || !matches(e, *seen[k])) fail(e, there ? line_of(*seen[k]) : "no more starts");
      ++k;
    }
    for (; k < seen.size(); ++k) failures_.push_back("a start too many: " + line_of(*seen[k]));
  }

  void at_the_end(const Expectation& e) {
    switch (e.kind) {
      case Expectation::Kind::event:
        if (e.event != StoryKind::start) happened(e);
        return;
      case Expectation::Kind::no_event:
        for (const StoryEvent& event : s_.story) {
          if (matches(e, event)) return fail(e, line_of(event));
        }
        return;
      default:
        look(e);
    }
  }

  /// Each line takes the first event that fits and that no line before it has taken.
  void happened(const Expectation& e) {
    std::string others;
    for (std::size_t i = 0; i < s_.story.size(); ++i) {
      if (!used_[i] && matches(e, s_.story[i])) {
        used_[i] = true;
        return;
      }
      if (s_.story[i].kind == e.event && label(s_.story[i].job) == e.job)
        others += (others.empty() ? "" : "; ") + line_of(s_.story[i]);
    }
    fail(e, others.empty() ? "no such event" : others);
  }

  void look(const Expectation& e) {
    const JobId job = job_of(e);
    const JobRow& row = s_.job_rows[job.index()];
    if (e.kind == Expectation::Kind::jobid) {
      if (row.job_id != e.id) fail(e, std::to_string(row.job_id));
    } else if (e.kind == Expectation::Kind::reject) {
      const std::string text(reason_text(row.reason));
      if (row.state != RecordState::rejected || text != e.reason)
        fail(e, std::string(to_string(row.state)) + " " + text);
    } else if (e.cluster.empty()) {
      compare(e, fields_of_job(row));
    } else {
      const std::uint32_t r = record_on(s_, job, model_.find_cluster(e.cluster));
      if (e.kind == Expectation::Kind::no_record) {
        if (r != kNoIndex) fail(e, "a record " + std::string(to_string(s_.record_rows[r].state)));
      } else if (r == kNoIndex) {
        fail(e, "no record");
      } else {
        compare(e, fields_of_record(r));
      }
    }
  }

  using Fields = std::map<std::string, std::string>;

  Fields fields_of_job(const JobRow& row) const {
    return {{"state", std::string(to_string(row.state))},
            {"ran", row.ran.valid() ? name(row.ran) : "-"}};
  }

  Fields fields_of_record(std::uint32_t r) const {
    const RecordRow& row = s_.record_rows[r];
    const RecordLive& live = s_.records[r];
    std::string reason(reason_text(row.reason));
    std::replace(reason.begin(), reason.end(), ' ', '_');
    std::string history;  // states of all its records of the job, oldest first
    for (const RecordRow& other : s_.record_rows) {
      if (other.job == row.job && other.cluster == row.cluster)
        history += (history.empty() ? "" : ",") + std::string(to_string(other.state));
    }
    return {{"state", std::string(to_string(row.state))},
            {"reason", reason},
            {"active", names(live.active)},
            {"viable", names(live.viable)},
            {"lock", live.lock == kNobody ? "-" : name(ClusterId{int{live.lock}})},
            {"tracking", live.tracking ? "yes" : "no"},
            {"forgotten", live.linked ? "no" : "yes"},
            {"submit", seconds(row.submit)},
            {"eligible", seconds(row.eligible)},
            {"start", seconds(row.start)},
            {"end", seconds(row.end)},
            {"history", history}};
  }

  void compare(const Expectation& e, const Fields& found) {
    for (const auto& [key, value] : e.fields) {
      const auto is = found.find(key);
      if (is == found.end()) {
        fail(e, key + " is a field of records only: write cluster=");
      } else if (const auto t = value == "-" ? std::nullopt : parse_seconds(value);
                 t && is->second.ends_with("s") ? parse_seconds(is->second) != t
                                                : is->second != value) {
        fail(e, key + "=" + is->second);
      }
    }
  }

  const Case& case_;
  const FederationModel& model_;
  const Trace& trace_;
  Simulation simulation_;
  const SimState& s_;
  std::vector<bool> used_;
  std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> check_case(const Case& c) {
  return Checker(c).run();
}

std::string story_of(const Case& c) {
  return Checker(c).story();
}

}  // namespace fedsim::cases

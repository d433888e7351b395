// Lines of a `.case` text after "---", and the words that both halves are made of: see
// case_words.hpp.
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "cases/case_words.hpp"

namespace fedsim::cases {
Words words_of(std::string_view line) {
  Words out;
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty() && word.front() == '#') break;  // a comment from here on
    if (!trim(word).empty()) out.emplace_back(trim(word));
  }
  return out;
}

Pair pair_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return {word, ""};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

int number_of(const Pair& p) {
  const auto n = parse_int(p.value);
  if (!n || *n < 0 || *n > 100'000'000) throw Wrong{p.key + " needs a number"};
  return static_cast<int>(*n);
}

Duration seconds_of(const std::string& text) {
  const auto d = parse_seconds(text);
  if (!d) throw Wrong{"'" + text + "' is no time (90, 90s, 10m, 2h)"};
  return *d;
}

SimTime instant_of(const std::string& text) {
  return kCaseStart + seconds_of(text);
}

namespace {

std::optional<StoryKind> story_kind(const std::string& word) {
  for (int k = 0; k <= static_cast<int>(StoryKind::double_start_averted); ++k) {
    if (word == to_lower(to_string(static_cast<StoryKind>(k)))) return static_cast<StoryKind>(k);
  }
  return std::nullopt;
}

void detail(Expectation& e, const std::string& word) {
  static const std::set<std::string> kFields = {"reason", "active",   "viable", "lock", "ran",
                                                "submit", "eligible", "start",  "end",  "history"};
  const Pair p = pair_of(word);
  const bool state = e.kind == Expectation::Kind::state;
  const bool event = e.kind == Expectation::Kind::event || e.kind == Expectation::Kind::no_event;
  if (p.key == "cluster") {
    e.cluster = p.value;
  } else if (event && p.key == "after") {
    e.when.from = instant_of(p.value);
  } else if (event && p.key == "before") {
    e.when.to = instant_of(p.value);
  } else if (event && p.key == "at") {  // the second that Slurm's clock shows
    e.when.from = instant_of(p.value);
    e.when.to = e.when.from + kSecond - Duration{1};
  } else if (state && (word == "tracking" || word == "forgotten")) {
    e.fields[word] = "yes";
  } else if (state && kFields.contains(p.key) && !p.value.empty()) {
    e.fields[p.key] = p.value;
  } else if (state && word == to_upper(word) && p.value.empty()) {
    e.fields["state"] = word;
  } else {
    throw Wrong{"unknown word '" + word + "'"};
  }
}

void details(Expectation& e, const Words& words, std::size_t i) {
  const bool of_cluster = e.event == StoryKind::fed_state || e.event == StoryKind::controller_up ||
                          e.event == StoryKind::controller_down;
  if (!of_cluster) {
    if (i >= words.size()) throw Wrong{"of which job?"};
    e.job = words[i++];
  }
  if (e.kind == Expectation::Kind::reject) {
    e.reason = join({words.begin() + static_cast<std::ptrdiff_t>(i), words.end()}, " ");
    if (e.reason.empty()) throw Wrong{"a refusal needs Slurm's text"};
    return;
  }
  if (e.kind == Expectation::Kind::jobid) {
    const auto id = i + 1 == words.size() ? parse_int(words[i]) : std::nullopt;
    if (!id || *id < 1 || *id > UINT32_MAX) throw Wrong{"write: jobid JOB NUMBER"};
    e.id = static_cast<std::uint32_t>(*id);
    return;
  }
  for (; i < words.size(); ++i) detail(e, words[i]);
  const bool needs = e.kind == Expectation::Kind::no_record && e.cluster.empty();
  if (needs) throw Wrong{"no record on which cluster?"};
  if (e.kind == Expectation::Kind::state && e.fields.empty()) throw Wrong{"state without a state"};
}

}  // namespace

Expectation read_expectation(const Words& words, const std::string& line) {
  Expectation e;
  e.text = trim(line.substr(0, line.find(" #")));
  std::size_t i = 0;
  if (is_digit(words[0].front()) || words[0].front() == '-') e.instant = instant_of(words[i++]);
  const bool negated = i < words.size() && words[i] == "no";
  if (negated) ++i;
  if (i >= words.size()) throw Wrong{"nothing is expected here"};
  const std::string what = words[i++];
  if (what == "state" && !negated) {
    e.kind = Expectation::Kind::state;
  } else if (what == "jobid" && !negated) {
    e.kind = Expectation::Kind::jobid;
  } else if (what == "reject" && !negated) {
    e.kind = Expectation::Kind::reject;
  } else if (what == "record" && negated) {
    e.kind = Expectation::Kind::no_record;
  } else if (const auto kind = story_kind(what)) {
    e.kind = negated ? Expectation::Kind::no_event : Expectation::Kind::event;
    e.event = *kind;
  } else {
    throw Wrong{"unknown expectation '" + what + "'"};
  }
  const bool looks = e.kind == Expectation::Kind::state || e.kind == Expectation::Kind::no_record;
  if (e.instant != kNoTime && !looks) throw Wrong{"write at=, after= or before= for an event"};
  details(e, words, i);
  return e;
}

std::optional<Duration> parse_seconds(std::string_view text) {
  double unit = 1;
  if (!text.empty() && !is_digit(text.back())) {
    const char c = text.back();
    unit = c == 'h' ? 3600 : c == 'm' ? 60 : c == 's' ? 1 : 0;
    text.remove_suffix(1);
  }
  const auto number = parse_double(text);
  if (!number || unit == 0 || std::abs(*number) > 1e7) return std::nullopt;
  return seconds_to_duration(*number * unit);
}

}  // namespace fedsim::cases

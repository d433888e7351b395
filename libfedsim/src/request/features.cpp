// Expressions of node features: see features.hpp.
#include "request/features.hpp"

#include <algorithm>
#include <charconv>

namespace fedsim {
namespace {

class FeatureReader {
 public:
  explicit FeatureReader(std::string text) : text_(std::move(text)) {
    std::replace(text_.begin(), text_.end(), ',', '&');
  }

  std::optional<std::vector<FeatureTerm>> read() {
    while (at_ < text_.size()) {
      if (!step(text_[at_])) return std::nullopt;
    }
    if (!name_.empty()) push(FeatureTie::end);
    if (brackets_ || parentheses_ || bracket_pairs_ > 1) return std::nullopt;
    return std::move(terms_);
  }

 private:
  bool step(char c) {
    switch (c) {
      case '*':
        return count();
      case '&':
        return tie(brackets_ && !parentheses_ ? FeatureTie::counted_set : FeatureTie::all);
      case '|':
        return tie(brackets_ && !parentheses_ ? FeatureTie::one_set : FeatureTie::any);
      case '[':
        ++bracket_pairs_;
        return open(brackets_);
      case '(':
        return open(parentheses_);
      case ']':
        return close(brackets_);
      case ')':
        return close(parentheses_);
      default:
        if (!ended_) name_ += c;  // what stands between a bracket and an operator is skipped
        ++at_;
        return true;
    }
  }

  bool count() {
    const char* begin = text_.data() + at_ + 1;
    const auto read = std::from_chars(begin, text_.data() + text_.size(), count_);
    if (name_.empty() || read.ec != std::errc{} || count_ <= 0 || parentheses_) return false;
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    ended_ = true;
    return true;
  }

  bool tie(FeatureTie tie) {
    if (name_.empty()) return false;
    push(tie);
    ++at_;
    return true;
  }

  bool open(bool& level) {
    if (!name_.empty() || level) return false;
    level = true;
    ++at_;
    return true;
  }

  bool close(bool& level) {
    if (name_.empty() || !level) return false;
    level = false;
    ended_ = true;
    ++at_;
    return true;
  }

  void push(FeatureTie tie) {
    terms_.push_back({std::move(name_), count_, parentheses_, tie});
    name_.clear();
    count_ = 0;
    ended_ = false;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::string name_;
  std::int64_t count_ = 0;
  bool ended_ = false;
  bool brackets_ = false;
  bool parentheses_ = false;
  int bracket_pairs_ = 0;
  std::vector<FeatureTerm> terms_;
};

}  // namespace

std::optional<std::vector<FeatureTerm>> parse_features(std::string text) {
  return FeatureReader(std::move(text)).read();
}

bool is_consistent(const std::vector<FeatureTerm>& terms) {
  bool in_set = false;
  bool counted = false;
  bool alike = false;
  for (const FeatureTerm& t : terms) {
    if (t.tie == FeatureTie::counted_set && t.count == 0) return false;
    if (t.tie == FeatureTie::one_set && t.count > 0) return false;
    const bool inside = t.tie == FeatureTie::counted_set || t.tie == FeatureTie::one_set;
    if (in_set && !inside) {
      if ((counted && t.count == 0) || (alike && t.count > 0)) return false;
      in_set = counted = alike = false;
    }
    if (!inside) continue;
    in_set = true;
    (t.tie == FeatureTie::counted_set ? counted : alike) = true;
  }
  return true;
}

}  // namespace fedsim

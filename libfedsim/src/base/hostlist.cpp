// Host lists and node order: see base/hostlist.hpp. Grammar: slurm.conf(5), "NodeName".
#include "base/hostlist.hpp"

#include <cstdint>

#include "base/text.hpp"

namespace fedsim {

namespace {

using Names = std::vector<std::string>;

/// The text of number `value` with at least `width` digits.
std::string padded(std::int64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// Expands one element of a bracket: "7", "08-11".
bool expand_range(std::string_view text, Names& out, std::string& problem) {
  const std::string shown(text);
  const std::size_t dash = text.find('-');
  const std::string_view low_text = text.substr(0, dash);
  const auto low = parse_int(low_text);
  if (!low || *low < 0 || !is_digit(low_text.front())) {
    problem = text.empty() ? "empty range in brackets" : "\"" + shown + "\" is no number or range";
    return false;
  }
  if (dash == std::string_view::npos) {
    out.emplace_back(text);
    return true;
  }
  const std::string_view high_text = text.substr(dash + 1);
  const auto high = parse_int(high_text);
  if (!high || !is_digit(high_text.front())) {
    problem = "\"" + shown + "\" is no number or range";
    return false;
  }
  if (*high < *low) {
    problem = "range " + shown + " is reversed";
    return false;
  }
  if (*high - *low >= static_cast<std::int64_t>(kMaxHostlistNames)) {
    problem = "range " + shown + " is too long";
    return false;
  }
  for (std::int64_t i = *low; i <= *high; ++i) out.push_back(padded(i, low_text.size()));
  return true;
}

/// All numbers of one bracket group, without the brackets.
bool expand_bracket(std::string_view text, Names& out, std::string& problem) {
  for (const std::string& part : split(text, ',')) {
    if (!expand_range(trim(part), out, problem)) return false;
    if (out.size() > kMaxHostlistNames) {
      problem = "too many names";
      return false;
    }
  }
  return true;
}

/// One element of the list: literal text and bracket groups, the rightmost running fastest.
bool expand_element(std::string_view text, Names& out, std::string& problem) {
  Names names{""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    if (text.substr(0, open).find(']') != std::string_view::npos) {
      problem = "\"]\" without \"[\"";
      return false;
    }
    for (std::string& name : names) name += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) {
      problem = "\"[\" without \"]\"";
      return false;
    }
    Names numbers;
    if (!expand_bracket(text.substr(open + 1, close - open - 1), numbers, problem)) return false;
    if (names.size() * numbers.size() > kMaxHostlistNames) {
      problem = "too many names";
      return false;
    }
    Names product;
    product.reserve(names.size() * numbers.size());
    for (const std::string& name : names) {
      for (const std::string& number : numbers) product.push_back(name + number);
    }
    names = std::move(product);
    text.remove_prefix(close + 1);
  }
  out.insert(out.end(), names.begin(), names.end());
  return true;
}

/// A name taken apart for compression; `digits` is empty when it has no usable trailing number.
struct SplitName {
  std::string_view prefix;
  std::string_view digits;
  std::int64_t value = 0;
};

SplitName split_name(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  const std::string_view digits = name.substr(begin);
  if (digits.empty() || digits.size() > 18) return {name, {}, 0};
  return {name.substr(0, begin), digits, *parse_int(digits)};
}

/// True when `next` continues a range that began with `first` and ended with `last`.
bool continues(const SplitName& first, const SplitName& last, const SplitName& next) {
  return next.value == last.value + 1 && next.digits == padded(next.value, first.digits.size());
}

/// The ranges of names[begin, end), all of one prefix: "1-3,7".
std::string ranges_of(const std::vector<SplitName>& names, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end;) {
    std::size_t j = i + 1;
    while (j < end && continues(names[i], names[j - 1], names[j])) ++j;
    if (!out.empty()) out += ',';
    out += names[i].digits;
    if (j - i > 1) {
      out += '-';
      out += names[j - 1].digits;
    }
    i = j;
  }
  return out;
}

/// Compares two digit runs at the front; a longer run is larger unless one begins with zero.
int compare_numbers(std::string_view a, std::string_view b, bool fraction) {
  int first_difference = 0;
  for (std::size_t i = 0;; ++i) {
    const bool digit_a = i < a.size() && is_digit(a[i]);
    const bool digit_b = i < b.size() && is_digit(b[i]);
    if (!digit_a && !digit_b) return first_difference;
    if (!digit_a) return -1;
    if (!digit_b) return 1;
    if (first_difference == 0 && a[i] != b[i]) first_difference = a[i] < b[i] ? -1 : 1;
    if (fraction && first_difference != 0) return first_difference;
  }
}

}  // namespace

std::optional<std::vector<std::string>> try_expand_hostlist(std::string_view text,
                                                            std::string& problem) {
  Names names;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth > 1) problem = "\"[\" inside brackets";
    if (depth < 0) problem = "\"]\" without \"[\"";
    if (i == text.size() && depth > 0) problem = "\"[\" without \"]\"";
    if (!problem.empty()) return std::nullopt;
    const bool separator = depth == 0 && (c == ',' || is_space(c));
    if (!separator && i < text.size()) continue;
    const std::string_view element = trim(text.substr(begin, i - begin));
    begin = i + 1;
    if (element.empty()) continue;
    if (!expand_element(element, names, problem)) return std::nullopt;
    if (names.size() > kMaxHostlistNames) {
      problem = "too many names";
      return std::nullopt;
    }
  }
  return names;
}

std::vector<std::string> expand_hostlist(const std::string& text) {
  std::string problem;
  auto names = try_expand_hostlist(text, problem);
  if (!names) {
    throw InputError({Severity::error, "C020", "", 0, "host list \"" + text + "\": " + problem,
                      "write ranges as n[1-3,7], low number first"});
  }
  return *std::move(names);
}

std::string compress_hostlist(const std::vector<std::string>& names) {
  std::vector<SplitName> parts;
  parts.reserve(names.size());
  for (const std::string& name : names) parts.push_back(split_name(name));
  std::string out;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t j = i + 1;
    if (!parts[i].digits.empty()) {
      while (j < parts.size() && !parts[j].digits.empty() && parts[j].prefix == parts[i].prefix) {
        ++j;
      }
    }
    if (!out.empty()) out += ',';
    if (j - i == 1) {
      out += names[i];
    } else {
      out += parts[i].prefix;
      out += "[" + ranges_of(parts, i, j) + "]";
    }
    i = j;
  }
  return out;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const bool fraction = a[i] == '0' || b[j] == '0';
      const int order = compare_numbers(a.substr(i), b.substr(j), fraction);
      if (order != 0) return order < 0;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace fedsim

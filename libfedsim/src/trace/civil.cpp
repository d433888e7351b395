// Civil time: see civil.hpp. TZif is RFC 8536; versions 2 and up hold 64-bit data behind the first
// block. Left out: the footer's rule for times after the last transition (zone files reach 2037).
#include "trace/civil.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "fedsim/error.hpp"
#include "trace/input.hpp"

namespace fedsim {
namespace {

// Reads exactly `digits` digits at `at`; -1 when they are not there.
int fixed_number(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// "", "Z", "+01:00", "+0100", "+01".
std::optional<int> parse_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int hours = fixed_number(text, 1, 2);
  std::string_view rest = text.substr(3);
  if (!rest.empty() && rest[0] == ':') rest.remove_prefix(1);
  const int minutes = rest.empty() ? 0 : fixed_number(rest, 0, 2);
  if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59 || rest.size() > 2) {
    return std::nullopt;
  }
  const int seconds = hours * 3600 + minutes * 60;
  return text[0] == '-' ? -seconds : seconds;
}

std::int64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  if (size == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  return static_cast<std::int64_t>(value);
}

struct TzifBlock {
  std::size_t start = 0;  // of the data
  std::size_t times = 0, types = 0, size = 0;
};

std::optional<TzifBlock> tzif_block(std::string_view file, std::size_t at, std::size_t width) {
  if (at + 44 > file.size() || file.substr(at, 4) != "TZif") return std::nullopt;
  const auto field = [&](std::size_t i) {
    return static_cast<std::size_t>(big_endian(file, at + 20 + 4 * i, 4));
  };
  TzifBlock b{at + 44, field(3), field(4), 0};
  b.size = b.times * (width + 1) + b.types * 6 + field(5) + field(2) * (width + 4) + field(1) +
           field(0);
  if (b.start + b.size > file.size() || b.types == 0) return std::nullopt;
  return b;
}

}  // namespace

std::int64_t civil_seconds(const CivilTime& t) {
  // Days from 1970-01-01, with years that begin in March (Hinnant's arithmetic).
  const std::int64_t year = t.month <= 2 ? t.year - 1 : t.year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (t.month + (t.month > 2 ? -3 : 9)) + 2) / 5 + t.day - 1;
  const std::int64_t day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
  const std::int64_t days = era * 146097 + day_of_era - 719468;
  return days * 86400 + t.hour * 3600 + t.minute * 60 + t.second;
}

std::string format_civil(std::int64_t seconds) {
  std::int64_t days = seconds / 86400;
  std::int64_t rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t doe = days - era * 146097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const auto day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  const auto month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  const auto year = static_cast<int>(yoe + era * 400 + (month <= 2 ? 1 : 0));
  const auto clock = static_cast<int>(rest);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, clock / 3600,
                clock / 60 % 60, clock % 60);
  return text;
}

std::optional<WrittenTime> parse_written_time(std::string_view text) {
  if (text.size() >= 9 && text.size() <= 11 && std::all_of(text.begin(), text.end(), is_digit)) {
    const std::int64_t seconds = *parse_int(text);
    if (seconds >= kLastInstant) return std::nullopt;
    return WrittenTime{seconds, 0};
  }
  CivilTime t;
  const bool shape = text.size() >= 19 && text[4] == '-' && text[7] == '-' &&
                     (text[10] == 'T' || text[10] == ' ') && text[13] == ':' && text[16] == ':';
  if (!shape) return std::nullopt;
  t.year = fixed_number(text, 0, 4);
  t.month = fixed_number(text, 5, 2);
  t.day = fixed_number(text, 8, 2);
  t.hour = fixed_number(text, 11, 2);
  t.minute = fixed_number(text, 14, 2);
  t.second = fixed_number(text, 17, 2);
  const bool valid = t.year >= 1902 && t.year < 2200 && t.month >= 1 && t.month <= 12 &&
                     t.day >= 1 && t.day <= 31 && t.hour >= 0 && t.hour <= 23 &&
                     t.minute >= 0 && t.minute <= 59 &&
                     t.second >= 0 && t.second <= 60;
  if (!valid) return std::nullopt;
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.')) {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
  }
  WrittenTime written{civil_seconds(t), std::nullopt};
  if (rest.empty()) return written;
  written.offset_s = parse_offset(rest);
  if (!written.offset_s) return std::nullopt;
  return written;
}

Zone Zone::parse(const std::string& name) {
  Zone zone;
  const auto fixed = iequals(name, "UTC") ? std::optional<int>(0) : parse_offset(name);
  if (fixed) {
    zone.offsets_ = {*fixed};
    return zone;
  }
  const auto refuse = [&](const std::string& why) {
    return InputError({Severity::error, "C054", "", 0, "time zone \"" + name + "\": " + why,
                       "give an offset such as +01:00, UTC, or an IANA name such as Europe/Oslo"});
  };
  if (name.empty() || name[0] == '/' || name.find("..") != std::string::npos) {
    throw refuse("not a zone name");
  }
  std::string bytes;
  try {
    bytes = read_input("/usr/share/zoneinfo/" + name).text;
  } catch (const FileError&) {
    throw refuse("not in this system's zone database");
  }
  const auto first = tzif_block(bytes, 0, 4);
  if (!first) throw refuse("damaged zone file");
  std::size_t width = 4;
  TzifBlock block = *first;
  if (bytes[4] >= '2') {
    width = 8;
    const auto second = tzif_block(bytes, first->start + first->size, width);
    if (!second) throw refuse("damaged zone file");
    block = *second;
  }
  const std::size_t types = block.start + block.times * (width + 1);
  const auto offset_of = [&](std::size_t type) {
    return static_cast<int>(big_endian(bytes, types + type * 6, 4));
  };
  zone.offsets_.push_back(offset_of(0));
  for (std::size_t i = 0; i < block.times; ++i) {
    zone.transitions_.push_back(big_endian(bytes, block.start + i * width, width));
    const auto type = static_cast<unsigned char>(bytes[block.start + block.times * width + i]);
    if (type >= block.types) throw refuse("damaged zone file");
    zone.offsets_.push_back(offset_of(type));
  }
  return zone;
}

int Zone::offset_at(std::int64_t instant) const {
  const auto after = std::upper_bound(transitions_.begin(), transitions_.end(), instant);
  return offsets_[static_cast<std::size_t>(after - transitions_.begin())];
}

std::vector<std::int64_t> Zone::instants(std::int64_t local) const {
  // Offsets in force a day before and after cover every change of the clock near `local`.
  const int before = offset_at(local - 86400);
  const int after = offset_at(local + 86400);
  std::vector<std::int64_t> found;
  for (const int offset : {before, after}) {
    const std::int64_t instant = local - offset;
    if (offset_at(instant) == offset && (found.empty() || found.back() != instant)) {
      found.push_back(instant);
    }
  }
  if (found.empty()) found.push_back(local - before);  // the skipped hour
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace fedsim

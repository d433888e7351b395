// What both backends need to know about text.
#include "result/drawing.hpp"

namespace fedsim {
namespace {

// Bytes of the UTF-8 sequence at the start of `text`, 0 when it is none. Overlong forms and
// surrogates are refused, as XML readers do.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t n = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (n == 0 || n > text.size()) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) >= 0xA0) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;
  return n;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    const auto lead = static_cast<unsigned char>(text.front());
    if (n == 0 || (n == 1 && (lead < 0x20 || lead == 0x7F))) {
      out += '?';
      text.remove_prefix(1);
    } else {
      out += text.substr(0, n);
      text.remove_prefix(n);
    }
  }
  return out;
}

double text_width(std::string_view text, double size) {
  double ems = 0;
  for (const char ch : text) {
    const auto c = static_cast<unsigned char>(ch);
    if ((c & 0xC0U) == 0x80) continue;  // continuation byte: counted with its lead
    const bool narrow = ch == ' ' || ch == '.' || ch == ',' || ch == ':' || ch == 'i' || ch == 'l';
    ems += narrow ? 0.32 : (ch >= 'A' && ch <= 'Z') ? 0.70 : 0.60;
  }
  return ems * size;
}

}  // namespace fedsim

// A picture as a list of boxes, lines and texts, written by two backends: SVG text and PNG bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fedsim {

using Colour = std::uint32_t;  ///< 0xRRGGBB

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Colour fill = 0;
  bool hatched = false;  ///< diagonal lines of `fill` on white, with an outline
  std::string title;     ///< shown on hovering (SVG only)
};

struct Rule {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  Colour colour = 0;
  double width = 1;
};

enum class Anchor { start, middle, end };

/// `y` is the baseline.
struct Label {
  double x = 0, y = 0, size = 12;
  Colour colour = 0;
  Anchor anchor = Anchor::start;
  bool bold = false;
  std::string text;
};

/// Later items cover earlier ones.
struct Drawing {
  double width = 0, height = 0;
  std::string title;
  std::vector<std::variant<Box, Rule, Label>> items;
};

/// Distance of hatching lines, in both backends.
inline constexpr double kHatchStep = 5.0;

/// Text that XML and Cairo accept: invalid UTF-8 and control characters become '?'.
std::string clean_text(std::string_view text);

/// Estimated width of a text in the sans-serif faces that the backends use.
double text_width(std::string_view text, double size);

std::string draw_svg(const Drawing& drawing);

/// PNG bytes, `width` pixels wide. Throws InputError (C130) when built without Cairo.
std::string draw_png(const Drawing& drawing, int width);

}  // namespace fedsim

// The SVG backend: plain elements and one hatching pattern per colour, no script, no outside
// reference.
#include <array>
#include <charconv>
#include <set>

#include "result/drawing.hpp"

namespace fedsim {
namespace {

// Two decimals are a twentieth of a pixel at any sensible zoom.
void append_coordinate(std::string& out, double v) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), v, std::chars_format::fixed, 2).ptr;
  std::string_view number(text.data(), static_cast<std::size_t>(end - text.data()));
  while (number.back() == '0') number.remove_suffix(1);
  if (number.back() == '.') number.remove_suffix(1);
  out += number == "-0" ? "0" : number;
}

void append_attribute(std::string& out, const char* name, double v) {
  out += ' ';
  out += name;
  out += "=\"";
  append_coordinate(out, v);
  out += '"';
}

std::string colour_text(Colour c) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out = "#";
  for (int shift = 20; shift >= 0; shift -= 4) out += digits[(c >> shift) & 15U];
  return out;
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
}

void append(std::string& out, const Box& b) {
  out += "<rect";
  append_attribute(out, "x", b.x);
  append_attribute(out, "y", b.y);
  append_attribute(out, "width", b.width);
  append_attribute(out, "height", b.height);
  const std::string colour = colour_text(b.fill);
  if (b.hatched) {
    out += " fill=\"url(#hatch-" + colour.substr(1) + ")\" stroke=\"" + colour +
           "\" stroke-width=\"0.8\"";
  } else {
    out += " fill=\"" + colour + "\"";
  }
  if (b.title.empty()) {
    out += "/>\n";
    return;
  }
  out += "><title>";
  append_escaped(out, b.title);
  out += "</title></rect>\n";
}

void append(std::string& out, const Rule& r) {
  out += "<line";
  append_attribute(out, "x1", r.x1);
  append_attribute(out, "y1", r.y1);
  append_attribute(out, "x2", r.x2);
  append_attribute(out, "y2", r.y2);
  out += " stroke=\"" + colour_text(r.colour) + "\"";
  append_attribute(out, "stroke-width", r.width);
  out += "/>\n";
}

void append(std::string& out, const Label& l) {
  out += "<text";
  append_attribute(out, "x", l.x);
  append_attribute(out, "y", l.y);
  append_attribute(out, "font-size", l.size);
  out += " fill=\"" + colour_text(l.colour) + "\"";
  if (l.anchor == Anchor::middle) out += " text-anchor=\"middle\"";
  if (l.anchor == Anchor::end) out += " text-anchor=\"end\"";
  if (l.bold) out += " font-weight=\"600\"";
  out += '>';
  append_escaped(out, l.text);
  out += "</text>\n";
}

void append_patterns(std::string& out, const Drawing& drawing) {
  std::set<Colour> colours;
  for (const auto& item : drawing.items) {
    if (const Box* b = std::get_if<Box>(&item); b != nullptr && b->hatched) colours.insert(b->fill);
  }
  if (colours.empty()) return;
  out += "<defs>\n";
  for (const Colour c : colours) {
    const std::string colour = colour_text(c);
    out += "<pattern id=\"hatch-" + colour.substr(1) + "\" patternUnits=\"userSpaceOnUse\"";
    append_attribute(out, "width", kHatchStep);
    append_attribute(out, "height", kHatchStep);
    out +=
        " patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" fill=\"#ffffff\"/>"
        "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" stroke=\"" +
        colour + "\" stroke-width=\"2.4\"/></pattern>\n";
  }
  out += "</defs>\n";
}

}  // namespace

std::string draw_svg(const Drawing& drawing) {
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
  append_coordinate(out, drawing.width);
  out += ' ';
  append_coordinate(out, drawing.height);
  out += '"';
  append_attribute(out, "width", drawing.width);
  append_attribute(out, "height", drawing.height);
  out +=
      " font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\""
      " role=\"img\">\n<title>";
  append_escaped(out, drawing.title);
  out += "</title>\n";
  append_patterns(out, drawing);
  out += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  for (const auto& item : drawing.items) {
    std::visit([&out](const auto& i) { append(out, i); }, item);
  }
  out += "</svg>\n";
  return out;
}

}  // namespace fedsim

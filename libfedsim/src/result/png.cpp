// The PNG backend, through Cairo. Cairo is optional: without it asking for a PNG is an input error.
#include "fedsim/error.hpp"
#include "result/drawing.hpp"

#ifdef FEDSIM_WITH_CAIRO

#include <cairo.h>

#include <cmath>

namespace fedsim {
namespace {

struct Surface {
  cairo_surface_t* surface;
  cairo_t* context;
  Surface(int width, int height)
      : surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)),
        context(cairo_create(surface)) {}
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  ~Surface() {
    cairo_destroy(context);
    cairo_surface_destroy(surface);
  }
};

void set_colour(cairo_t* c, Colour colour) {
  cairo_set_source_rgb(c, ((colour >> 16) & 255U) / 255.0, ((colour >> 8) & 255U) / 255.0,
                       (colour & 255U) / 255.0);
}

void hatch(cairo_t* c, const Box& b) {
  cairo_save(c);
  cairo_rectangle(c, b.x, b.y, b.width, b.height);
  set_colour(c, 0xFFFFFF);
  cairo_fill_preserve(c);
  cairo_clip(c);
  set_colour(c, b.fill);
  cairo_set_line_width(c, 1.7);
  // Lines of one family across the whole picture, so that neighbouring boxes continue each other.
  const double step = kHatchStep * std::sqrt(2.0);
  const double from = std::floor((b.x + b.y) / step) * step;
  for (double s = from; s <= b.x + b.width + b.y + b.height; s += step) {
    cairo_move_to(c, s - b.y, b.y);
    cairo_line_to(c, s - b.y - b.height, b.y + b.height);
  }
  cairo_stroke(c);
  cairo_restore(c);
  cairo_set_line_width(c, 0.8);
  set_colour(c, b.fill);
  cairo_rectangle(c, b.x, b.y, b.width, b.height);
  cairo_stroke(c);
}

void draw(cairo_t* c, const Box& b) {
  if (b.hatched) {
    hatch(c, b);
    return;
  }
  set_colour(c, b.fill);
  cairo_rectangle(c, b.x, b.y, b.width, b.height);
  cairo_fill(c);
}

void draw(cairo_t* c, const Rule& r) {
  set_colour(c, r.colour);
  cairo_set_line_width(c, r.width);
  cairo_move_to(c, r.x1, r.y1);
  cairo_line_to(c, r.x2, r.y2);
  cairo_stroke(c);
}

void draw(cairo_t* c, const Label& l) {
  cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         l.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  // Cairo's usual sans-serif face is wider than the browsers': the same space must do.
  cairo_set_font_size(c, l.size * 0.94);
  cairo_text_extents_t extents{};
  cairo_text_extents(c, l.text.c_str(), &extents);
  double x = l.x;
  if (l.anchor == Anchor::middle) x -= extents.x_advance / 2;
  if (l.anchor == Anchor::end) x -= extents.x_advance;
  set_colour(c, l.colour);
  cairo_move_to(c, x, l.y);
  cairo_show_text(c, l.text.c_str());
}

cairo_status_t append_bytes(void* closure, const unsigned char* data, unsigned int n) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), n);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string draw_png(const Drawing& drawing, int width) {
  if (width < 100 || width > 16000) {
    throw InputError({Severity::error, "C131", "", 0,
                      "picture width " + std::to_string(width) + " is not possible",
                      "give 100 to 16000 pixels"});
  }
  const double scale = width / drawing.width;
  const int height = static_cast<int>(std::ceil(drawing.height * scale));
  const Surface s(width, height);
  set_colour(s.context, 0xFFFFFF);
  cairo_paint(s.context);
  cairo_scale(s.context, scale, scale);
  for (const auto& item : drawing.items) {
    std::visit([&s](const auto& i) { draw(s.context, i); }, item);
  }
  std::string bytes;
  const cairo_status_t status = cairo_surface_write_to_png_stream(s.surface, append_bytes, &bytes);
  FEDSIM_CHECK(status == CAIRO_STATUS_SUCCESS, cairo_status_to_string(status));
  return bytes;
}

}  // namespace fedsim

#else

namespace fedsim {

std::string draw_png(const Drawing&, int) {
  throw InputError({Severity::error, "C130", "", 0,
                    "this build of fedsim can't draw PNG: the Cairo library was not found",
                    "ask for .svg, or install libcairo2-dev and build again"});
}

}  // namespace fedsim

#endif

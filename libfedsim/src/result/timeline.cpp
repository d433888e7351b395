// The timeline: who held which GPU when, and, apart from that, the records that were revoked.
//
// A revoked record is drawn hatched on its cluster's records lane and never on a GPU lane: it held
// nothing. Layout is in timeline_layout.cpp, the two file formats in svg.cpp and png.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fedsim/result.hpp"
#include "result/drawing.hpp"
#include "result/number.hpp"
#include "result/timeline_layout.hpp"

namespace fedsim {
namespace {

constexpr double kWidth = 1280;
constexpr double kRight = 28;
constexpr double kTop = 74;
constexpr double kClusterHead = 30;
constexpr double kRecordRow = 11;
constexpr Colour kInk = 0x1F2933;
constexpr Colour kSoftInk = 0x616E7C;
constexpr Colour kGrid = 0xE4E7EB;
constexpr Colour kLane = 0xF5F7FA;
constexpr Colour kNodeRule = 0xCBD2D9;
constexpr Colour kHatch = 0x9AA5B1;
constexpr Colour kCut = 0x1F2933;

// Neighbours differ in hue and lightness; the order keeps the first few apart for colour-blind
// readers.
constexpr std::array<Colour, 11> kPalette{0x4C78A8, 0xF2A541, 0x54A24B, 0xB279A2,
                                          0x72B7B2, 0xE45756, 0x9D755D, 0x8CB4E0,
                                          0xD6C14A, 0x7A5AA6, 0xA3C986};

class Painter {
 public:
  explicit Painter(const Result& result)
      : result_(result),
        model_(*result.scenario.model),
        trace_(*result.scenario.trace),
        layout_(lay_out(result)) {
    choose_lane_height();
    choose_gutter();
    choose_colours();
  }

  Drawing paint() {
    drawing_.width = kWidth;
    double y = kTop;
    for (const ClusterLanes& cluster : layout_.clusters) {
      place_cluster(cluster, y);
      y = bottoms_.back() + 14;
    }
    for (const double top : tops_) lane_backgrounds(top);
    paint_axis(y);
    for (std::size_t c = 0; c < layout_.clusters.size(); ++c) paint_cluster(c);
    paint_head();
    drawing_.height = paint_foot(y + 30);
    return std::move(drawing_);
  }

 private:
  void choose_lane_height() {
    const std::size_t n = layout_.lanes_n;
    lane_ = n <= 40 ? 17 : n <= 96 ? 12 : n <= 200 ? 7 : 4;
  }

  void choose_gutter() {
    double longest = text_width("records", 11);
    for (const ClusterLanes& cluster : layout_.clusters) {
      const ClusterModel& c = model_.clusters[cluster.cluster.index()];
      for (const NodeLanes& n : cluster.nodes) {
        longest = std::max(longest, text_width(c.nodes[n.node.index()].name, 11));
      }
    }
    left_ = std::clamp(longest + (lane_ >= 12 ? 46 : 24), 78.0, 240.0);
  }

  // In order of the first start; never the colour of the job before on one of the same nodes.
  void choose_colours() {
    colour_.assign(result_.job_rows.size(), kPalette.size());
    std::vector<std::vector<std::size_t>> before(model_.clusters.size());
    for (std::size_t c = 0; c < before.size(); ++c) {
      before[c].assign(model_.clusters[c].nodes.size(), kPalette.size());
    }
    std::size_t next = 0;
    for (const AllocationRow& a : result_.allocation_rows) {
      if (a.place_offset + a.nodes_n > result_.placements.size()) return;
      const std::span places{result_.placements.data() + a.place_offset, a.nodes_n};
      auto& last = before[a.cluster.index()];
      std::size_t& c = colour_[a.job.index()];
      if (c == kPalette.size()) {
        const auto taken = [&](const Placement& p) { return last[p.node.index()] == next; };
        for (std::size_t tries = 0; tries < kPalette.size(); ++tries) {
          next = (next + 1) % kPalette.size();
          if (std::none_of(places.begin(), places.end(), taken)) break;
        }
        c = next;
      }
      for (const Placement& p : places) last[p.node.index()] = c;
    }
  }

  double x_of(SimTime t) const {
    const double part = to_seconds(t - layout_.first) / to_seconds(layout_.last - layout_.first);
    return left_ + std::clamp(part, 0.0, 1.0) * (kWidth - kRight - left_);
  }

  void box(double x, double y, double w, double h, Colour fill) {
    drawing_.items.emplace_back(Box{x, y, w, h, fill, false, {}});
  }
  void rule(double x1, double y1, double x2, double y2, Colour colour, double width = 1) {
    drawing_.items.emplace_back(Rule{x1, y1, x2, y2, colour, width});
  }
  void text(double x, double y, double size, Colour colour, std::string_view words,
            Anchor anchor = Anchor::start, bool bold = false) {
    drawing_.items.emplace_back(Label{x, y, size, colour, anchor, bold, clean_text(words)});
  }

  void place_cluster(const ClusterLanes& cluster, double y) {
    const double records =
        cluster.record_rows_n > 0 ? static_cast<double>(cluster.record_rows_n) * kRecordRow + 8 : 0;
    heads_.push_back(y);
    tops_.push_back(y + kClusterHead);
    records_.push_back(y + kClusterHead + static_cast<double>(cluster.lanes_n) * lane_ + 6);
    bottoms_.push_back(y + kClusterHead + static_cast<double>(cluster.lanes_n) * lane_ + records);
  }

  void lane_backgrounds(double top) {
    const auto at =
        static_cast<std::size_t>(std::find(tops_.begin(), tops_.end(), top) - tops_.begin());
    const double height = static_cast<double>(layout_.clusters[at].lanes_n) * lane_;
    box(left_, top, kWidth - kRight - left_, height, kLane);
  }

  void paint_axis(double y) {
    const double widest = trace_.relative_times ? 58 : 84;
    const auto most = static_cast<std::size_t>((kWidth - kRight - left_) / (widest + 22));
    const auto ticks =
        time_ticks(layout_.first, layout_.last, most, trace_.relative_times, trace_.t0);
    const bool tall = y > 900;
    rule(left_, y - 6, kWidth - kRight, y - 6, kNodeRule);
    for (const Tick& tick : ticks) {
      const double x = x_of(tick.at);
      for (std::size_t c = 0; c < tops_.size(); ++c) rule(x, tops_[c], x, bottoms_[c], kGrid);
      rule(x, y - 6, x, y - 2, kNodeRule);
      text(x, y + 10, 11, kSoftInk, tick.text, Anchor::middle);
      if (tall) text(x, kTop, 11, kSoftInk, tick.text, Anchor::middle);
    }
    const char* unit = trace_.relative_times ? "time since t0 ([days-]h:mm:ss)" : "UTC";
    text(left_, y + 25, 10, kSoftInk, unit);
  }

  void paint_cluster(std::size_t c) {
    const ClusterLanes& cluster = layout_.clusters[c];
    const ClusterModel& model = model_.clusters[cluster.cluster.index()];
    text(16, heads_[c] + 20, 14, kInk, model.name, Anchor::start, true);
    const double after = 16 + text_width(model.name, 14) * 1.15 + 12;
    text(std::max(left_, after), heads_[c] + 20, 11, kSoftInk, inventory(model));
    for (const Bar& bar : cluster.bars) paint_bar(bar, tops_[c]);
    paint_lanes(cluster, model, tops_[c]);
    for (const Bar& bar : cluster.bars) label_bar(bar, tops_[c]);
    if (cluster.marks.empty()) return;
    text(left_ - 10, records_[c] + kRecordRow - 2, 11, kSoftInk, "records", Anchor::end);
    for (const RecordMark& mark : cluster.marks) paint_mark(mark, records_[c]);
  }

  static std::string inventory(const ClusterModel& c) {
    std::string out = std::to_string(c.nodes.size()) + (c.nodes.size() == 1 ? " node" : " nodes");
    out += c.gpus_n > 0 ? ", " + std::to_string(c.gpus_n) + " GPUs"
                        : ", " + std::to_string(c.cpus_n) + " CPUs";
    std::string types;
    for (const std::string& t : c.gpu_types)
      types += t.empty() ? "" : (types.empty() ? "" : ", ") + t;
    return types.empty() ? out : out + " (" + types + ")";
  }

  // Node names, device numbers, and thin lines that keep the lanes apart also under wide bars.
  void paint_lanes(const ClusterLanes& cluster, const ClusterModel& model, double top) {
    double labelled = -100;
    for (const NodeLanes& n : cluster.nodes) {
      const double y = top + static_cast<double>(n.first_lane) * lane_;
      const auto lanes = static_cast<double>(std::max<std::size_t>(1, n.gpus));
      const double middle = y + lanes * lane_ / 2 + 4;
      if (n.first_lane > 0) rule(left_, y, kWidth - kRight, y, kNodeRule, 0.8);
      if (middle - labelled >= 11) {
        const double x = left_ - (n.gpus > 0 && lane_ >= 12 ? 30 : 10);
        text(x, middle, 11, kInk, model.nodes[n.node.index()].name, Anchor::end);
        labelled = middle;
      }
      if (lane_ < 12) continue;
      for (std::size_t g = 0; g < n.gpus; ++g) {
        const double lane_y = y + static_cast<double>(g) * lane_;
        text(left_ - 8, lane_y + lane_ / 2 + 3, 8.5, kSoftInk, std::to_string(g), Anchor::end);
        if (g > 0) rule(left_, lane_y, kWidth - kRight, lane_y, 0xFFFFFF, 1);
      }
    }
  }

  struct Extent {
    double x, y, width, height;
  };
  Extent extent(const Bar& bar, double top) const {
    const double x = x_of(bar.start);
    const double height = bar.lanes_n * lane_;
    const double inset = height >= 6 ? 1.0 : 0.4;
    return {x, top + bar.lane * lane_ + inset, std::max(x_of(bar.end) - x, 1.0),
            std::max(height - 2 * inset, 0.8)};
  }

  std::string job_name(JobId job) const {
    const JobSpec& spec = trace_.jobs[job.index()];
    for (const StringId id : {spec.label, spec.name}) {
      if (!trace_.strings.view(id).empty()) return std::string(trace_.strings.view(id));
    }
    return std::to_string(result_.job_rows[job.index()].job_id);
  }

  RecordState state_of(const AllocationRow& a) const {
    return a.record < result_.record_rows.size() ? result_.record_rows[a.record].state
                                                 : RecordState::completed;
  }

  std::string instant(SimTime t) const {
    std::string out;
    if (trace_.relative_times) {
      append_seconds(out, (t - trace_.t0).count());
      return out + " s";
    }
    append_iso(out, t);
    return out;
  }

  void paint_bar(const Bar& bar, double top) {
    const AllocationRow& a = result_.allocation_rows[bar.allocation];
    const Extent e = extent(bar, top);
    const RecordState state = state_of(a);
    const std::string title = job_name(a.job) + " (job " +
                              std::to_string(result_.job_rows[a.job.index()].job_id) + ") " +
                              std::string(to_string(state)) + ", " + instant(a.start) + " to " +
                              (a.end == kNoTime ? "-" : instant(a.end)) + ", " +
                              std::to_string(a.gpus) + " GPUs, " + std::to_string(a.cpus) + " CPUs";
    drawing_.items.emplace_back(Box{e.x, e.y, e.width, e.height, kPalette[colour_[a.job.index()]],
                                    false, clean_text(title)});
    const bool plain = state == RecordState::completed || state == RecordState::running;
    if (!plain && e.width >= 4) box(e.x + e.width - 2.5, e.y, 2.5, e.height, kCut);
  }

  static bool is_dark(Colour c) {
    const double light =
        0.299 * ((c >> 16) & 255U) + 0.587 * ((c >> 8) & 255U) + 0.114 * (c & 255U);
    return light < 150;
  }

  void label_bar(const Bar& bar, double top) {
    const Extent e = extent(bar, top);
    const double size = std::min({12.0, e.height - 2, e.height > 30 ? 13.0 : 11.0});
    if (size < 7) return;
    const JobId job = result_.allocation_rows[bar.allocation].job;
    const std::string name = job_name(job);
    if (text_width(name, size) + 8 > e.width) return;
    const Colour ink = is_dark(kPalette[colour_[job.index()]]) ? 0xFFFFFF : kInk;
    // In the middle of a lane: the lines between lanes would cross the words.
    const bool several = lane_ >= 12 && bar.lanes_n >= 2;
    const double middle =
        several ? top + (bar.lane + std::floor(bar.lanes_n / 2) + 0.5) * lane_ : e.y + e.height / 2;
    text(e.x + e.width / 2, middle + size * 0.36, size, ink, name, Anchor::middle);
  }

  void paint_mark(const RecordMark& mark, double top) {
    const RecordRow& r = result_.record_rows[mark.record];
    const double x = x_of(mark.start);
    const double width = std::max(x_of(mark.end) - x, 4.0);
    const double y = top + static_cast<double>(mark.row) * kRecordRow;
    const std::string name = job_name(r.job);
    const std::string title = name + " REVOKED here, " + instant(mark.start) + " to " +
                              (r.end == kNoTime ? "-" : instant(r.end)) + ": held no GPU";
    drawing_.items.emplace_back(Box{x, y, width, kRecordRow - 2, kHatch, true, clean_text(title)});
    const double needed = text_width(name, 8.5) + 6;
    if (width < needed + 6) return;
    box(x + width / 2 - needed / 2, y + 0.8, needed, kRecordRow - 3.6, 0xFFFFFF);
    text(x + width / 2, y + kRecordRow - 3.6, 8.5, kSoftInk, name, Anchor::middle);
  }

  void paint_head() {
    std::string title = model_.name;
    if (title.empty()) {
      for (const ClusterModel& c : model_.clusters) title += (title.empty() ? "" : " + ") + c.name;
    }
    drawing_.title = clean_text("Timeline of " + title);
    text(16, 30, 19, kInk, title, Anchor::start, true);
    const Summary& s = result_.summary;
    std::string line =
        s.populations.gpus_in_fleet > 0 ? "GPUs held over time" : "Nodes held over time";
    std::string share;
    append_number(share, std::round(s.utilisation * 1000) / 10);
    line += "; utilisation " + share + " % over " +
            clock_text(static_cast<std::int64_t>(std::ceil(s.makespan_s)));
    text(16, 50, 12, kSoftInk, line);
    paint_legend();
  }

  void paint_legend() {
    double x = kWidth - kRight;
    const auto entry = [&](std::string_view words, bool hatched, bool cut) {
      x -= text_width(words, 11);
      text(x, 30, 11, kSoftInk, words);
      x -= 26;
      drawing_.items.emplace_back(Box{x, 21, 20, 11, hatched ? kHatch : kPalette[0], hatched, {}});
      if (cut) box(x + 17.5, 21, 2.5, 11, kCut);
      x -= 18;
    };
    entry("revoked record: held nothing", true, false);
    entry("ended otherwise than COMPLETED", false, true);
    entry("execution", false, false);
  }

  std::string populations() const {
    const Populations& p = result_.summary.populations;
    std::string states;
    std::size_t records = 0;
    for (const auto& [state, n] : p.records) {
      states += (states.empty() ? "" : ", ") + std::to_string(n) + " " + state;
      records += n;
    }
    const auto count = [](std::size_t n, const char* one, const char* many) {
      return std::to_string(n) + " " + (n == 1 ? one : many);
    };
    std::string out = count(p.jobs, "job", "jobs");
    if (p.rejected > 0) out += " (and " + std::to_string(p.rejected) + " rejected)";
    out += ", " + count(records, "record", "records") + (records > 0 ? " (" + states + ")" : "");
    out += ", " + count(p.allocations, "allocation", "allocations");
    if (p.gpus_in_fleet > 0) {
      out += ", " + std::to_string(p.distinct_gpus) + " distinct GPUs of " +
             std::to_string(p.gpus_in_fleet);
    }
    return out + ", " + count(p.processes, "process", "processes") + " in " +
           count(p.process_groups, "group", "groups") + ".";
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> out{populations()};
    if (result_.placements.empty() && !result_.allocation_rows.empty()) {
      out.push_back("Placements were not kept in this run: no bars can be drawn.");
    }
    if (layout_.lanes_n < layout_.lanes_all) {
      out.push_back("Cut: the first " + std::to_string(layout_.lanes_n) + " of " +
                    std::to_string(layout_.lanes_all) + " lanes are shown.");
    }
    if (layout_.bars_left_out > 0) {
      out.push_back("Cut: the first " + std::to_string(kMaxBars) + " bars in order of start; " +
                    std::to_string(layout_.bars_left_out) + " are not shown.");
    }
    if (layout_.marks_left_out > 0) {
      out.push_back("Cut: " + std::to_string(layout_.marks_left_out) +
                    " revoked records are not shown.");
    }
    return out;
  }

  double paint_foot(double y) {
    y += 18;
    for (const std::string& note : notes()) {
      text(16, y, 11.5, kSoftInk, note);
      y += 17;
    }
    return y + 4;
  }

  const Result& result_;
  const FederationModel& model_;
  const Trace& trace_;
  TimelineLayout layout_;
  Drawing drawing_;
  double lane_ = 16;
  double left_ = 120;
  std::vector<double> heads_, tops_, records_, bottoms_;
  std::vector<std::size_t> colour_;
};

}  // namespace

std::string timeline_svg(const Result& result) {
  return draw_svg(Painter(result).paint());
}

std::string timeline_png(const Result& result, int width) {
  return draw_png(Painter(result).paint(), width);
}

}  // namespace fedsim

// The will-run test: see will_run.hpp. Leaves out: preemption, suspended jobs, OverTimeLimit, the
// two seconds after which slurmctld gives up.
#include "sched/will_run.hpp"

#include <bit>

#include "base/mix.hpp"
#include "sched/admission.hpp"

namespace fedsim {
namespace {

/// When a running job is expected to end; jobs past their limit get KillWait more (semantics 5.5
/// point 4).
std::int64_t expected_end(const PassView& v, const RunningEntry& r) {
  if (r.end_s > v.now_s) return r.end_s;
  return std::max(r.end_s + v.model.kill_wait_s, v.now_s + 1);
}

/// The running jobs in groups: each is taken away whole before the next test. A group grows until
/// the next job in the list ends after the window; windows are aligned to the first end. Only the
/// neighbour is compared: when the last job in the window runs elsewhere, one more of ours joins.
class Groups {
 public:
  Groups(const PassView& v, const BackfillSettings& set, const FreeBy& free, const WillRunQuery& q)
      : v_(v), set_(set), free_(free), open_(q.open), size_(v.own().running.size()) {
    if (!set.bounded) return;
    while (end_ < size_ && free.end(end_) < q.at) ++end_;
    while (q.later != 0 && size_ > end_ && free.end(size_ - 1) > q.later) --size_;
  }

  /// Running jobs [0, end) are gone after the group. At first: those that are gone when the job is
  /// tried, before any test (24.11).
  std::size_t end() const { return end_; }

  /// Moves on to the next group; false: there is none.
  bool next() {
    const std::size_t first = touching(end_);
    if (first == size_) return false;
    if (base_ == 0) base_ = free_.end(first) / 30 * 30 + 30;
    const std::int64_t until = set_.exact ? free_.end(first) : base_ + window_;
    std::size_t in_window = end_;
    while (in_window + 1 < size_ && free_.end(in_window + 1) <= until) ++in_window;
    last_ = set_.exact ? size_ : touching(in_window);
    if (last_ == size_) {
      for (last_ = in_window; !free_.touches(last_, open_); --last_) {
      }
    }
    end_ = last_ + 1;
    if (!set_.exact) widen();
    return true;
  }

  /// When the job tested starts: as the last job of the group ends.
  std::int64_t start() const { return expected_end(v_, v_.own().running[last_]); }

 private:
  /// First job from `i` on that uses an open node; size_: none.
  std::size_t touching(std::size_t i) const {
    while (i < size_ && !free_.touches(i, open_)) ++i;
    return i;
  }

  void widen() {
    const std::int64_t linear = v_.model.scheduler.bf_window_linear_s;
    do {
      window_ = linear > 0 ? window_ + linear : window_ * 2;
    } while (end_ < size_ && window_ <= kYearSeconds && free_.end(end_) > base_ + window_);
  }

  const PassView& v_;
  const BackfillSettings& set_;
  const FreeBy& free_;
  BitSpan open_;
  std::size_t size_;
  std::size_t end_ = 0, last_ = 0;
  std::int64_t window_ = 30;
  std::int64_t base_ = 0;
};

/// Start once the jobs that end before `at` are gone. Those past their limit still hold their
/// nodes: slurmctld starts the job, fails, and reserves.
std::int64_t after_ended(const PassView& v, const WillRunQuery& q) {
  return std::max(q.at, v.now_s + 1);
}

/// 25.05: end of the last job taken away whose nodes are among the chosen ones.
std::int64_t relevant_end(const PassView& v, const FreeBy& free, BitSpan chosen,
                          const Groups& groups) {
  for (std::size_t i = groups.end(); i > 0; --i) {
    if (free.touches(i - 1, chosen)) return expected_end(v, v.own().running[i - 1]);
  }
  return groups.start();
}

/// Whether a job fits on a pool of unit nodes: counts decide, so nothing is taken away and put
/// back. The nodes to choose from are left in scratch.candidates.
class UnitTest {
 public:
  UnitTest(const PassView& v, const FreeBy& free, const WillRunQuery& q)
      : free_(free), q_(q), cand_(v.scratch.candidates) {
    cand_.resize(q.open.size());
  }

  /// With the first `gone` running jobs away.
  bool fits_after(std::size_t gone) {
    if (free_.count(q_.shape, free_.row_after(gone)) < q_.demand.min_cpus) return false;
    const BitSpan row = free_.row(q_.shape, gone / free_.stride());
    std::size_t n = 0;
    for (std::size_t w = 0; w < row.size(); ++w) {
      cand_[w] = q_.open[w] & row[w];
      n += static_cast<std::size_t>(std::popcount(cand_[w]));
    }
    if (gone % free_.stride() != 0) {
      for (std::size_t i = gone / free_.stride() * free_.stride(); i < gone; ++i)
        free_.add_nodes(i, q_.open, cand_);
      n = count_bits(cand_);
    }
    return n >= q_.demand.min_cpus;
  }

 private:
  const FreeBy& free_;
  const WillRunQuery& q_;
  Bitmap& cand_;
};

/// Whether a job fits on any cluster: running jobs are really taken away from the pool, and put
/// back.
class NodeTest {
 public:
  NodeTest(const PassView& v, const FreeBy& free, const WillRunQuery& q)
      : v_(v), free_(free), q_(q) {
    v_.scratch.is_away.assign(v_.own().running.size(), 0);
  }
  ~NodeTest() { put_back(); }
  NodeTest(const NodeTest&) = delete;
  NodeTest& operator=(const NodeTest&) = delete;

  /// With the first `gone` running jobs away; `gone` never falls from one call to the next. Only
  /// those are really taken away that hold nodes which the job can use then, and none unless these
  /// are enough.
  bool fits_after(std::size_t gone) {
    const BitSpan row = free_.row(q_.shape, free_.row_after(gone));
    Bitmap& usable = v_.scratch.candidates;
    usable.resize(row.size());
    std::size_t n = 0;
    for (std::size_t w = 0; w < row.size(); ++w) {
      usable[w] = q_.open[w] & row[w];
      n += static_cast<std::size_t>(std::popcount(usable[w]));
    }
    if (n < q_.demand.min_nodes) return false;
    // A start now needs cores and devices, which are not kept.
    if (gone == 0 || q_.demand.request.id == 0) return really_fits_after(gone, usable);
    if (v_.scratch.known_fits.size() >= kMostKnown) v_.scratch.known_fits.clear();
    const auto [known, fresh] = v_.scratch.known_fits.try_emplace(key_of(gone, usable));
    if (fresh) {
      known->second.fits = really_fits_after(gone, usable);
      for (const NodeShare& share : v_.scratch.shares) known->second.nodes.push_back(share.node);
    } else {
      v_.scratch.shares.clear();
      for (const std::uint32_t node : known->second.nodes)
        v_.scratch.shares.emplace_back().node = node;
    }
    return known->second.fits;
  }

 private:
  static constexpr std::size_t kMostKnown = 1 << 15;

  /// Equal for questions about the same pool with the same jobs away.
  std::uint64_t key_of(std::size_t gone, BitSpan usable) const {
    std::uint64_t h = hash_combine(sum_, v_.scratch.gone_keys[gone]);
    h = hash_combine(h, q_.demand.request.id);
    for (const std::uint64_t w : usable) h = hash_combine(h, w);
    return h;
  }

  bool really_fits_after(std::size_t gone, BitSpan usable) {
    for (std::size_t i = 0; i < gone; ++i) {
      if (v_.scratch.is_away[i] != 0 || !free_.touches(i, usable)) continue;
      v_.scratch.is_away[i] = 1;
      const std::uint32_t slot = v_.own().running[i].slot;
      v_.own().pool.release(v_.state.slots[slot].shares);
      v_.scratch.taken_away.push_back(slot);
    }
    return select_nodes(v_.model, v_.own().pool, q_.demand, usable, v_.scratch.select,
                        v_.scratch.shares);
  }

  void put_back() {
    std::vector<std::uint32_t>& gone = v_.scratch.taken_away;
    for (; !gone.empty(); gone.pop_back())
      v_.own().pool.acquire(v_.state.slots[gone.back()].shares);
  }

  const PassView& v_;
  const FreeBy& free_;
  const WillRunQuery& q_;
  const std::uint64_t sum_ = v_.own().pool.sum();
};

/// Expected start by `test`: now, once the jobs before `at` are gone, or after a group of others.
template <class Test>
std::int64_t first_fit(const PassView& v, const BackfillSettings& set, const FreeBy& free,
                       const WillRunQuery& q, Test&& test) {
  const bool later = q.at > v.now_s;
  if (!(set.bounded && later) && test.fits_after(0)) return v.now_s;
  Groups groups(v, set, free, q);
  if (set.bounded && (groups.end() > 0 || later) && test.fits_after(groups.end()))
    return after_ended(v, q);
  while (groups.next()) {
    if (!test.fits_after(groups.end())) continue;
    if (!set.relevant) return groups.start();
    chosen_nodes(v, q.demand, v.scratch.reserved);
    return relevant_end(v, free, v.scratch.reserved, groups);
  }
  return kNever;
}

}  // namespace

FreeBy::FreeBy(const PassView& v) : v_(v), s_(v.scratch), words_(v.model.bitmap_words()) {
  update();
}

void FreeBy::update() {
  const std::vector<RunningEntry>& running = v_.own().running;
  stride_ = std::max<std::size_t>((running.size() + kRows - 1) / kRows, 1);
  rows_ = row_after(running.size()) + 1;
  s_.free_ends.clear();
  s_.running_words.clear();
  s_.running_bits.clear();
  s_.free_rows.clear();
  s_.free_counts.clear();
  s_.shape_of.assign(v_.demands.size(), 0);
  s_.gone_keys.assign(1, 0);
  for (const RunningEntry& r : running) {
    s_.free_ends.push_back(r.end_s);
    s_.gone_keys.push_back(hash_combine(s_.gone_keys.back(), r.record));
    add_running(v_.state.slots[r.slot].shares);
  }
  add_shape();
  any_cpu();
}

/// Stores the words of one running job.
void FreeBy::add_running(const std::vector<NodeShare>& shares) {
  RunningWords& r = s_.running_words.emplace_back();
  r.offset = s_.running_bits.size();
  if (shares.empty()) return;
  r.first = shares.front().node / 64;
  r.n = shares.back().node / 64 - r.first + 1;
  s_.running_bits.resize(r.offset + r.n, 0);
  for (const NodeShare& share : shares)
    s_.running_bits[r.offset + share.node / 64 - r.first] |= std::uint64_t{1} << (share.node % 64);
}

void FreeBy::add_shape() {
  s_.free_rows.resize(s_.free_rows.size() + rows_ * words_);
  s_.free_counts.resize(s_.free_counts.size() + rows_);
}

/// Shape 0: nodes with a free CPU.
void FreeBy::any_cpu() {
  const NodePool& pool = v_.own().pool;
  std::uint64_t* row = s_.free_rows.data();
  for (std::size_t w = 0; w < words_; ++w) row[w] = pool.usable()[w] & pool.with_free_cpus()[w];
  for (std::size_t k = 0; k < rows_; ++k) {
    if (k > 0) {
      std::copy_n(row, words_, row + words_);
      row += words_;
      for (std::size_t i = (k - 1) * stride_; i < std::min(k * stride_, s_.free_ends.size()); ++i) {
        const RunningWords& r = s_.running_words[i];
        for (std::uint32_t w = 0; w < r.n; ++w) row[r.first + w] |= s_.running_bits[r.offset + w];
      }
    }
    s_.free_counts[k] = count_bits(this->row(0, k));
  }
}

FreeBy::Shape FreeBy::shape_of(std::uint32_t demand) {
  const Demand& d = v_.demands[demand];
  if (d.simple_units) return 0;
  std::uint32_t& known = s_.shape_of[demand];
  if (known == 0) {
    known = static_cast<std::uint32_t>(s_.free_counts.size() / rows_) + 1;
    add_shape();
    build(known - 1, d);
  }
  return known - 1;
}

/// Takes running jobs away one after the other, and puts them back.
void FreeBy::build(Shape s, const Demand& d) {
  ClusterState& own = v_.own();
  const std::vector<RunningEntry>& running = own.running;
  std::uint64_t* row = s_.free_rows.data() + s * rows_ * words_;
  const auto test = [&](std::size_t n) {
    if (test_bit(own.pool.usable(), n) && test_bit(d.request.nodes, n) &&
        may_use(v_.model, own.pool, d, n))
      row[n / 64] |= std::uint64_t{1} << (n % 64);
  };
  std::fill_n(row, words_, 0);
  for_each_bit(with_cores(own.pool, d), test);
  for (std::size_t k = 0; k < rows_; ++k) {
    if (k > 0) {
      std::copy_n(row, words_, row + words_);
      row += words_;
      for (std::size_t i = (k - 1) * stride_; i < std::min(k * stride_, running.size()); ++i) {
        const std::vector<NodeShare>& shares = v_.state.slots[running[i].slot].shares;
        own.pool.release(shares);
        for (const NodeShare& share : shares) test(share.node);
      }
    }
    s_.free_counts[s * rows_ + k] = count_bits(this->row(s, k));
  }
  for (std::size_t i = running.size(); i > 0; --i)
    own.pool.acquire(v_.state.slots[running[i - 1].slot].shares);
}

std::int64_t FreeBy::earliest(Shape s, std::size_t need) const {
  for (std::size_t k = 0; k < rows_; ++k) {
    if (count(s, k) < need) continue;
    return k == 0 ? v_.now_s : std::max(s_.free_ends[(k - 1) * stride_], v_.now_s + 1);
  }
  return INT64_MAX;
}

std::int64_t will_run(const PassView& v, const BackfillSettings& set, const FreeBy& free_by,
                      const WillRunQuery& q) {
  if (v.model.unit_nodes && q.demand.simple_units)
    return first_fit(v, set, free_by, q, UnitTest(v, free_by, q));
  return first_fit(v, set, free_by, q, NodeTest(v, free_by, q));
}

void chosen_nodes(const PassView& v, const Demand& d, Bitmap& nodes) {
  PassScratch& s = v.scratch;
  if (v.model.unit_nodes && d.simple_units) {
    choose_units(d.min_cpus, s.candidates, s.select, nodes);
    return;
  }
  nodes.assign(v.model.bitmap_words(), 0);
  for (const NodeShare& share : s.shares) set_bit(nodes, share.node);
}

void chosen_shares(const PassView& v, const Demand& d, BitSpan nodes) {
  if (v.model.unit_nodes && d.simple_units) unit_shares(nodes, v.scratch.shares);
}

}  // namespace fedsim

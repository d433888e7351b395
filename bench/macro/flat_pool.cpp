// The floor that runs are measured against: FCFS and EASY on a flat pool of units, counts only. No
// nodes, records, partitions or controllers; what any simulator of this workload must at least do.
//
//   fedsim_flat_pool LOAD.swf UNITS fcfs|easy
//
// EASY as in Lifka 1995: the first job that does not fit gets a reservation at the "shadow" time
// when the limits of running jobs have freed enough; a later job starts if it ends by then or takes
// only units that are extra at that time.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <list>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Job {
  long submit = 0, run = 0, limit = 0, units = 0, start = -1;
};

std::vector<Job> read(const char* path) {
  std::vector<Job> jobs;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == ';') continue;
    long id = 0, wait = 0, used = 0, cpu = 0, memory = 0;
    Job j;
    if (std::sscanf(line.c_str(), "%ld %ld %ld %ld %ld %ld %ld %ld %ld", &id, &j.submit, &wait,
                    &j.run, &used, &cpu, &memory, &j.units, &j.limit) == 9) {
      jobs.push_back(j);
    }
  }
  return jobs;
}

class Pool {
 public:
  Pool(std::vector<Job> jobs, long units) : jobs_(std::move(jobs)), free_(units) {
    expected_.resize(jobs_.size());
  }

  void run(bool easy) {
    std::size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      long now = ends_.empty() ? jobs_[next].submit : ends_.top().first;
      if (next < jobs_.size() && jobs_[next].submit < now) now = jobs_[next].submit;
      for (; !ends_.empty() && ends_.top().first == now; ends_.pop()) finish(ends_.top().second);
      for (; next < jobs_.size() && jobs_[next].submit == now; ++next) queue_.push_back(next);
      while (!queue_.empty() && jobs_[queue_.front()].units <= free_) {
        start(queue_.front(), now);
        queue_.pop_front();
      }
      if (easy && queue_.size() > 1 && free_ > 0) backfill(now);
    }
  }

  double mean_wait() const {
    double sum = 0;
    for (const Job& j : jobs_) sum += static_cast<double>(j.start - j.submit);
    return sum / static_cast<double>(jobs_.size());
  }

 private:
  void start(std::size_t i, long now) {
    Job& j = jobs_[i];
    j.start = now;
    free_ -= j.units;
    ends_.push({now + j.run, i});
    expected_[i] = by_limit_.insert({now + j.limit, j.units});
  }

  void finish(std::size_t i) {
    free_ += jobs_[i].units;
    by_limit_.erase(expected_[i]);
  }

  void backfill(long now) {
    const long need = jobs_[queue_.front()].units;
    long available = free_;
    long shadow = 0;
    long extra = 0;
    for (const auto& [end, units] : by_limit_) {
      if (shadow != 0 && end > shadow) break;
      available += units;
      if (shadow == 0 && available >= need) shadow = end;
      extra = available - need;
    }
    for (auto it = std::next(queue_.begin()); it != queue_.end() && free_ > 0;) {
      const Job& j = jobs_[*it];
      const bool ends_before = now + j.limit <= shadow;
      if (j.units > free_ || (!ends_before && j.units > extra)) {
        ++it;
        continue;
      }
      if (!ends_before) extra -= j.units;
      start(*it, now);
      it = queue_.erase(it);
    }
  }

  using End = std::pair<long, std::size_t>;
  std::vector<Job> jobs_;
  long free_;
  std::list<std::size_t> queue_;
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
  std::multiset<std::pair<long, long>> by_limit_;
  std::vector<std::multiset<std::pair<long, long>>::iterator> expected_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s LOAD.swf UNITS fcfs|easy\n", argv[0]);
    return 2;
  }
  std::vector<Job> jobs = read(argv[1]);
  const std::size_t n = jobs.size();
  if (n == 0) {
    std::fprintf(stderr, "%s: no job read\n", argv[1]);
    return 2;
  }
  Pool pool(std::move(jobs), std::strtol(argv[2], nullptr, 10));
  pool.run(std::strcmp(argv[3], "easy") == 0);
  std::printf("jobs %zu mean wait %.4f s\n", n, pool.mean_wait());
}

// The GPUs with MIG: one geometry, with names, memory and engines of each GPU. Facts from
// `nvidia-smi mig -lgip` of drivers 470 to 570 and the MIG User Guide.
#include <array>

#include "fedsim/mig.hpp"

namespace fedsim {
namespace {

/// What all GPUs have in common, by profile.
struct Geometry {
  int id, compute, memory, most;
  std::vector<int> starts;
};

const std::array<Geometry, 7>& geometry() {
  static const std::array<Geometry, 7> table{{{19, 1, 1, 7, {0, 1, 2, 3, 4, 5, 6}},
                                              {20, 1, 1, 1, {0, 1, 2, 3, 4, 5, 6}},
                                              {15, 1, 2, 4, {0, 2, 4, 6}},
                                              {14, 2, 2, 3, {0, 2, 4}},
                                              {9, 3, 4, 2, {0, 4}},
                                              {5, 4, 4, 1, {0}},
                                              {0, 7, 8, 1, {0}}}};
  return table;
}

struct Row {
  const char* name;
  std::int64_t memory_mib;
  int sm_count, copy_engines;
};

MigGpu gpu(const char* name, const std::array<Row, 7>& rows) {
  MigGpu out{name, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Geometry& g = geometry()[i];
    out.profiles.push_back({rows[i].name, g.id, g.compute, g.memory, g.most, g.starts,
                            rows[i].memory_mib, rows[i].sm_count, rows[i].copy_engines});
  }
  return out;
}

}  // namespace

const std::vector<MigGpu>& mig_gpus() {
  static const std::vector<MigGpu> gpus{
      gpu("A100-40GB", {{{"1g.5gb", 4864, 14, 1},
                         {"1g.5gb+me", 4864, 14, 1},
                         {"1g.10gb", 9856, 14, 1},
                         {"2g.10gb", 9856, 28, 2},
                         {"3g.20gb", 19968, 42, 3},
                         {"4g.20gb", 19968, 56, 4},
                         {"7g.40gb", 40192, 98, 7}}}),
      gpu("A100-80GB", {{{"1g.10gb", 9856, 14, 1},
                         {"1g.10gb+me", 9856, 14, 1},
                         {"1g.20gb", 19968, 14, 1},
                         {"2g.20gb", 19968, 28, 2},
                         {"3g.40gb", 40192, 42, 3},
                         {"4g.40gb", 40192, 56, 4},
                         {"7g.80gb", 80384, 98, 7}}}),
      gpu("H100-80GB", {{{"1g.10gb", 0, 16, 1},
                         {"1g.10gb+me", 0, 16, 1},
                         {"1g.20gb", 0, 16, 1},
                         {"2g.20gb", 0, 32, 2},
                         {"3g.40gb", 0, 60, 3},
                         {"4g.40gb", 0, 64, 4},
                         {"7g.80gb", 0, 132, 8}}}),
      gpu("H200-141GB", {{{"1g.18gb", 16384, 16, 1},
                          {"1g.18gb+me", 16384, 16, 1},
                          {"1g.35gb", 0, 16, 1},
                          {"2g.35gb", 33280, 32, 2},
                          {"3g.71gb", 0, 60, 3},
                          {"4g.71gb", 0, 64, 4},
                          {"7g.141gb", 143360, 132, 8}}}),
      gpu("B200-180GB", {{{"1g.23gb", 23552, 18, 2},
                          {"1g.23gb+me", 23552, 18, 2},
                          {"1g.45gb", 46080, 18, 2},
                          {"2g.45gb", 46080, 36, 3},
                          {"3g.90gb", 92160, 0, 6},
                          {"4g.90gb", 92160, 72, 8},
                          {"7g.180gb", 184320, 0, 16}}}),
  };
  return gpus;
}

}  // namespace fedsim

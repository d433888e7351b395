// -C: names of node features with AND, OR, counts, parentheses and brackets (22.05; sbatch(1)
// "--constraint").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fedsim {

/// How a name is tied to the one behind it.
enum class FeatureTie : std::uint8_t {
  end,
  all,          ///< &
  any,          ///< |
  one_set,      ///< | within brackets: all nodes alike
  counted_set,  ///< & within brackets: so many nodes of each
};

struct FeatureTerm {
  std::string name;
  std::int64_t count = 0;  ///< NAME*COUNT, 0 when not given
  bool in_parentheses = false;
  FeatureTie tie = FeatureTie::end;
};

/// Reads the expression; nothing when Slurm refuses its form. A comma means "&".
std::optional<std::vector<FeatureTerm>> parse_features(std::string text);

/// Whether counts and brackets go together as Slurm wants them.
bool is_consistent(const std::vector<FeatureTerm>& terms);

}  // namespace fedsim

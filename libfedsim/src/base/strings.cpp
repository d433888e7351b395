// StringTable: interned texts (declared in include/fedsim/trace.hpp). It lives in the lowest room
// because request/ and conf/ intern texts too.
#include "fedsim/trace.hpp"

namespace fedsim {

StringTable::StringTable() { intern(""); }

// The index holds views into texts_, so a copy must rebuild it over its own texts.
StringTable::StringTable(const StringTable& other) : texts_(other.texts_) {
  index_.reserve(texts_.size());
  for (std::uint32_t i = 0; i < texts_.size(); ++i) index_.emplace(texts_[i], i);
}

StringTable& StringTable::operator=(const StringTable& other) {
  if (this != &other) {
    StringTable copy(other);
    *this = std::move(copy);
  }
  return *this;
}

StringId StringTable::intern(std::string_view text) {
  const auto found = index_.find(text);
  if (found != index_.end()) return StringId{found->second};
  const auto id = static_cast<std::uint32_t>(texts_.size());
  const std::string& kept = texts_.emplace_back(text);  // a deque never moves its elements
  index_.emplace(kept, id);
  return StringId{id};
}

StringId StringTable::find(std::string_view text) const {
  const auto found = index_.find(text);
  return found == index_.end() ? StringId{} : StringId{found->second};
}

}  // namespace fedsim

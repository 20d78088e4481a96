#ifndef FREESTONE_COMPILER_WEIGHTS_NAMEPATTERNS_H
#define FREESTONE_COMPILER_WEIGHTS_NAMEPATTERNS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace freestone {

/// Patterns of weights' names, with a record of those that matched. `*` stands for any characters, `?` for one; text
/// without either is a name.
class NamePatterns {
public:
  explicit NamePatterns(std::vector<std::string> texts) : texts(std::move(texts)), used(this->texts.size()) {}

  /// The first matching pattern; records all that match.
  std::optional<llvm::StringRef> match(llvm::StringRef name);
  std::optional<std::string> findUnused() const;

private:
  std::vector<std::string> texts;
  std::vector<bool> used;
};

} // namespace freestone

#endif // FREESTONE_COMPILER_WEIGHTS_NAMEPATTERNS_H

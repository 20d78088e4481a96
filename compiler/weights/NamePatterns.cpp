#include "compiler/weights/NamePatterns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace freestone {

std::optional<StringRef> NamePatterns::match(StringRef name) {
  std::optional<StringRef> first;
  for (auto [index, text] : enumerate(texts)) {
    Expected<GlobPattern> pattern = GlobPattern::create(text);
    bool matches = pattern ? pattern->match(name) : name == text;
    if (!pattern)
      consumeError(pattern.takeError());
    if (!matches)
      continue;
    used[index] = true;
    if (!first)
      first = text;
  }
  return first;
}

std::optional<std::string> NamePatterns::findUnused() const {
  for (auto [index, isUsed] : enumerate(used))
    if (!isUsed)
      return texts[index];
  return std::nullopt;
}

} // namespace freestone

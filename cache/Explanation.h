#ifndef FREESTONE_CACHE_EXPLANATION_H
#define FREESTONE_CACHE_EXPLANATION_H

#include "cache/Eviction.h"

namespace freestone::cache {

/// Which ingredients differ: "level: 2, not 1". Of JSON every place: "training.optimizer.kind: sgd, not adamw"; of
/// other texts the first line that differs, and of a long line what is around the first byte that does. The shown texts
/// are never the same.
std::vector<std::string> differences(const Ingredients &one, const Ingredients &other);

/// One paragraph: how `wanted` differs from the entry of its kind that differs in the fewest ingredients.
std::string explainMiss(const Folder &folder, Kind kind, const Ingredients &wanted);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_EXPLANATION_H

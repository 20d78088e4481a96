#ifndef FREESTONE_CACHE_EXPLANATION_H
#define FREESTONE_CACHE_EXPLANATION_H

#include "cache/Eviction.h"

namespace freestone::cache {

/// The ingredients that differ: "level: 2, not 1". For JSON, every place: "training.optimizer.kind: sgd, not adamw";
/// for other texts the first line that differs, shortened around the first difference if long. The two shown texts
/// always differ.
std::vector<std::string> differences(const Ingredients &one, const Ingredients &other);

/// One paragraph: how `wanted` differs from the nearest entry of its kind, the one with the fewest differing
/// ingredients.
std::string explainMiss(const Folder &folder, Kind kind, const Ingredients &wanted);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_EXPLANATION_H

#ifndef FREESTONE_COMPILATION_ORDER_H
#define FREESTONE_COMPILATION_ORDER_H

#include "cache/ModelRequest.h"
#include "compiler/driver/Interface.h"
#include <functional>
#include <string>
#include <vector>

namespace freestone::compilation {

/// The values that a symbolic size may take.
struct SizeRange {
  std::string symbol;
  int64_t lower = 0, upper = INT64_MAX; ///< inclusive; equal: fixed
  int64_t multipleOf = 1;
};

/// What to compile, and how.
struct Order {
  /// The model and what determines the result. `dims` and `binds` follow from `ranges`. `rates` are looked up where
  /// they matter, unless `hasRates` says that they are given.
  cache::ModelOptions what;
  bool hasRates = false; ///< also if they are empty, as those of another rank may be
  std::vector<SizeRange> ranges;
  int jobs = 0;         ///< programs compiled at the same time; 0: as many as CPUs and memory allow
  bool tune = false;    ///< times tilings on this machine
  bool noCache = false; ///< ignores the cache and adds nothing to it but the rates of this machine

  /// Called with each phase, from one thread at a time; "wait": another process makes the same artifact.
  std::function<void(const std::string &phase, int64_t done, int64_t total)> onProgress;
  /// Called at most once with a sentence about an unusable cache.
  std::function<void(const std::string &sentence)> onWarning;
  /// Called with the reasons why what is in the cache does not serve; those of the code come from within the compiler.
  std::function<void(const std::string &sentence)> onMiss;
  /// Called where this machine was measured now, once for all compilations, with the seconds that took.
  std::function<void(double seconds)> onMeasured;
  /// Adds to the options of a compilation, which is not reached on a hit.
  std::function<void(freestone_compile_options &)> complete;
};

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_ORDER_H

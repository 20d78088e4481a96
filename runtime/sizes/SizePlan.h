#ifndef FREESTONE_RUNTIME_SIZES_SIZEPLAN_H
#define FREESTONE_RUNTIME_SIZES_SIZEPLAN_H

#include "runtime/artifact/Descriptor.h"
#include "runtime/artifact/abi.h"
#include "runtime/sizes/Dealer.h"
#include "runtime/sizes/FirstFit.h"
#include "runtime/sizes/Windows.h"
#include <list>
#include <span>
#include <string_view>
#include <vector>

namespace freestone::runtime {

/// All sizes and offsets that follow from the values of an entry's symbols.
struct SizePlan {
  std::vector<int64_t> symbols; ///< values of the input-bound symbols, in order: the key
  std::vector<int64_t> sizes;   ///< all slots; run-time symbols have their upper bounds, or their lower ones
  std::vector<int64_t> offsets; ///< of each buffer: in the arena, or in its base
  int64_t arenaBytes = 0;
  int64_t liveBytes = 0;
  int64_t scratchBytes = 0; ///< of one worker, padded
  Deals deals;
  std::vector<WorkerRange> windows; ///< `windows` of the run context
  std::vector<WorkerRange> windowsWhereClaimed; ///< in runs in which workers claim tiles
};

/// Computes plans of one entry, and caches those of the most recent sizes. An evicted plan's memory is reused for the
/// next, so that alternating sizes allocate nothing, however many there are.
class SizePlanner {
public:
  /// `bind` is the entry's compiled function. The dealer is used by the planner alone.
  SizePlanner(const Entry &entry, int32_t (*bind)(int64_t *sizes), Dealer dealer);

  /// The plan for these values of the input-bound symbols, valid until the next call. Checks assertions and all sizes.
  /// Errors: Mismatch, Internal.
  Result<const SizePlan *> plan(std::span<const int64_t> symbols);

  /// A plan outside of the cache. `values` are those of the input-bound symbols by name. Errors: also InvalidArgument,
  /// for a missing value or an unknown symbol.
  Result<SizePlan> planFor(std::span<const std::pair<std::string_view, int64_t>> values);

  uint64_t binds() const { return bindCount; }
  uint64_t hits() const { return hitCount; }
  const Company &company() const { return dealer.getCompany(); }

private:
  Status compute(SizePlan &plan);
  Status bindSlots(SizePlan &plan);
  Status checkTensor(const SizePlan &plan, const TensorInfo &tensor) const;
  Status placeBuffers(SizePlan &plan);

  const Entry &entry;
  int32_t (*bind)(int64_t *sizes);
  size_t remembered;         ///< capacity of the cache
  std::list<SizePlan> plans; ///< most recently used first
  std::list<SizePlan> spare; ///< at most one: the last evicted or failed plan
  std::vector<Lifetime> lifetimes;
  FirstFit firstFit;
  Dealer dealer;
  WindowPlanner windows;
  uint64_t bindCount = 0, hitCount = 0;
};

/// Checks the assertions on sizes that are bound once phase `after` has run; -1: before a run. Errors: Mismatch, or
/// RunFailed where a run has determined them.
Status checkAssertions(const Entry &entry, int64_t after, std::span<const int64_t> sizes);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_SIZEPLAN_H

#ifndef FREESTONE_RUNTIME_QUEUE_PREPAREDRUN_H
#define FREESTONE_RUNTIME_QUEUE_PREPAREDRUN_H

#include "runtime/Status.h"
#include "runtime/artifact/abi.h"
#include "runtime/platform/Memory.h"
#include "runtime/sizes/Dealer.h"
#include "runtime/workers/RunWatch.h"
#include <memory>
#include <vector>

namespace freestone::runtime {

/// Memory of an output owned by the runtime. DLPack consumers may hold it beyond the instance's lifetime.
struct OutputMemory {
  Block block;
  std::atomic<int> takers = 0;
};

/// Inputs up to this size are copied on submission, so that the caller may change them at once.
constexpr int64_t copiedInputBytes = 64;

/// One run from its binding to its results: the context for compiled code, and the memory of its outputs.
struct PreparedRun {
  struct alignas(64) SmallInput {
    char bytes[copiedInputBytes];
  };

  PreparedRun(size_t bufferCount, size_t slotCount, size_t inputCount, size_t outputCount, Dealer dealer)
      : buffers(bufferCount), sizes(slotCount), dealer(std::move(dealer)), deals(this->dealer.makeRoom()),
        copies(inputCount), packed(inputCount), outputs(outputCount), isCompact(outputCount) {}

  /// `deal_after` of the context, whose `dealer` is the run.
  static void dealAfter(freestone_run_context *context, int64_t phase) {
    auto &run = *static_cast<PreparedRun *>(context->dealer);
    run.dealer.deal(run.sizes, phase + 1, run.deals);
  }

  std::vector<void *> buffers;
  std::vector<int64_t> sizes;
  Dealer dealer; ///< for sizes that the run itself determines
  Deals deals;
  freestone_run_context context = {};
  std::vector<SmallInput> copies;
  std::vector<Block> packed;                          ///< of inputs that are stacks, and of their parts
  std::vector<std::shared_ptr<OutputMemory>> outputs; ///< null where the caller's memory is bound
  std::vector<bool> isCompact;                        ///< of outputs that are stacks: see `compact`

  int64_t number = 0; ///< of the run; 0: none yet
  int64_t job = 0;    ///< in the queue; 0: not queued
  Status status;      ///< set at the end of the run
  WatchedRun watched; ///< until the end of the run
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_QUEUE_PREPAREDRUN_H

#ifndef FREESTONE_RUNTIME_QUEUE_PREPAREDRUN_H
#define FREESTONE_RUNTIME_QUEUE_PREPAREDRUN_H

#include "runtime/Status.h"
#include "runtime/artifact/abi.h"
#include "runtime/platform/Memory.h"
#include "runtime/sizes/Dealer.h"
#include "runtime/sizes/Windows.h"
#include "runtime/workers/Claims.h"
#include "runtime/workers/RunWatch.h"
#include <memory>
#include <vector>

namespace freestone::runtime {

/// Memory of an output owned by the runtime. DLPack consumers may hold it beyond the instance's lifetime.
struct OutputMemory {
  Block block;
  std::string purpose; ///< for errors
  std::atomic<int> takers = 0;
};

/// Inputs up to this size are copied on submission, so that the caller may change them at once.
constexpr int64_t copiedInputBytes = 64;

/// One run from its binding to its results: the context for compiled code, and the memory of its outputs.
struct PreparedRun {
  struct alignas(64) SmallInput {
    char bytes[copiedInputBytes];
  };

  /// Memory that grows with a size which has no limit.
  struct Growth {
    Block *block;
    int64_t slot; ///< of the bytes of each of its slices
    const std::string *purpose;
  };

  PreparedRun(const Entry &entry, Dealer dealer);

  /// Decides whether workers claim tiles from each other; null: they do not.
  void setClaims(Claims *claims);
  /// Lets all memory that grows be as large as the sizes say.
  Status grow() const;
  /// `resize` of the context, whose `run` this is.
  static int32_t resize(freestone_run_context *context, int64_t phase, int64_t symbol);

  const Entry &entry;
  std::vector<void *> buffers;
  std::vector<int64_t> sizes;
  Dealer dealer; ///< for sizes that the run itself determines
  Deals deals;
  std::vector<WorkerRange> windows, windowsWhereClaimed; ///< of the last sizes
  freestone_run_context context = {};
  std::vector<SmallInput> copies;
  std::vector<Block> packed;                          ///< of inputs that are stacks, and of their parts
  std::vector<std::shared_ptr<OutputMemory>> outputs; ///< null where the caller's memory is bound
  std::vector<bool> isCompact;                        ///< of outputs that are stacks: see `compact`
  std::vector<Growth> growths;
  Status unsized;       ///< why a size that the run determined is impossible
  uint64_t resizes = 0; ///< calls of `resize` in the run

  int64_t number = 0; ///< of the run; 0: none yet
  int64_t job = 0;    ///< in the queue; 0: not queued
  Status status;      ///< set at the end of the run
  WatchedRun watched; ///< until the end of the run
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_QUEUE_PREPAREDRUN_H

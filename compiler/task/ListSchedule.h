#ifndef FREESTONE_COMPILER_TASK_LISTSCHEDULE_H
#define FREESTONE_COMPILER_TASK_LISTSCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace freestone::task {

/// An operator on the plane of workers × time: tiles that any workers compute, in any order.
struct PlaneTask {
  int64_t tiles = 1;
  /// Of one worker for all tiles, in nanoseconds.
  double time = 0;
  /// Tasks whose tiles must be done before: lower numbers.
  llvm::SmallVector<int64_t, 4> after;
  /// An earlier task with as many tiles, each of which made what the same tile of this one needs: dealt alike, without
  /// a wait.
  std::optional<int64_t> follows;
  /// The values that it reads or writes, which take memory from their first task to their last.
  llvm::SmallVector<int64_t, 4> values;
};

/// Bytes at each of some samples of the sizes of a run: what needs most at small sizes, such as gradients of weights,
/// need not at large ones.
using SampledBytes = llvm::SmallVector<int64_t, 4>;

/// A task with its place on the plane.
struct PlacedTask {
  int64_t task;
  /// When workers may begin it, and when its last tile is done.
  double begin, done;
  /// Worker w computes tiles [firsts[w], firsts[w + 1]).
  std::vector<int64_t> firsts;
};

/// Lays tasks on the plane in a given order, as the runtime does (runtime/sizes/Plane): a worker waits for all workers
/// that compute what a task comes after.
std::vector<PlacedTask> layInOrder(llvm::ArrayRef<PlaneTask> tasks, llvm::ArrayRef<int64_t> order, size_t workers);
/// When the last task is done.
double getMakespan(llvm::ArrayRef<PlacedTask> placed);

/// The most bytes of values that are live at a time; `bytes` are those of each value, all with the same samples.
SampledBytes getMostLive(llvm::ArrayRef<PlaneTask> tasks, llvm::ArrayRef<SampledBytes> bytes,
                         llvm::ArrayRef<int64_t> order);

/// An order in which tasks are done early: a list schedule (Graham, 1966) over the plane (Ma et al., "Rammer", OSDI
/// 2020). Of the tasks that are ready it takes one for which no worker has to wait, or waits least; then the one with
/// the longest way to the end. Where all of these are far from what no order beats, a beam search looks further ahead.
/// No task is taken that would need more memory, at any sample, than the given order does, nor than that order in which
/// tasks are postponed until they fit, as far as it takes no longer but for `least` of the makespan; that order is kept
/// unless another one is shorter by `least`.
llvm::SmallVector<int64_t> scheduleTasks(llvm::ArrayRef<PlaneTask> tasks, llvm::ArrayRef<SampledBytes> bytes,
                                         size_t workers, double least = 0.01);

/// What no order beats: the longest way through the tasks, and all work divided by the workers.
double getLowerBound(llvm::ArrayRef<PlaneTask> tasks, size_t workers);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_LISTSCHEDULE_H

#ifndef FREESTONE_COMPILER_TASK_HAPPENSBEFORE_H
#define FREESTONE_COMPILER_TASK_HAPPENSBEFORE_H

#include "compiler/task/AwaitedWorkers.h"
#include "compiler/task/Execution.h"
#include <string>
#include <vector>

namespace freestone::task {

/// The bytes that one worker touches in one space of one phase, or by reading a condition. `begin` is an offset into
/// the arena, or into the buffer's own bytes.
struct Access {
  /// Of the execution.
  int64_t step;
  /// Counted through the whole execution.
  int64_t space;
  int64_t worker;
  /// Nothing for what is claimed, read by all workers, or written by worker 0 without tiles.
  std::optional<int64_t> deal;
  /// Index of the program's buffer; the number of buffers stands for the sizes determined at run time, greater ones for
  /// how tiles are dealt behind the phases that determine them.
  int64_t buffer;
  /// The step that began the iteration in which the buffer lives; 0 if it lives longer.
  int64_t life;
  /// -1: the arena; else the buffer, which aliases no other.
  int64_t memory;
  int64_t begin, end;
  bool write;
  /// The extent is exact for this worker's tiles, so workers of one space can't conflict here.
  bool exact;
};

/// Every access of an execution of `program`, at the sizes of `valueOf`, with tiles as they are dealt and arena buffers
/// at `offsets`, in the order of the program's arena buffers.
std::vector<Access> collectAccesses(ProgramOp program, const Execution &execution, const Dealing &dealing,
                                    llvm::ArrayRef<int64_t> offsets, Execution::Valuation valueOf);

/// The proof of order. Proves that any two accesses of different workers to the same bytes, at least one of them a
/// write, are ordered by the program's edges (its waits, and the order of phases on a worker whose tiles are dealt
/// alike), however the other tiles are dealt, and that no buffer is overwritten during its live range. At windows,
/// workers wait for those of `awaited`, with these deals. Returns nothing, or a sentence that names the two phases.
/// Independent of the planning of edges and memory: it considers only waits and accesses.
std::optional<std::string> findConflict(const Execution &execution, llvm::ArrayRef<Access> accesses,
                                        const AwaitedWorkers &awaited);

/// Proves that every dependence between two phases is joined by an edge, or implied by edges, even where both phases
/// touch the bytes on one worker. Returns nothing, or a sentence that names the two phases.
std::optional<std::string> findMissingEdge(const Execution &execution, llvm::ArrayRef<Access> accesses,
                                           const AwaitedWorkers &awaited);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_HAPPENSBEFORE_H

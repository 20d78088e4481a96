#ifndef FREESTONE_COMPILER_TASK_HAPPENSBEFORE_H
#define FREESTONE_COMPILER_TASK_HAPPENSBEFORE_H

#include "compiler/dialect/task/TaskDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace freestone::task {

/// Bytes that one worker touches in one space of one phase. `begin` is an offset into the arena, or into the buffer's
/// own bytes.
struct Access {
  int64_t phase;
  /// Counted through the whole program.
  int64_t space;
  int64_t worker;
  /// Index in the program's buffers; one more than the last stands for the sizes that the program itself gives a value.
  int64_t buffer;
  /// -1: the arena; else the buffer, which shares bytes with no other.
  int64_t memory;
  int64_t begin, end;
  bool write;
  /// The worker's tiles are known to touch these bytes alone, so that workers of one space can't meet here.
  bool exact;
};

/// Every access of `program` for W `workers` at the sizes that `valueOf` gives; arena buffers lie at `offsets`, in the
/// order of the program's arena buffers.
std::vector<Access> collectAccesses(ProgramOp program, int64_t workers, llvm::ArrayRef<int64_t> offsets,
                                    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf);

/// Proves that any two accesses of different workers to the same bytes, one of them a write, are ordered by the
/// program's edges (by its waits, and by the order in which each worker runs its phases), and that no buffer is written
/// over while it is still read. Returns nothing, or a sentence that names the two phases. Knows nothing of how edges
/// and memory were planned: it looks at `after all` and at the accesses alone.
std::optional<std::string> findConflict(ProgramOp program, llvm::ArrayRef<Access> accesses);

/// Proves that every two phases of which one needs the other's bytes are joined by edges, `all` or `same`, or by what
/// these imply, also where both touch them on one worker. Returns nothing, or a sentence that names the two phases.
std::optional<std::string> findMissingEdge(ProgramOp program, llvm::ArrayRef<Access> accesses);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_HAPPENSBEFORE_H

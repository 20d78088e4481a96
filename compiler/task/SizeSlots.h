#ifndef FREESTONE_COMPILER_TASK_SIZESLOTS_H
#define FREESTONE_COMPILER_TASK_SIZESLOTS_H

#include "compiler/dialect/task/TaskDialect.h"

namespace freestone::task {

/// The numbering of every size that an entry needs while it runs: its symbols, in their order, then each further expression once.
/// The compiled `bind` fills the slots of expressions from those of symbols; the descriptor and the compiled `run` refer to slots.
class SizeSlots {
public:
  /// Numbers all sizes of `program`: bytes of buffers, dimensions of inputs and outputs, sizes, tiles, scratch and views of spaces, both
  /// sides of assertions, bounds of run-time symbols; last, counts of operations.
  explicit SizeSlots(ProgramOp program);

  /// The slot of an expression that the program has.
  int64_t of(sym::Expr expr) const;
  int64_t count() const { return exprs.size(); }
  int64_t symbolCount() const { return symbols; }
  /// The expression of each slot.
  llvm::ArrayRef<sym::Expr> getExprs() const { return exprs; }
  /// Bytes of scratch that one worker needs, the runtime's header included.
  sym::Expr getScratch() const { return scratch; }
  /// Floating-point operations of a run, and what it computes besides and throws away; invalid where they grow too long to count.
  sym::Expr getOperations() const { return operations; }
  sym::Expr getPadding() const { return padding; }
  /// Slots from here on are counts: one that overflows is no fault.
  int64_t checkedCount() const { return checked; }

private:
  void add(sym::Expr expr);

  llvm::SmallVector<sym::Expr> exprs;
  llvm::DenseMap<sym::Expr, int64_t> slots;
  int64_t symbols = 0, checked = 0;
  sym::Expr scratch, operations, padding;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_SIZESLOTS_H

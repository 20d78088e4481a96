#ifndef FREESTONE_COMPILER_TASK_SIZESLOTS_H
#define FREESTONE_COMPILER_TASK_SIZESLOTS_H

#include "compiler/dialect/task/TaskDialect.h"

namespace freestone::task {

/// The numbering of every size that an entry needs while it runs: its symbols, in their order, then each further
/// expression once. The compiled `bind` fills the slots of expressions from those of symbols; the descriptor and the
/// compiled `run` refer to slots.
class SizeSlots {
public:
  /// Numbers all sizes of `program`: bytes of buffers, dimensions of inputs and outputs, sizes, tiles, scratch and
  /// views of spaces, both sides of assertions, bounds of run-time symbols; last, counts of operations.
  explicit SizeSlots(ProgramOp program);

  /// The slot of an expression that the program has.
  int64_t of(sym::Expr expr) const;
  int64_t count() const { return exprs.size(); }
  int64_t symbolCount() const { return symbols; }
  /// The expression of each slot.
  llvm::ArrayRef<sym::Expr> getExprs() const { return exprs; }
  /// Bytes of scratch that one worker needs, the runtime's header included. What is derived from many sizes, as this
  /// and the counts below, is an expression over their slots (see getSlot): written in the symbols of the entry it
  /// could grow without bound.
  sym::Expr getScratch() const { return scratch; }
  /// Floating-point operations of a run, and what it computes besides and throws away; invalid where they grow too long
  /// to count.
  sym::Expr getOperations() const { return operations; }
  sym::Expr getPadding() const { return padding; }
  /// The same in the symbols of the entry, for people; invalid where that is long.
  sym::Expr getReadable(sym::Expr count) const;
  /// Slots from here on are counts: one that overflows is no fault.
  int64_t checkedCount() const { return checked; }

  /// The slot that a symbol of a derived expression stands for; nothing for symbols of the entry.
  static std::optional<int64_t> getSlot(llvm::StringRef symbol);

private:
  void add(sym::Expr expr);
  /// The size of this expression, as derived expressions refer to it.
  sym::Expr reference(sym::Expr expr);

  llvm::SmallVector<sym::Expr> exprs;
  llvm::DenseMap<sym::Expr, int64_t> slots;
  int64_t symbols = 0, checked = 0;
  sym::Expr scratch, operations, padding;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_SIZESLOTS_H

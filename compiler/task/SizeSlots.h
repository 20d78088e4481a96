#ifndef FREESTONE_COMPILER_TASK_SIZESLOTS_H
#define FREESTONE_COMPILER_TASK_SIZESLOTS_H

#include "compiler/dialect/task/TaskDialect.h"

namespace freestone::task {

/// Numbers every size that an entry needs at run time: its symbols, in their order, then each further expression once.
/// The compiled `bind` computes the slots of expressions from those of symbols; the descriptor and the compiled `run`
/// refer to slots.
class SizeSlots {
public:
  /// Numbers all sizes of `program`: bytes of buffers, dimensions of inputs and outputs, sizes, tiles, scratch and
  /// views of spaces, both sides of assertions, bounds of run-time symbols; last, times,
  /// blocks of windows, and counts of operations.
  explicit SizeSlots(ProgramOp program);

  /// The slot of an expression of the program.
  int64_t of(sym::Expr expr) const;
  int64_t count() const { return exprs.size(); }
  int64_t symbolCount() const { return symbols; }
  /// The expression of each slot.
  llvm::ArrayRef<sym::Expr> getExprs() const { return exprs; }
  /// Bytes of scratch of one worker, with the runtime's header. This and the counts below derive from many sizes, so
  /// they are expressions over slots (see getSlot): over the entry's symbols they could grow without bound.
  sym::Expr getScratch() const { return scratch; }
  /// Floating-point operations of a run, and those on padding; invalid where the expressions grow too large.
  sym::Expr getOperations() const { return operations; }
  sym::Expr getPadding() const { return padding; }
  /// The count over the entry's symbols, for users; invalid where that is long, or has sizes that the entry defines.
  sym::Expr getReadable(sym::Expr count) const;
  /// Slots from here on are times and counts, whose overflow is no error.
  int64_t checkedCount() const { return checked; }

  /// The slot that a symbol of a derived expression refers to; nothing for symbols of the entry.
  static std::optional<int64_t> getSlot(llvm::StringRef symbol);

private:
  void add(sym::Expr expr);
  /// The expression's slot, as derived expressions refer to it.
  sym::Expr reference(sym::Expr expr);

  llvm::SmallVector<sym::Expr> exprs;
  llvm::DenseMap<sym::Expr, int64_t> slots;
  llvm::SmallDenseSet<mlir::StringAttr> defined;
  int64_t symbols = 0, checked = 0;
  sym::Expr scratch, operations, padding;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_SIZESLOTS_H

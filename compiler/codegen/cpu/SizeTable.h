#ifndef FREESTONE_COMPILER_CODEGEN_CPU_SIZETABLE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_SIZETABLE_H

#include "compiler/codegen/cpu/SizeSteps.h"
#include "compiler/task/SizeSlots.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::codegen {

/// The table from which the `bind` of an entry computes all sizes, step by step (`SizeStep`); the function that does so
/// is among the builtins. Code for each size would be as large as the model, and run once. What several sizes have in
/// common is computed once.
class SizeTable {
public:
  SizeTable(task::ProgramOp program, const task::SizeSlots &slots);

  llvm::ArrayRef<int64_t> getWords() const { return words; }
  /// How many values the steps need besides slots.
  int64_t getNumValues() const { return numValues; }

private:
  void add(sym::Expr expr, int64_t target);
  void addAtom(sym::Expr atom, int64_t target);
  /// The index of a value, for which it adds a step where there is none yet.
  int64_t indexOf(sym::Expr expr);

  int64_t slotCount, numValues = 0;
  llvm::StringMap<int64_t> symbols;
  llvm::DenseMap<sym::Expr, int64_t> known;
  llvm::SmallVector<int64_t> words;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_SIZETABLE_H

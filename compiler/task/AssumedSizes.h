#ifndef FREESTONE_COMPILER_TASK_ASSUMEDSIZES_H
#define FREESTONE_COMPILER_TASK_ASSUMEDSIZES_H

#include "compiler/dialect/task/TaskDialect.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::task {

/// Evaluates sizes of a program where all its symbols have one value, as far as their bounds allow: 1 where operators
/// have few tiles, so that their order matters; more where memory matters.
class AssumedSizes {
public:
  AssumedSizes(ProgramOp program, int64_t value);

  /// A very large number where the size leaves 64 bits.
  int64_t evaluate(sym::Expr size) const;

private:
  llvm::StringMap<int64_t> values;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_ASSUMEDSIZES_H

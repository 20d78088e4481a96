#ifndef FREESTONE_COMPILER_TILE_TYPICALRUNS_H
#define FREESTONE_COMPILER_TILE_TYPICALRUNS_H

#include "compiler/tile/Cost.h"

namespace freestone::tile {

/// Values of the sizes in a program, one set for each way in which it is typically run.
class TypicalRuns {
public:
  /// Of an outlined program: the sizes of its calls. Run-time sizes of which nothing is known count as one, few, some
  /// and many.
  explicit TypicalRuns(ProgramOp program);
  /// Of computes within a function.
  explicit TypicalRuns(TypicalSizes sizes);

  /// The value of a size in every run, in order, within these: products of three sizes fit 64 bits, and larger sizes
  /// change no choice.
  static constexpr int64_t least = 1, most = 1 << 20;
  llvm::SmallVector<int64_t> evaluate(sym::Expr size) const;
  /// The same runs of a part of the program, with values of further symbols.
  TypicalRuns with(llvm::ArrayRef<std::pair<sym::Expr, sym::Expr>> values) const;

private:
  using Values = llvm::StringMap<int64_t>;

  /// One for each run, of the program's symbols; or those of the function with one number for all that is unknown.
  llvm::SmallVector<Values> runs;
  TypicalSizes sizes;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TYPICALRUNS_H

#ifndef FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONPOINTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONPOINTS_H

#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::codegen {

/// The points of a contraction's loops, with symbols for their positions; shared by all parts of its emission.
struct ContractionPoints {
  /// Operands are packed with vectors of `lanes` elements, which are words of `stepsOfWord` steps of k.
  ContractionPoints(Emission &emission, tile::ContractionForm &form, int64_t lanes, int64_t stepsOfWord = 1);

  /// The memory index of an input's element at a point, in elements.
  sym::Expr getLinearIndex(tile::ContractionForm &form, unsigned input) const;

  unsigned lanes;
  /// Steps of k in one step of the micro-kernel: 2 for pair products, else 1.
  int64_t stepsOfWord;
  sym::Expr m, n, k;
  /// The position of each loop, over these symbols and those of `outer`.
  llvm::SmallVector<sym::Expr> loops;
  /// The values of the outer loops' symbols in the current tile.
  Positions outer;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONPOINTS_H

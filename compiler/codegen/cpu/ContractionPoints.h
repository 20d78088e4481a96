#ifndef FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONPOINTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONPOINTS_H

#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::codegen {

/// What all parts of a contraction's emission speak of: the points of its loops, named by symbols.
struct ContractionPoints {
  /// Operands are packed in vectors of `lanes` elements.
  ContractionPoints(Emission &emission, tile::ContractionForm &form, int64_t lanes);

  /// Where the element of an input that a point takes lies, in elements.
  sym::Expr getLinearIndex(tile::ContractionForm &form, unsigned input) const;

  unsigned lanes;
  /// Steps of k in one of the micro-kernel: two where it multiplies pairs.
  int64_t stepsOfWord;
  sym::Expr m, n, k;
  /// Where each loop stands, over these and the symbols of `outer`.
  llvm::SmallVector<sym::Expr> loops;
  /// The values of the outer loops' symbols in the tile at hand.
  Positions outer;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONPOINTS_H

#ifndef FREESTONE_COMPILER_TILE_ROWSTOGETHER_H
#define FREESTONE_COMPILER_TILE_ROWSTOGETHER_H

#include "compiler/plan/RowPasses.h"

namespace freestone::tile {

/// Rows whose passes go together, where a row has at most `shortRow` elements: what one row waits for, its sums and
/// what follows from them, is computed while the processor is busy with the others.
struct RowsTogether {
  int64_t rows = 1, shortRow = 0;

  /// For passes whose vectors have so many lanes.
  static RowsTogether choose(const RowPasses &passes, unsigned rowLoops, llvm::ArrayRef<int64_t> lanes);
};

/// Operations of one vector in all passes.
int64_t countOperations(const RowPasses &passes);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ROWSTOGETHER_H

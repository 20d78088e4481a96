#ifndef FREESTONE_COMPILER_TILE_LEVELTRAFFIC_H
#define FREESTONE_COMPILER_TILE_LEVELTRAFFIC_H

#include "compiler/tile/CostModel.h"
#include "compiler/tile/TypicalRuns.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::tile {

/// Bytes of lines that a run of a program fetches into each level of memory of its workers, lines that it only writes
/// included. What goes back is not counted.
struct FetchedBytes {
  double l1 = 0, l2 = 0, l3 = 0;
};

/// Predicts them for one worker and runs one after the other: a level fetches what the program has to move (Traffic)
/// if it does not hold all of that beside the scratch; and, by the tiling, what it does not hold from one use to the
/// next. `valueOf` evaluates sizes of the program, which has a plan.
FetchedBytes predictFetched(ProgramOp program, const DeviceRates &rates,
                            llvm::function_ref<int64_t(sym::Expr)> valueOf);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LEVELTRAFFIC_H

#ifndef FREESTONE_COMPILER_TILE_ROWRUNS_H
#define FREESTONE_COMPILER_TILE_ROWRUNS_H

#include "compiler/plan/RowPasses.h"

namespace freestone::tile {

/// The number of loops of a pass over the elements of a row. One loop over all of them fills most lanes. Where memory
/// has gaps between the runs of the innermost loop, every run begins a vector, so that vectors need no gathering.
int64_t chooseRunLoops(const RowPasses &passes, unsigned pass, unsigned rowLoops);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ROWRUNS_H

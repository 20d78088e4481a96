#ifndef FREESTONE_COMPILER_TILE_ROWRUNS_H
#define FREESTONE_COMPILER_TILE_ROWRUNS_H

#include "compiler/plan/RowPasses.h"

namespace freestone::tile {

/// The number of inner loops of a pass over the elements of a row. Merging all loops fills most vector lanes. If memory
/// has gaps between the runs of the innermost loop, each run starts a vector, so that no vector needs gathering.
int64_t chooseRunLoops(const RowPasses &passes, unsigned pass, unsigned rowLoops);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ROWRUNS_H

#ifndef FREESTONE_COMPILER_TILE_APPENDCARRIED_H
#define FREESTONE_COMPILER_TILE_APPENDCARRIED_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::tile {

/// Lets values that a loop carries become longer where they lie: where the next one is the last one and more behind it
/// along an axis, only that is written. The axis comes first within the loop, so that what was there stays where it is.
/// Slices along another axis may be taken of it, as a search takes its beams: only those that change are copied.
/// Returns the number of these values.
int64_t appendCarried(graph::WhileOp loop);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_APPENDCARRIED_H

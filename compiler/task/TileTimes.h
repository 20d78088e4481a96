#ifndef FREESTONE_COMPILER_TASK_TILETIMES_H
#define FREESTONE_COMPILER_TASK_TILETIMES_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::task {

/// The nanoseconds that one worker of the device needs for all tiles of a program with a plan, over the program's
/// symbols: a rough estimate, for weighing programs against each other. The micro-kernels' products run near the peak,
/// bodies at an addition a lane and cycle; bytes come from L2.
sym::Expr estimateTime(tile::ProgramOp program, const DeviceDescription &device);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_TILETIMES_H

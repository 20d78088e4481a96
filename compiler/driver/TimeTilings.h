#ifndef FREESTONE_COMPILER_DRIVER_TIMETILINGS_H
#define FREESTONE_COMPILER_DRIVER_TIMETILINGS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/driver/Options.h"
#include "compiler/tile/ExplainTiles.h"
#include <optional>

namespace freestone::driver {

/// The values of a program's symbols in one run; nothing if it is not timed.
using RunSizes = std::optional<llvm::SmallVector<int64_t>>;

/// Times a program on this machine with each of these tilings, at the sizes of every run, on zeros: by one worker, and
/// by all if there are several. Nothing if the program can't be run by itself.
llvm::SmallVector<tile::TimedTiling> timeTilings(tile::ProgramOp program, llvm::ArrayRef<tile::TreeTilingAttr> tilings,
                                                 llvm::ArrayRef<RunSizes> runs, const Options &options,
                                                 const DeviceDescription &device);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_TIMETILINGS_H

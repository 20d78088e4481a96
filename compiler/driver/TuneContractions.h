#ifndef FREESTONE_COMPILER_DRIVER_TUNECONTRACTIONS_H
#define FREESTONE_COMPILER_DRIVER_TUNECONTRACTIONS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/driver/Options.h"
#include "compiler/tile/ExplainTiles.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::driver {

/// What tuning a module did.
struct Tuning {
  /// Contractions of which times are known, those among them whose times are from the cache, and those whose tiling
  /// another one replaced.
  int64_t tuned = 0, found = 0, replaced = 0;
  /// By program.
  tile::TimedTilings times;
};

/// Replaces constructed tilings of a tiled module by faster ones: times the best candidates of every contraction on
/// this machine, at typical sizes, each in a program of its own on zeros. Times are kept in the cache of `options`. The
/// time spent is bounded, and what can't be timed keeps the tiling that the model predicts to be the best.
Tuning tuneContractions(mlir::ModuleOp module, const Options &options, const DeviceDescription &device);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_TUNECONTRACTIONS_H

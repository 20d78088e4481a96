#ifndef FREESTONE_COMPILER_DRIVER_PIPELINES_H
#define FREESTONE_COMPILER_DRIVER_PIPELINES_H

#include "compiler/driver/Options.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace freestone::driver {

// The levels of lowering. Each pipeline takes a module that the previous one left, and leaves a legal module.

/// graph → graph: decomposes composites, folds constants, eliminates common subexpressions.
void addGraphPipeline(mlir::OpPassManager &passes, const Options &options);

/// graph → tile: operators become programs, fused, laid out and tiled.
void addTilePipeline(mlir::OpPassManager &passes, const Options &options);

/// tile → task: one phase a call, edges between phases, memory planned.
void addTaskPipeline(mlir::OpPassManager &passes, const Options &options);

/// Analysis only: proves that phases which touch the same bytes are ordered.
void addOrderCheck(mlir::OpPassManager &passes, const Options &options);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PIPELINES_H

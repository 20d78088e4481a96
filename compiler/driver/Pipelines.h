#ifndef FREESTONE_COMPILER_DRIVER_PIPELINES_H
#define FREESTONE_COMPILER_DRIVER_PIPELINES_H

#include "compiler/driver/Options.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace freestone::driver {

// The way of a program, level by level. Each takes a module that the one before left, and leaves one that is legal.

/// graph → graph: composites become core operators, what is known is folded, what is equal is computed once.
void addGraphPipeline(mlir::OpPassManager &passes, const Options &options);

/// graph → tile: operators become programs, fused, laid out and tiled.
void addTilePipeline(mlir::OpPassManager &passes, const Options &options);

/// tile → task: one phase a call, edges between them, memory planned.
void addTaskPipeline(mlir::OpPassManager &passes, const Options &options);

/// Changes nothing: proves that phases which touch the same bytes are ordered.
void addOrderCheck(mlir::OpPassManager &passes, const Options &options);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PIPELINES_H

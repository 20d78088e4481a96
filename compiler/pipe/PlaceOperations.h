#ifndef FREESTONE_COMPILER_PIPE_PLACEOPERATIONS_H
#define FREESTONE_COMPILER_PIPE_PLACEOPERATIONS_H

#include "compiler/pipe/CutFunction.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::pipe {

/// The passes of a micro-batch through a stage.
enum class PassKind { Forward, InputGradient, WeightGradient, Recompute };

/// Where an operation is computed.
struct Place {
  PassKind pass = PassKind::Forward;
  /// The operation of the forward pass that it belongs to, by number.
  int64_t node = 0;
  int64_t stage = 0;
};

/// The stages of the states of a training: a state that a stage updates is at home there. Small states that no stage
/// updates by itself are everywhere.
struct StateStages {
  llvm::StringMap<int64_t> homes;
  /// All stages that read a state that does not change in a micro-batch, in ascending order.
  llvm::StringMap<llvm::SmallVector<int64_t>> readers;
};

/// Places the operations of a micro-batch's function (`apart` in step/TrainingStep): the forward pass by the given
/// stages, and the rest so that little is sent.
///
/// What the loss depends on, and what no gradient depends on, is the forward pass; its operations that are not free are
/// the nodes, in their order. Every other operation belongs to a node: a gradient of a weight to the last node that
/// reads it before the gradient's own, any other one to the last node whose weights it reads, or else whose activations,
/// none behind the nodes of the gradients that it reads. So gradients go from later stages to earlier ones.
class PlacedOperations {
public:
  /// `stages`: of each node; empty: all on stage 0.
  PlacedOperations(mlir::func::FuncOp function, FreeOperations &free, llvm::ArrayRef<int64_t> stages)
      : function(function), free(free), stages(stages) {}

  /// Fails with a message where the list of stages has another length than there are nodes, or a node reads what a
  /// later stage makes.
  mlir::LogicalResult place();

  llvm::ArrayRef<mlir::Operation *> getNodes() const { return nodes; }
  const llvm::DenseMap<mlir::Operation *, Place> &getPlaces() const { return places; }
  int64_t getStageCount() const { return stageCount; }
  StateStages getStateStages();

private:
  void findForward();
  mlir::LogicalResult verify();
  void findReaders();
  void findTargets();
  void placeGradients();
  void placeLeaves();
  void splitGradients();
  Place placeGradient(mlir::Operation *op);
  int64_t stageOf(int64_t node) const { return stages.empty() ? 0 : stages[node]; }

  mlir::func::FuncOp function;
  FreeOperations &free;
  llvm::ArrayRef<int64_t> stages;
  int64_t stageCount = 1;
  llvm::SmallVector<mlir::Operation *> nodes;
  llvm::DenseMap<mlir::Operation *, Place> places;
  /// The nodes that read each parameter, ascending.
  llvm::DenseMap<int64_t, llvm::SmallVector<int64_t>> readers;
  /// The only parameter whose gradient needs an operation; -1: several.
  llvm::DenseMap<mlir::Operation *, int64_t> targets;
};

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_PLACEOPERATIONS_H

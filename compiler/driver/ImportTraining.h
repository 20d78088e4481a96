#ifndef FREESTONE_COMPILER_DRIVER_IMPORTTRAINING_H
#define FREESTONE_COMPILER_DRIVER_IMPORTTRAINING_H

#include "compiler/import/ImportOnnx.h"
#include "compiler/step/TrainingStep.h"

namespace freestone::driver {

/// The cut of a step into the stages of a pipeline, and the stage to compile.
struct PipelineOptions {
  /// Of every operation of the forward pass; empty: one stage.
  std::vector<int64_t> stages;
  int64_t stage = 0;
  /// Gradients of inputs and of weights are entries of their own.
  bool split = false;
  /// The stages whose gradients compute their forward pass anew.
  std::vector<int64_t> recompute;
};

/// All options of a training step.
struct TrainingOptions {
  step::ParameterPatterns patterns;
  /// Graphs of losses and optimizers are read from these files, if named.
  step::StepChoice step;
  std::string lossFile, optimizerFile;
  /// See ImportOptions.
  bool freezeNorm = false, noDropout = false;
  int64_t maxTrip = 0;
  /// See grad::RecomputePolicy.
  std::string recompute = "none";
  /// Typical batch size, and typical elements of a sample along its other symbolic dimensions; 0: unknown.
  int64_t batchHint = 0, lengthHint = 0;
  /// Columns of a packed panel for contractions; 0: all parameters are stored row-major.
  int64_t panelWidth = 0;
  /// Whether products leave scans before the model is differentiated, so that weight gradients are those of all slices at
  /// once.
  bool scanProducts = true;
  /// Whether blocks of weights that are put into another order stay where they are, and so do those of their gradients.
  bool blockOrders = true;
  /// The step's update is then apart (see step::StepChoice).
  std::optional<PipelineOptions> pipeline;
};

/// A training step and its description for the trainer.
struct ImportedTraining {
  /// Its module holds `@main`, one step, `@evaluate` and, if requested, `@accumulate` and `@update`, which share their
  /// states. Its report lists the inputs of the step.
  ImportedModel model;
  std::vector<step::Parameter> parameters;
  step::StepPorts ports;
  /// The usual values of sizes of the data, where they were given.
  llvm::StringMap<int64_t> sizeHints;
};

/// Reads the model at `path` in training and inference form, and turns it into a training step. Fails as `importOnnx`
/// does; a fault of kind Usage is an option that does not fit the model. The module is null iff the report has
/// unsupported nodes.
mlir::FailureOr<ImportedTraining> importTraining(mlir::MLIRContext *context, llvm::StringRef path,
                                                 const ImportOptions &options, const TrainingOptions &training,
                                                 ImportError &error);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_IMPORTTRAINING_H

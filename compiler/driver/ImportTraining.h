#ifndef FREESTONE_COMPILER_DRIVER_IMPORTTRAINING_H
#define FREESTONE_COMPILER_DRIVER_IMPORTTRAINING_H

#include "compiler/import/ImportOnnx.h"
#include "compiler/step/TrainingStep.h"

namespace freestone::driver {

/// All that decides what a training step is, besides the model.
struct TrainingOptions {
  step::ParameterPatterns patterns;
  /// Graphs of it are read from these files, if they are named.
  step::StepChoice step;
  std::string lossFile, optimizerFile;
  /// See ImportOptions.
  bool freezeNorm = false, noDropout = false;
  /// See grad::RecomputePolicy.
  std::string recompute = "none";
  /// Samples of a batch and elements of each along its other symbolic dimensions, as they usually are; 0: not known.
  int64_t batchHint = 0, lengthHint = 0;
  /// Of the panels that contractions read; 0: all parameters are stored row-major.
  int64_t panelWidth = 0;
};

/// A training step, and what its user must know of it.
struct ImportedTraining {
  /// Its module holds `@main`, one step, `@evaluate` and, if asked for, `@accumulate`, which share their states. The
  /// inputs that its report tells are those of the step.
  ImportedModel model;
  std::vector<step::Parameter> parameters;
  step::StepPorts ports;
};

/// Reads the model at `path` in both forms, and turns it into a training step. Fails as `importOnnx` does; a fault of
/// kind Usage is an option that does not fit the model. The module is null iff the report has unsupported nodes.
mlir::FailureOr<ImportedTraining> importTraining(mlir::MLIRContext *context, llvm::StringRef path,
                                                 const ImportOptions &options, const TrainingOptions &training,
                                                 ImportError &error);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_IMPORTTRAINING_H

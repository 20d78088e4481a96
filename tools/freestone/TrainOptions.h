// The user's options of a training.
#ifndef FREESTONE_TOOLS_FREESTONE_TRAINOPTIONS_H
#define FREESTONE_TOOLS_FREESTONE_TRAINOPTIONS_H

#include "freestone/trainer.h"
#include "tools/freestone/CompileArguments.h"
#include "tools/freestone/PipelineTraining.h"
#include "tools/freestone/RuntimeOptions.h"
#include "train/data/ArrayFiles.h"
#include "train/options/StepText.h"

namespace freestone::tools {

/// Options of `freestone train`: those of applications, and those of the command only.
struct TrainOptions {
  CompileArguments compile;
  std::string model;
  TrainerOptions step;
  FitOptions fit;
  std::string classWeights; ///< an array of the data, or a file
  std::string resume, output;
  bool readEachStep = false, plan = false, compileOnly = false;
  RuntimeOptions runtime;
  PipelineArguments pipeline;

  void addTo(CLI::App &verb);

  /// Shape and type of the labels, from which the compiler finds the class axis; `data` may be null. Throws Failure
  /// (usage) where the data have no labels.
  train::LabelFacts labelFacts(const train::ArrayFiles *data) const;
  /// The training step in the compiler's JSON.
  std::string describeStep(const train::LabelFacts &labels, train::FirstNumbers first) const;
  /// The most tokens of a sample; 0: unknown.
  int64_t usualLength() const;
  /// What is cut into stages; `step` is as describeStep gives it, `data` may be null.
  PipelineModel pipelineModel(std::string step, const train::ArrayFiles *data) const;
  /// Throws Failure (usage) for an invalid schedule, and for a given number that the schedule varies.
  void checkSchedule() const;
  /// Throws Failure (usage) for an option that a compiled step has fixed already.
  void refuseCompiledIn(const CLI::App &verb) const;

private:
  void addData(CLI::App &verb);
  void addLoss(CLI::App &verb);
  void addOptimizer(CLI::App &verb);
  void addChoiceOfParameters(CLI::App &verb);
  void addPrecision(CLI::App &verb);
  void addRun(CLI::App &verb);
  CLI::Option *addNamed(CLI::App &verb, const std::string &option, const std::string &key, const std::string &what);
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TRAINOPTIONS_H

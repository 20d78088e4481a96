// What the user says about a training, and the JSON that the compiler takes of it.
#ifndef FREESTONE_TOOLS_FREESTONE_TRAINOPTIONS_H
#define FREESTONE_TOOLS_FREESTONE_TRAINOPTIONS_H

#include "train/Schedule.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/RuntimeOptions.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace freestone::tools {

/// Options of `freestone train`, as given.
struct TrainOptions {
  CompileArguments compile;
  std::string model;
  std::vector<std::string> data, evaluationData;
  std::string window;
  std::string labels, logits, loss = "softmax-cross-entropy";
  std::optional<int64_t> classAxis;
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0, huberDelta = 1;
  std::string classWeights;
  std::string recompute = "none", optimizer = "adamw", precision = "fp32", moments = "fp32", schedule = "constant";
  std::optional<double> learningRate, clipNorm;
  /// By PyTorch's names; `--betas` gives beta1 and beta2.
  std::map<std::string, double> numbers;
  std::vector<double> betas;
  bool nesterov = false, amsgrad = false, centered = false;
  int64_t warmup = 0, batch = 32, accumulate = 1, epochs = 1, saveEvery = 0, stepEvery = 0;
  std::optional<double> initialScale;
  bool noLossScaling = false, readEachStep = false;
  int keep = 3;
  std::optional<int64_t> steps;
  uint64_t seed = 0;
  bool noShuffle = false, freezeNorm = false, noDropout = false, plan = false, compileOnly = false;
  std::vector<std::string> train, freeze, noDecay;
  std::string folder = "run", resume, output;
  RuntimeOptions runtime;

  void addTo(CLI::App &verb);

  /// What the data tell of the step.
  struct DataFacts {
    std::string labelType;           ///< empty: not known
    std::vector<int64_t> labelSizes; ///< -1 for those that vary
    std::vector<double> classWeights;
  };
  /// The training step as the compiler reads it.
  std::string describeStep(const DataFacts &facts) const;
  /// Of the loss: that of fp16, or because one of its numbers is given.
  bool scalesLoss() const;
  /// The name that the labels have as an input of the step, empty where there are none.
  std::string labelInput() const;
  bool isModelsOwnLoss() const { return loss.starts_with("output:"); }
  /// Numbers of the step that were given: they hold for a compiled step too.
  std::map<std::string, double> givenNumbers() const;
  /// Throws Failure (usage) when an option was given that is decided in a step that is compiled already.
  void refuseCompiledIn(const CLI::App &verb) const;
  /// Throws Failure (usage) when it is none.
  train::Schedule makeSchedule(double rate) const;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TRAINOPTIONS_H

#include "train/StepText.h"

#include "train/Error.h"
#include <nlohmann/json.hpp>
#include <set>

namespace freestone::train {

using Json = nlohmann::json;

namespace {

constexpr std::string_view filePrefix = "file:";

/// Numbers that are no part of a step, only inputs of it.
const std::set<std::string> ofTheRun = {"learning_rate", "clip_norm", "growth_factor", "backoff_factor",
                                        "growth_interval"};

bool scalesLoss(const TrainerOptions &options) {
  bool isAsked = options.initialScale.has_value();
  for (const char *name : {"growth_factor", "backoff_factor", "growth_interval"})
    isAsked |= options.numbers.contains(name);
  if (isAsked && options.noLossScaling)
    throw Error("--no-loss-scaling contradicts the numbers of a loss scale");
  return isAsked || (options.precision == "fp16" && !options.noLossScaling);
}

Json describeLoss(const TrainerOptions &options, const LabelFacts &labels) {
  std::string file = graphFile(options.loss);
  Json loss = {{"ignore_index", options.ignoreIndex},
               {"label_smoothing", options.labelSmoothing},
               {"delta", options.huberDelta}};
  loss["kind"] = !file.empty() ? "file" : isModelsOwnLoss(options) ? "output" : options.loss;
  loss["output"] = isModelsOwnLoss(options) ? options.loss.substr(options.loss.find(':') + 1) : options.logits;
  if (!file.empty())
    loss["file"] = file;
  else if (!isModelsOwnLoss(options))
    loss["labels"] = options.labels;
  if (!labels.type.empty())
    loss["label_type"] = labels.type;
  if (!labels.sizes.empty())
    loss["label_shape"] = labels.sizes;
  if (!options.classWeights.empty())
    loss["class_weights"] = options.classWeights;
  if (options.classAxis)
    loss["class_axis"] = *options.classAxis;
  return loss;
}

Json describeOptimizer(const TrainerOptions &options) {
  std::string file = graphFile(options.optimizer);
  Json optimizer = {{"kind", file.empty() ? options.optimizer : "file"},
                    {"nesterov", options.nesterov},
                    {"amsgrad", options.amsgrad},
                    {"centered", options.centered}};
  if (!file.empty())
    optimizer["file"] = file;
  Json numbers = Json::object();
  for (const auto &[name, value] : options.numbers)
    if (!ofTheRun.contains(name))
      numbers[name] = value;
  Json groups = Json::array();
  for (const ParameterGroup &group : options.groups) {
    groups.push_back({{"pattern", group.pattern}, {"numbers", group.numbers}});
    // Rates of groups are multiples of this one.
    if (auto rate = options.numbers.find("learning_rate");
        group.numbers.contains("learning_rate") && rate != options.numbers.end())
      numbers["learning_rate"] = rate->second;
  }
  optimizer["numbers"] = std::move(numbers);
  optimizer["groups"] = std::move(groups);
  return optimizer;
}

} // namespace

std::string graphFile(const std::string &lossOrOptimizer) {
  return lossOrOptimizer.starts_with(filePrefix) ? lossOrOptimizer.substr(filePrefix.size()) : "";
}

std::vector<std::string> graphFiles(const TrainerOptions &options) {
  std::vector<std::string> files = {graphFile(options.loss), graphFile(options.optimizer)};
  std::erase(files, "");
  return files;
}

std::string describeStep(const TrainerOptions &options, const LabelFacts &labels) {
  Json step;
  step["loss"] = describeLoss(options, labels);
  step["optimizer"] = describeOptimizer(options);
  step["precision"] = options.precision;
  step["moments"] = options.moments;
  step["scale_loss"] = scalesLoss(options);
  step["accumulate"] = options.accumulate > 1;
  step["train"] = options.train;
  step["freeze"] = options.freeze;
  step["no_decay"] = options.noDecay;
  step["freeze_norm"] = options.freezeNorm;
  step["no_dropout"] = options.noDropout;
  step["recompute"] = options.recompute;
  if (options.recompute.starts_with("auto:")) {
    step["batch_hint"] = options.usualBatch;
    step["length_hint"] = options.usualLength;
  }
  return step.dump();
}

} // namespace freestone::train

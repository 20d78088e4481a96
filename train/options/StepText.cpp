#include "train/options/StepText.h"

#include "formats/ElementType.h"
#include "train/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace freestone::train {

using Json = nlohmann::json;

namespace {

constexpr std::string_view filePrefix = "file:", earlyUpdate = "early";

/// Numbers that are inputs of a step, not part of its code.
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

/// Early updates need nothing of other gradients.
void requireOwnGradients(const TrainerOptions &options) {
  auto refuse = [](std::string_view option, std::string_view why) {
    throw Error(fmt::format("--update early and {} contradict each other: {}; leave one of them out", option, why));
  };
  if (options.numbers.contains("clip_norm"))
    refuse("--clip-norm", "the norm of all gradients is known after the updates");
  if (options.accumulate > 1)
    refuse("--accumulate", "gradients of several batches live together");
  if (scalesLoss(options))
    refuse(options.precision == "fp16" ? "--precision fp16 without --no-loss-scaling" : "a loss scale",
           "a step whose gradients overflow at a scale is skipped as a whole");
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
  const std::string &type = labels.type.empty() ? options.labelType : labels.type;
  if (!type.empty() && !formats::typeFromName(type))
    throw Error("the labels can't be of type '" + type + "', which there is not");
  if (!type.empty())
    loss["label_type"] = type;
  if (!labels.sizes.empty())
    loss["label_shape"] = labels.sizes;
  if (!options.classWeights.empty())
    loss["class_weights"] = options.classWeights;
  if (options.classAxis)
    loss["class_axis"] = *options.classAxis;
  return loss;
}

/// The optimizer's numbers that affect the compiled step: those that decide its states and their first values, and
/// those that only an optimizer graph defines.
Json describeStructure(const std::map<std::string, double> &numbers, bool isGraph) {
  Json structure = Json::object();
  for (const auto &[name, value] : numbers)
    if (isCompiledIn(name))
      structure[name] = value;
    else if (!ofTheRun.contains(name) && (isGraph || (name == "momentum" && value != 0)))
      structure[name] = 1;
  return structure;
}

Json describeNumbers(const TrainerOptions &options) {
  Json numbers = Json::object();
  for (const auto &[name, value] : options.numbers)
    if (!ofTheRun.contains(name))
      numbers[name] = value;
  // Learning rates of groups are multiples of this rate.
  auto rate = options.numbers.find("learning_rate");
  if (rate != options.numbers.end() &&
      std::ranges::any_of(options.groups, [](auto &group) { return group.numbers.contains("learning_rate"); }))
    numbers["learning_rate"] = rate->second;
  return numbers;
}

Json describeOptimizer(const TrainerOptions &options, FirstNumbers first) {
  std::string file = graphFile(options.optimizer);
  Json optimizer = {{"kind", file.empty() ? options.optimizer : "file"},
                    {"nesterov", options.nesterov},
                    {"amsgrad", options.amsgrad},
                    {"centered", options.centered}};
  if (!file.empty())
    optimizer["file"] = file;
  bool areGiven = first == FirstNumbers::Given;
  optimizer["numbers"] = areGiven ? describeNumbers(options) : describeStructure(options.numbers, !file.empty());
  optimizer["groups"] = Json::array();
  for (const ParameterGroup &group : options.groups) {
    Json &described = optimizer["groups"].emplace_back(Json{{"pattern", group.pattern}, {"numbers", group.numbers}});
    if (!areGiven)
      for (Json &value : described["numbers"])
        value = 1;
  }
  return optimizer;
}

} // namespace

LabelFacts describeLabels(std::string type, std::vector<int64_t> shape, std::span<const int64_t> output) {
  LabelFacts facts{std::move(type), std::move(shape)};
  auto isConstant = [](int64_t size) { return size >= 0; };
  bool isDecided = !output.empty() && std::ranges::count_if(output.subspan(1), isConstant) == 1;
  std::fill_n(facts.sizes.begin(), isDecided ? facts.sizes.size() : std::min<size_t>(1, facts.sizes.size()), -1);
  return facts;
}

std::string graphFile(const std::string &lossOrOptimizer) {
  return lossOrOptimizer.starts_with(filePrefix) ? lossOrOptimizer.substr(filePrefix.size()) : "";
}

std::vector<std::string> graphFiles(const TrainerOptions &options) {
  std::vector<std::string> files = {graphFile(options.loss), graphFile(options.optimizer)};
  std::erase(files, "");
  return files;
}

std::string describeStep(const TrainerOptions &options, const LabelFacts &labels, FirstNumbers first) {
  Json step;
  step["loss"] = describeLoss(options, labels);
  step["optimizer"] = describeOptimizer(options, first);
  step["precision"] = options.precision;
  step["moments"] = options.moments;
  step["update"] = options.update;
  if (options.update == earlyUpdate)
    requireOwnGradients(options);
  step["scale_loss"] = scalesLoss(options);
  step["accumulate"] = options.accumulate > 1;
  step["train"] = options.train;
  step["freeze"] = options.freeze;
  step["no_decay"] = options.noDecay;
  step["tie"] = options.tie;
  step["untie"] = options.untie;
  step["freeze_norm"] = options.freezeNorm;
  step["no_dropout"] = options.noDropout;
  step["max_trip"] = options.maxTrip;
  step["recompute"] = options.recompute;
  if (options.recompute.starts_with("auto:")) {
    step["batch_hint"] = options.usualBatch;
    step["length_hint"] = options.usualLength;
  }
  return step.dump();
}

std::string describeStage(const std::string &step, const StageChoice &choice) {
  Json stage = Json::parse(step);
  if (stage["update"] == earlyUpdate)
    throw Error("--update early is for one process: ranks sum their gradients first; leave out --update or --ranks");
  stage["pipeline"] = {{"stages", choice.stages},
                       {"stage", choice.stage},
                       {"split", choice.split},
                       {"recompute", choice.recompute}};
  stage["accumulate"] = false; // a pipeline sums the gradients of its micro-batches anyway
  if (choice.usualBatch > 0)
    stage["batch_hint"] = choice.usualBatch;
  if (choice.usualLength > 0)
    stage["length_hint"] = choice.usualLength;
  return stage.dump();
}

} // namespace freestone::train

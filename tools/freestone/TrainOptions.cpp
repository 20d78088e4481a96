#include "tools/freestone/TrainOptions.h"

#include "train/Error.h"
#include "train/RunOptions.h"
#include "train/TokenDataset.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::tools {

/// NAME=VALUE
static std::pair<std::string, double> parseNumber(const char *option, const std::string &text) {
  size_t equals = text.find('=');
  double value;
  if (equals == 0 || equals == std::string::npos || !CLI::detail::lexical_cast(text.substr(equals + 1), value))
    throw CLI::ValidationError(option, fmt::format("'{}' is not of the form NAME=VALUE", text));
  std::string name = text.substr(0, equals);
  return {name == "lr" ? "learning_rate" : name, value};
}

/// PATTERN:NAME=VALUE,NAME=VALUE
static ParameterGroup parseGroup(const std::string &text) {
  size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string::npos)
    throw CLI::ValidationError("--group", fmt::format("'{}' is not of the form PATTERN:NAME=VALUE,…", text));
  ParameterGroup group{text.substr(0, colon)};
  for (const std::string &number : CLI::detail::split(text.substr(colon + 1), ','))
    group.numbers.insert(parseNumber("--group", number));
  return group;
}

/// Options of the schedule, of which train/Schedule.cpp has the numbers.
static void addSchedule(CLI::App &verb, FitOptions &fit) {
  const char *group = "Schedule (names, meanings and defaults are PyTorch's)";
  verb.add_option("--schedule", fit.schedule, "constant, linear, cosine, step, one-cycle")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--warmup", fit.warmup, "steps until the learning rate is reached")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  for (const train::ScheduleNumber &number : train::scheduleNumbers()) {
    std::string key(number.name), option = key, meaning(number.meaning);
    std::ranges::replace(option, '_', '-');
    auto set = [&fit, key](double value) { fit.scheduleNumbers[key] = value; };
    bool isFlag = std::holds_alternative<bool train::Schedule::*>(number.member);
    bool isNeeded = number.range == train::ScheduleNumber::Range::Positive && number.defaultValue() == 0;
    if (isFlag)
      verb.add_flag_callback("--no-" + option, [set] { set(0); }, meaning)->group(group);
    else
      verb.add_option_function<double>("--" + option, set,
                                       isNeeded ? meaning : fmt::format("{}; {}", meaning, number.defaultValue()))
          ->group(group);
  }
}

void TrainOptions::addTo(CLI::App &verb) {
  verb.add_option("model", model, "the .onnx file, or a step compiled by --compile-only")->required();
  const char *dataGroup = "Data";
  verb.add_option("--data", fit.data,
                  "files of arrays named as the model's inputs: .npz, .npy, .safetensors, name=file.npy")
      ->group(dataGroup);
  verb.add_option("--eval-data", fit.evaluationData, "the same, to evaluate on")->group(dataGroup);
  verb.add_option("--labels", step.labels, "the array with the labels")->group(dataGroup);
  verb.add_option("--window", fit.window,
                  "the data are one text of tokens, read in windows of 64, or of 32:256 at random")
      ->group(dataGroup);
  verb.add_option("--batch", fit.batch, "samples of a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_option("--accumulate", step.accumulate, "batches whose gradients are summed before each step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_option("--epochs", fit.epochs, "passes over the data")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_option("--steps", fit.steps, "ends after so many steps")->check(CLI::PositiveNumber)->group(dataGroup);
  verb.add_option("--seed", step.seed, "of the order of the data and of dropout")
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_flag("--no-shuffle", fit.noShuffle, "takes the data in their order")->group(dataGroup);

  const char *lossGroup = "Loss";
  verb.add_option(
          "--loss", step.loss,
          "softmax-cross-entropy, nll, sigmoid-cross-entropy, mse, l1, huber, cosine; output:NAME of the model; or "
          "file:LOSS.onnx, a graph of its own")
      ->capture_default_str()
      ->group(lossGroup);
  verb.add_option("--logits", step.logits, "the output that the loss takes, if the model has several")
      ->group(lossGroup);
  verb.add_option("--class-axis", step.classAxis, "the dimension of the classes")->group(lossGroup);
  verb.add_option("--ignore-index", step.ignoreIndex, "the label that does not count")
      ->capture_default_str()
      ->group(lossGroup);
  verb.add_option("--label-smoothing", step.labelSmoothing)
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(lossGroup);
  verb.add_option("--class-weights", classWeights, "how much each class counts: a .npy file, or an array of the data")
      ->group(lossGroup);
  verb.add_option("--delta", step.huberDelta, "of the Huber loss")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(lossGroup);

  const char *optimizerGroup = "Optimizer (names, meanings and defaults are PyTorch's)";
  verb.add_option(
          "--optimizer", step.optimizer,
          "sgd, adam, amsgrad, adamw, adagrad, rmsprop, lamb, lion, or file:OPTIMIZER.onnx, a graph of one parameter's "
          "update")
      ->capture_default_str()
      ->group(optimizerGroup);
  auto addNamed = [&](const char *option, const char *key, const char *what, const CLI::Validator &range,
                      const char *group) {
    std::string name = key;
    verb.add_option_function<double>(
            option, [this, name](double value) { step.numbers[name] = value; }, what)
        ->check(range)
        ->group(group);
  };
  addNamed("--lr", "learning_rate", "learning rate", CLI::NonNegativeNumber, optimizerGroup);
  addNamed("--clip-norm", "clip_norm", "the largest norm of all gradients together", CLI::PositiveNumber,
           optimizerGroup);
  verb.add_option_function<std::vector<double>>(
          "--betas",
          [this](const std::vector<double> &betas) {
            step.numbers["beta1"] = betas[0];
            step.numbers["beta2"] = betas[1];
          },
          "two numbers")
      ->check(CLI::Range(0.0, 1.0))
      ->delimiter(',')
      ->expected(2)
      ->group(optimizerGroup);
  auto addNumber = [&](const char *name, const char *what, const CLI::Validator &range, const char *group) {
    std::string key = name;
    std::ranges::replace(key, '-', '_');
    addNamed(fmt::format("--{}", name).c_str(), key.c_str(), what, range, group);
  };
  for (const char *name :
       {"momentum", "dampening", "weight-decay", "eps", "alpha", "lr-decay", "initial-accumulator-value"})
    addNumber(name, "", CLI::NonNegativeNumber, optimizerGroup);
  verb.add_option_function<std::vector<std::string>>(
          "--number",
          [this](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              step.numbers.insert(parseNumber("--number", text));
          },
          "another number of the optimizer, such as one that a graph of its own takes: NAME=VALUE")
      ->group(optimizerGroup);
  verb.add_option_function<std::vector<std::string>>(
          "--group",
          [this](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              step.groups.push_back(parseGroup(text));
          },
          "numbers of their own for parameters of these names: 'head.*:lr=0.01,weight_decay=0'")
      ->group(optimizerGroup);
  verb.add_flag("--nesterov", step.nesterov)->group(optimizerGroup);
  verb.add_flag("--amsgrad", step.amsgrad)->group(optimizerGroup);
  verb.add_flag("--centered", step.centered)->group(optimizerGroup);

  addSchedule(verb, fit);

  const char *whatGroup = "What is trained";
  verb.add_option("--train", step.train, "trains parameters of these names too: 'head.*'")->group(whatGroup);
  verb.add_option("--freeze", step.freeze, "leaves parameters of these names as they are")->group(whatGroup);
  verb.add_option("--no-decay", step.noDecay, "no weight decay for parameters of these names")->group(whatGroup);
  verb.add_option("--tie", step.tie, "keeps initializers of these names one tensor where several nodes take them")
      ->group(whatGroup);
  verb.add_option("--untie", step.untie, "makes one tensor for each node of initializers of these names")
      ->group(whatGroup);
  verb.add_flag("--freeze-norm", step.freezeNorm, "batch normalisations keep their statistics")->group(whatGroup);
  verb.add_flag("--no-dropout", step.noDropout, "drops nothing")->group(whatGroup);
  verb.add_option(
          "--recompute", step.recompute,
          "what the backward pass computes again rather than finding it in memory: none, blocks (all but products), or "
          "auto:BYTES (no more than is needed to keep so many, such as 200M, for --batch and --window)")
      ->capture_default_str()
      ->group(whatGroup);
  verb.add_flag("--plan", plan, "lists parameters and memory, and trains nothing")->group(whatGroup);

  const char *precisionGroup = "Precision (names and defaults of the loss scale are PyTorch's GradScaler's)";
  verb.add_option("--precision", step.precision, "of products: fp32, bf16 or fp16; parameters stay fp32")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}))
      ->capture_default_str()
      ->group(precisionGroup);
  verb.add_option("--moments", step.moments, "of the optimizer: fp32 or bf16")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str()
      ->group(precisionGroup);
  verb.add_option("--init-scale", step.initialScale, "loss scale of the first step; 65536")
      ->check(CLI::PositiveNumber)
      ->group(precisionGroup);
  addNumber("growth-factor", "of the scale after --growth-interval steps without overflow; 2", CLI::Range(1.0, 1e30),
            precisionGroup);
  addNumber("backoff-factor", "of the scale after a step whose gradients overflow; 0.5", CLI::Range(1e-30, 1.0),
            precisionGroup);
  addNumber("growth-interval", "2000", CLI::PositiveNumber, precisionGroup);
  verb.add_flag("--no-loss-scaling", step.noLossScaling,
                "for fp16 too; bf16 and fp32 scale only if one of these numbers is given")
      ->group(precisionGroup);

  const char *runGroup = "The run";
  verb.add_option("--out", fit.folder, "the folder of checkpoints, metrics and the trained model")
      ->capture_default_str()
      ->group(runGroup);
  verb.add_option("--save-every", fit.saveEvery, "steps between checkpoints; by default one an epoch")
      ->check(CLI::PositiveNumber)
      ->group(runGroup);
  verb.add_option("--eval-every", fit.evalEvery, "steps between evaluations; by default one an epoch")
      ->check(CLI::PositiveNumber)
      ->group(runGroup);
  verb.add_option("--keep", fit.keep, "checkpoints that stay")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(runGroup);
  verb.add_option("--resume", resume, "goes on with the training in this folder")->group(runGroup);
  runtime.addTo(verb, runGroup);
  verb.add_flag("--read-each-step", readEachStep,
                "waits for each step's loss before the next one begins, to measure what that costs")
      ->group(runGroup);
  verb.add_flag("--compile-only", compileOnly, "writes the compiled step to -o and trains nothing")->group(runGroup);
  verb.add_option("-o,--output", output, "the .stone file of --compile-only")->group(runGroup);
  compile.addTo(verb);
}

std::string TrainOptions::describeStep(const train::LabelFacts &labels, train::FirstNumbers first) const {
  TrainerOptions described = step;
  described.usualBatch = fit.batch;
  if (!fit.window.empty())
    described.usualLength = train::parseWindow(fit.window).longest;
  // Each step sets it; here it says that there is one.
  if (train::Schedule schedule = train::makeSchedule(fit);
      schedule.movesMomentum() && train::hasOptionalMomentum(step.optimizer))
    described.numbers.try_emplace("momentum", schedule.highestMomentum);
  return train::describeStep(described, labels, first);
}

void TrainOptions::checkSchedule() const {
  try {
    if (!train::makeSchedule(fit).movesMomentum())
      return;
  } catch (const train::Error &error) {
    throw Failure(Exit::Usage, error.what());
  }
  auto refuse = [&](const std::map<std::string, double> &numbers) {
    for (const auto &[name, value] : numbers)
      if (train::isMomentum(name))
        throw Failure(Exit::Usage,
                      fmt::format("--schedule {} moves {} between --base-momentum and --max-momentum, so that the one "
                                  "given would not be used; --no-cycle-momentum keeps it",
                                  fit.schedule, name));
  };
  refuse(step.numbers);
  for (const ParameterGroup &group : step.groups)
    refuse(group.numbers);
}

void TrainOptions::refuseCompiledIn(const CLI::App &verb) const {
  for (const char *option :
       {"--loss",        "--logits",          "--class-axis",   "--ignore-index",    "--label-smoothing",
        "--delta",       "--optimizer",       "--nesterov",     "--amsgrad",         "--centered",
        "--train",       "--freeze",          "--no-decay",     "--tie",             "--untie",
        "--freeze-norm", "--no-dropout",      "--recompute",    "--precision",       "--moments",
        "--class-weights", "--no-loss-scaling", "--initial-accumulator-value", "--compile-only"})
    if (verb.count(option))
      throw Failure(Exit::Usage, fmt::format("{} is compiled already, and {} was decided then; compile the model anew",
                                             model, option));
  if (compile.given(verb))
    throw Failure(Exit::Usage, fmt::format("{} is compiled already; options that compile mean nothing for it", model));
}

} // namespace freestone::tools

#include "tools/freestone/TrainOptions.h"

#include "formats/ElementType.h"
#include "tools/freestone/Options.h"
#include "train/Error.h"
#include "train/data/TokenDataset.h"
#include "train/model/ModelOutputs.h"
#include "train/options/OptionRules.h"
#include "train/options/RunOptions.h"
#include "words/NearNames.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::tools {

/// NAME=VALUE
static std::pair<std::string, double> parseNumber(const std::string &option, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    refuseValue(option, text, "must be of the form NAME=VALUE");
  std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  if (name == "lr")
    name = "learning_rate";
  if (std::optional<std::string> complaint = train::rangeOfNumber(name).complain(value))
    refuseValue(option, text, fmt::format("{} {}", name, *complaint));
  return {name, numberOf<double>(value)};
}

/// PATTERN:NAME=VALUE,NAME=VALUE
static ParameterGroup parseGroup(const std::string &text) {
  size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string::npos)
    refuseValue("--group", text, "must be of the form PATTERN:NAME=VALUE,NAME=VALUE");
  ParameterGroup group{text.substr(0, colon)};
  for (const std::string &number : CLI::detail::split(text.substr(colon + 1), ','))
    group.numbers.insert(parseNumber("--group", number));
  return group;
}

/// Options of the schedule, with the number ranges of train/run/Schedule.cpp.
static void addSchedule(CLI::App &verb, FitOptions &fit) {
  const char *group = "Schedule (names, meanings and defaults are PyTorch's)";
  addWord(verb, "--schedule", fit.schedule, train::choiceOf("schedule"), "constant, linear, cosine, step, one-cycle")
      ->group(group);
  addNumber(verb, "--warmup", fit.warmup, train::rangeOf("warmup"), "steps until the learning rate is reached")
      ->group(group);
  for (const train::ScheduleNumber &number : train::scheduleNumbers()) {
    std::string key(number.name), option = key, meaning(number.meaning);
    std::ranges::replace(option, '_', '-');
    auto set = [&fit, key](double value) { fit.scheduleNumbers[key] = value; };
    if (std::holds_alternative<bool train::Schedule::*>(number.member))
      verb.add_flag_callback(
              "--no-" + option, [set] { set(0); }, meaning)
          ->group(group);
    else
      addNumberText(
          verb, "--" + option, number.range, [set](const std::string &text) { set(numberOf<double>(text)); }, meaning,
          number.range.contains(number.defaultValue()) ? fmt::format("{}", number.defaultValue()) : "")
          ->group(group);
  }
}

void TrainOptions::addTo(CLI::App &verb) {
  addText(verb, "model", model, fileKind, "the .onnx file, or a step compiled by --compile-only")->required();
  addData(verb);
  addLoss(verb);
  addOptimizer(verb);
  addSchedule(verb, fit);
  addChoiceOfParameters(verb);
  addPrecision(verb);
  pipeline.addTo(verb);
  addRun(verb);
  compile.addTo(verb);
}

void TrainOptions::addData(CLI::App &verb) {
  const char *group = "Data";
  addTexts(verb, "--data", fit.data, fileKind,
           "files of arrays named as the model's inputs: .npz, .npy, .safetensors, name=file.npy")
      ->allow_extra_args(true)
      ->group(group);
  addTexts(verb, "--eval-data", fit.evaluationData, fileKind, "the same, to evaluate on")
      ->allow_extra_args(true)
      ->group(group);
  addText(verb, "--labels", step.labels, nameKind, "the array with the labels")->group(group);
  auto takeWindow = [this](const std::string &text) {
    try {
      (void)train::parseWindow(text);
    } catch (const train::Error &) {
      refuseValue("--window", text, "must be a number of tokens, 64, or the least and the most, 32:256");
    }
    fit.window = text;
  };
  verb.add_option_function<std::string>(
          "--window", takeWindow, "the data are one text of tokens, read in windows of 64, or of 32:256 at random")
      ->type_name(formKind)
      ->group(group);
  addNumber(verb, "--batch", fit.batch, train::rangeOf("batch"), "samples of a step")->group(group);
  addNumber(verb, "--accumulate", step.accumulate, train::rangeOf("accumulate"),
            "batches whose gradients are summed before each step")
      ->group(group);
  addNumber(verb, "--epochs", fit.epochs, train::rangeOf("epochs"), "passes over the data")->group(group);
  addNumber(verb, "--steps", fit.steps, train::rangeOf("steps"), "ends after so many steps")->group(group);
  addNumber(verb, "--seed", step.seed, train::rangeOf("seed"), "of the order of the data and of dropout")->group(group);
  verb.add_flag("--no-shuffle", fit.noShuffle, "takes the data in their order")->group(group);
}

void TrainOptions::addLoss(CLI::App &verb) {
  const char *group = "Loss";
  addWord(verb, "--loss", step.loss, train::choiceOf("loss"),
          "softmax-cross-entropy, nll, sigmoid-cross-entropy, mse, l1, huber, cosine; output:NAME of the model; or "
          "file:LOSS.onnx, a graph of its own")
      ->group(group);
  addText(verb, "--logits", step.logits, nameKind, "the output that the loss takes, if the model has several")
      ->group(group);
  addNumber(verb, "--class-axis", step.classAxis, train::rangeOf("class-axis"), "the dimension of the classes")
      ->group(group);
  addNumber(verb, "--ignore-index", step.ignoreIndex, train::rangeOf("ignore-index"), "the label that does not count")
      ->group(group);
  addNumber(verb, "--label-smoothing", step.labelSmoothing, train::rangeOf("label-smoothing"), "")->group(group);
  addText(verb, "--class-weights", classWeights, fileKind,
          "how much each class counts: a .npy file, or an array of the data")
      ->group(group);
  addNumber(verb, "--delta", step.huberDelta, train::rangeOf("delta"), "of the Huber loss")->group(group);
}

/// An option for one of the numbers: `--weight-decay` is weight_decay.
CLI::Option *TrainOptions::addNamed(CLI::App &verb, const std::string &option, const std::string &key,
                                    const std::string &what) {
  auto set = [this, key](const std::string &text) { step.numbers[key] = numberOf<double>(text); };
  return addNumberText(verb, option, train::rangeOfNumber(key), set, what);
}

void TrainOptions::addOptimizer(CLI::App &verb) {
  const char *group = "Optimizer (names, meanings and defaults are PyTorch's)";
  addWord(verb, "--optimizer", step.optimizer, train::choiceOf("optimizer"),
          "sgd, adam, amsgrad, adamw, adagrad, rmsprop, lamb, lion, or file:OPTIMIZER.onnx, a graph of one parameter's "
          "update")
      ->group(group);
  addNamed(verb, "--lr", "learning_rate", "learning rate")->group(group);
  addNamed(verb, "--clip-norm", "clip_norm", "the largest norm of all gradients together")->group(group);
  addWord(
      verb, "--update", step.update, train::choiceOf("update"),
      "of parameters: together, when all gradients are known; or early, each when its own is known, which saves the "
      "memory of all gradients")
      ->group(group);
  auto takeBetas = [this](const std::vector<std::string> &texts) {
    for (auto [key, text] : {std::pair("beta1", texts[0]), std::pair("beta2", texts[1])}) {
      if (std::optional<std::string> complaint = train::rangeOfNumber(key).complain(text))
        refuseValue("--betas", text, *complaint);
      step.numbers[key] = numberOf<double>(text);
    }
  };
  verb.add_option_function<std::vector<std::string>>("--betas", takeBetas, "two numbers")
      ->type_name(fmt::format("NUMBER({})", train::rangeOfNumber("beta1").brief()))
      ->delimiter(',')
      ->expected(2)
      ->group(group);
  for (const char *name :
       {"momentum", "dampening", "weight-decay", "eps", "alpha", "lr-decay", "initial-accumulator-value"}) {
    std::string key = name;
    std::ranges::replace(key, '-', '_');
    addNamed(verb, fmt::format("--{}", name), key, "")->group(group);
  }
  verb.add_option_function<std::vector<std::string>>(
          "--number",
          [this](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              step.numbers.insert(parseNumber("--number", text));
          },
          "another number of the optimizer, such as one that a graph of its own takes: NAME=VALUE")
      ->type_name(formKind)
      ->group(group);
  verb.add_option_function<std::vector<std::string>>(
          "--group",
          [this](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              step.groups.push_back(parseGroup(text));
          },
          "numbers of their own for parameters of these names: 'head.*:lr=0.01,weight_decay=0'")
      ->type_name(formKind)
      ->group(group);
  verb.add_flag("--nesterov", step.nesterov)->group(group);
  verb.add_flag("--amsgrad", step.amsgrad)->group(group);
  verb.add_flag("--centered", step.centered)->group(group);
}

void TrainOptions::addChoiceOfParameters(CLI::App &verb) {
  const char *group = "What is trained";
  auto addPatterns = [&](const char *option, std::vector<std::string> &patterns, const char *what) {
    addTexts(verb, option, patterns, nameKind, what)->allow_extra_args(true)->group(group);
  };
  addPatterns("--train", step.train, "trains parameters of these names too: 'head.*'");
  addPatterns("--freeze", step.freeze, "leaves parameters of these names as they are");
  addPatterns("--no-decay", step.noDecay, "no weight decay for parameters of these names");
  addPatterns("--tie", step.tie, "keeps initializers of these names one tensor where several nodes take them");
  addPatterns("--untie", step.untie, "makes one tensor for each node of initializers of these names");
  verb.add_flag("--freeze-norm", step.freezeNorm, "batch normalisations keep their statistics")->group(group);
  verb.add_flag("--no-dropout", step.noDropout, "drops nothing")->group(group);
  addNumber(verb, "--max-trip", step.maxTrip, train::rangeOf("max-trip"),
            "the most iterations of loops without a limit that is a constant or a size, which gradients need")
      ->default_str("")
      ->group(group);
  addWord(verb, "--recompute", step.recompute, train::choiceOf("recompute"),
          "what the backward pass computes again rather than finding it in memory: auto (what hardly "
          "takes time, where it is most of the memory), none, blocks (all but products), or auto:BYTES (no more than "
          "is needed to keep so many, such as 200M, for --batch and --window)")
      ->group(group);
  verb.add_flag("--plan", plan, "lists parameters and memory, and trains nothing")->group(group);
}

void TrainOptions::addPrecision(CLI::App &verb) {
  const char *group = "Precision (names and defaults of the loss scale are PyTorch's GradScaler's)";
  addWord(verb, "--precision", step.precision, train::choiceOf("precision"),
          "of products: fp32, bf16 or fp16; parameters stay fp32")
      ->group(group);
  addWord(verb, "--moments", step.moments, train::choiceOf("moments"), "of the optimizer: fp32 or bf16")->group(group);
  addNumber(verb, "--init-scale", step.initialScale, train::rangeOf("init-scale"),
            "loss scale of the first step; 65536")
      ->group(group);
  addNamed(verb, "--growth-factor", "growth_factor", "of the scale after --growth-interval steps without overflow; 2")
      ->group(group);
  addNamed(verb, "--backoff-factor", "backoff_factor", "of the scale after a step whose gradients overflow; 0.5")
      ->group(group);
  addNamed(verb, "--growth-interval", "growth_interval", "2000")->group(group);
  verb.add_flag("--no-loss-scaling", step.noLossScaling,
                "for fp16 too; bf16 and fp32 scale only if one of these numbers is given")
      ->group(group);
}

void TrainOptions::addRun(CLI::App &verb) {
  const char *group = "The run";
  addText(verb, "--out", fit.folder, folderKind, "the folder of checkpoints, metrics and the trained model")
      ->group(group);
  addNumber(verb, "--save-every", fit.saveEvery, train::rangeOf("save-every"),
            "steps between checkpoints; 0: one an epoch")
      ->group(group);
  addNumber(verb, "--eval-every", fit.evalEvery, train::rangeOf("eval-every"),
            "steps between evaluations; 0: one an epoch")
      ->group(group);
  addNumber(verb, "--keep", fit.keep, train::rangeOf("keep"), "checkpoints that stay")->group(group);
  addText(verb, "--resume", resume, folderKind, "goes on with the training in this folder")->group(group);
  runtime.addTo(verb, group);
  verb.add_flag("--read-each-step", readEachStep,
                "waits for each step's loss before the next one begins, to measure what that costs")
      ->group(group);
  verb.add_flag("--compile-only", compileOnly, "writes the compiled step to -o and trains nothing")->group(group);
  addText(verb, "-o,--output", output, newFileKind, "the .stone file of --compile-only")
      ->needs("--compile-only")
      ->group(group);
}

int64_t TrainOptions::usualLength() const { return fit.window.empty() ? 0 : train::parseWindow(fit.window).longest; }

train::LabelFacts TrainOptions::labelFacts(const train::ArrayFiles *data) const {
  if (!fit.window.empty()) {
    if (data)
      (void)train::textOf(*data);
    return {{}, {-1, -1}};
  }
  if (!data)
    return {};
  const formats::TensorView *array = data->find(step.labels);
  if (!array && train::takesLabels(step))
    throw Failure(Exit::Usage, fmt::format("--labels {}: the data have no array of this name, but {}{}", step.labels,
                                           data->describe(), words::suggest(step.labels, data->names())));
  if (!array || formats::isFloat(array->dtype))
    return {};
  return train::describeLabels(std::string(formats::typeName(array->dtype)), array->shape,
                               train::readOutputShape(model, step.logits));
}

PipelineModel TrainOptions::pipelineModel(std::string step, const train::ArrayFiles *data) const {
  PipelineModel cut{model, std::move(step), train::graphFiles(this->step), {fit.batch, usualLength()}};
  // Without windows, sequences are as long as those of the data.
  for (const formats::TensorView &array : data ? data->arrays() : std::vector<formats::TensorView>())
    if (fit.window.empty() && array.shape.size() == 2 && !formats::isFloat(array.dtype))
      cut.sizes.tokens = std::max(cut.sizes.tokens, array.shape[1]);
  return cut;
}

std::string TrainOptions::describeStep(const train::LabelFacts &labels, train::FirstNumbers first) const {
  TrainerOptions described = step;
  described.usualBatch = fit.batch;
  described.usualLength = usualLength();
  // Declares the number as varying; each step sets its value.
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
  for (const char *option : {"--loss",
                             "--logits",
                             "--class-axis",
                             "--ignore-index",
                             "--label-smoothing",
                             "--delta",
                             "--optimizer",
                             "--nesterov",
                             "--amsgrad",
                             "--centered",
                             "--train",
                             "--freeze",
                             "--no-decay",
                             "--tie",
                             "--untie",
                             "--freeze-norm",
                             "--no-dropout",
                             "--max-trip",
                             "--recompute",
                             "--precision",
                             "--moments",
                             "--update",
                             "--class-weights",
                             "--no-loss-scaling",
                             "--initial-accumulator-value",
                             "--compile-only"})
    if (verb.count(option))
      throw Failure(Exit::Usage, fmt::format("{} is compiled already, and {} was decided then; compile the model anew",
                                             model, option));
  if (compile.given(verb))
    throw Failure(Exit::Usage, fmt::format("{} is compiled already; options that compile mean nothing for it", model));
}

} // namespace freestone::tools

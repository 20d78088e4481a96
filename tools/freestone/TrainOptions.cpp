#include "tools/freestone/TrainOptions.h"

#include "train/TokenDataset.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

void TrainOptions::addTo(CLI::App &verb) {
  verb.add_option("model", model, "the .onnx file, or a step compiled by --compile-only")->required();
  const char *dataGroup = "Data";
  verb.add_option("--data", data,
                  "files of arrays named as the model's inputs: .npz, .npy, .safetensors, name=file.npy")
      ->group(dataGroup);
  verb.add_option("--eval-data", evaluationData, "the same, to evaluate on after every epoch")->group(dataGroup);
  verb.add_option("--labels", labels, "the array with the labels")->group(dataGroup);
  verb.add_option("--window", window, "the data are one text of tokens, read in windows of 64, or of 32:256 at random")
      ->group(dataGroup);
  verb.add_option("--batch", batch, "samples of a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_option("--accumulate", accumulate, "batches whose gradients are summed before each step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_option("--epochs", epochs, "passes over the data")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(dataGroup);
  verb.add_option("--steps", steps, "ends after so many steps")->check(CLI::PositiveNumber)->group(dataGroup);
  verb.add_option("--seed", seed, "of the order of the data and of dropout")->capture_default_str()->group(dataGroup);
  verb.add_flag("--no-shuffle", noShuffle, "takes the data in their order")->group(dataGroup);

  const char *lossGroup = "Loss";
  verb.add_option("--loss", loss,
                  "softmax-cross-entropy, nll, sigmoid-cross-entropy, mse, l1, huber, cosine, or output:NAME")
      ->capture_default_str()
      ->group(lossGroup);
  verb.add_option("--logits", logits, "the output that the loss takes, if the model has several")->group(lossGroup);
  verb.add_option("--class-axis", classAxis, "the dimension of the classes")->group(lossGroup);
  verb.add_option("--ignore-index", ignoreIndex, "the label that does not count")
      ->capture_default_str()
      ->group(lossGroup);
  verb.add_option("--label-smoothing", labelSmoothing)
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(lossGroup);
  verb.add_option("--class-weights", classWeights, "how much each class counts: a .npy file, or an array of the data")
      ->group(lossGroup);
  verb.add_option("--delta", huberDelta, "of the Huber loss")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(lossGroup);

  const char *optimizerGroup = "Optimizer (names, meanings and defaults are PyTorch's)";
  verb.add_option("--optimizer", optimizer, "sgd, adam, adamw, adagrad, rmsprop, lamb, lion")
      ->capture_default_str()
      ->group(optimizerGroup);
  verb.add_option("--lr", learningRate, "learning rate")->check(CLI::NonNegativeNumber)->group(optimizerGroup);
  verb.add_option("--schedule", schedule, "constant, linear, cosine, step, one-cycle")
      ->capture_default_str()
      ->group(optimizerGroup);
  verb.add_option("--warmup", warmup, "steps until the learning rate is reached")
      ->check(CLI::NonNegativeNumber)
      ->group(optimizerGroup);
  verb.add_option("--step-size", stepEvery, "steps between the drops of --schedule step")
      ->check(CLI::PositiveNumber)
      ->group(optimizerGroup);
  verb.add_option("--clip-norm", clipNorm, "the largest norm of all gradients together")
      ->check(CLI::PositiveNumber)
      ->group(optimizerGroup);
  verb.add_option("--betas", betas, "two numbers")->delimiter(',')->expected(2)->group(optimizerGroup);
  auto addNumber = [&](const char *name, const char *what, const CLI::Validator &range, const char *group) {
    std::string key = name;
    std::ranges::replace(key, '-', '_');
    verb.add_option_function<double>(
            fmt::format("--{}", name), [this, key](double value) { numbers[key] = value; }, what)
        ->check(range)
        ->group(group);
  };
  for (const char *name : {"momentum", "dampening", "weight-decay", "eps", "alpha", "lr-decay"})
    addNumber(name, "", CLI::NonNegativeNumber, optimizerGroup);
  verb.add_flag("--nesterov", nesterov)->group(optimizerGroup);
  verb.add_flag("--amsgrad", amsgrad)->group(optimizerGroup);
  verb.add_flag("--centered", centered)->group(optimizerGroup);

  const char *whatGroup = "What is trained";
  verb.add_option("--train", train, "trains parameters of these names too: 'head.*'")->group(whatGroup);
  verb.add_option("--freeze", freeze, "leaves parameters of these names as they are")->group(whatGroup);
  verb.add_option("--no-decay", noDecay, "no weight decay for parameters of these names")->group(whatGroup);
  verb.add_flag("--freeze-norm", freezeNorm, "batch normalisations keep their statistics")->group(whatGroup);
  verb.add_flag("--no-dropout", noDropout, "drops nothing")->group(whatGroup);
  verb.add_option(
          "--recompute", recompute,
          "what the backward pass computes again rather than finding it in memory: none, blocks (all but products), or "
          "auto:BYTES (no more than is needed to keep so many, such as 200M, for --batch and --window)")
      ->capture_default_str()
      ->group(whatGroup);
  verb.add_flag("--plan", plan, "lists parameters and memory, and trains nothing")->group(whatGroup);

  const char *precisionGroup = "Precision (names and defaults of the loss scale are PyTorch's GradScaler's)";
  verb.add_option("--precision", precision, "of products: fp32, bf16 or fp16; parameters stay fp32")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}))
      ->capture_default_str()
      ->group(precisionGroup);
  verb.add_option("--moments", moments, "of the optimizer: fp32 or bf16")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str()
      ->group(precisionGroup);
  verb.add_option("--init-scale", initialScale, "loss scale of the first step; 65536")
      ->check(CLI::PositiveNumber)
      ->group(precisionGroup);
  addNumber("growth-factor", "of the scale after --growth-interval steps without overflow; 2", CLI::Range(1.0, 1e30),
            precisionGroup);
  addNumber("backoff-factor", "of the scale after a step whose gradients overflow; 0.5", CLI::Range(1e-30, 1.0),
            precisionGroup);
  addNumber("growth-interval", "2000", CLI::PositiveNumber, precisionGroup);
  verb.add_flag("--no-loss-scaling", noLossScaling,
                "for fp16 too; bf16 and fp32 scale only if one of these numbers is given")
      ->group(precisionGroup);

  const char *runGroup = "The run";
  verb.add_option("--out", folder, "the folder of checkpoints, metrics and the trained model")
      ->capture_default_str()
      ->group(runGroup);
  verb.add_option("--save-every", saveEvery, "steps between checkpoints; by default one an epoch")
      ->check(CLI::PositiveNumber)
      ->group(runGroup);
  verb.add_option("--keep", keep, "checkpoints that stay")
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

std::string TrainOptions::labelInput() const { return isModelsOwnLoss() ? "" : labels.empty() ? "labels" : labels; }

/// Numbers that are no part of a step, only inputs of it.
static bool isOfTheRun(const std::string &name) {
  return name == "clip_norm" || name == "growth_factor" || name == "backoff_factor" || name == "growth_interval";
}

bool TrainOptions::scalesLoss() const {
  bool isAsked = initialScale || numbers.contains("growth_factor") || numbers.contains("backoff_factor") ||
                 numbers.contains("growth_interval");
  if (isAsked && noLossScaling)
    throw Failure(Exit::Usage, "--no-loss-scaling contradicts the numbers of a loss scale");
  return isAsked || (precision == "fp16" && !noLossScaling);
}

std::string TrainOptions::describeStep(const DataFacts &facts) const {
  Json step;
  Json &lossJson = step["loss"] = {{"kind", isModelsOwnLoss() ? "output" : loss},
                                   {"output", isModelsOwnLoss() ? loss.substr(loss.find(':') + 1) : logits},
                                   {"ignore_index", ignoreIndex},
                                   {"label_smoothing", labelSmoothing},
                                   {"delta", huberDelta}};
  if (!isModelsOwnLoss())
    lossJson["labels"] = labelInput();
  if (!facts.labelType.empty())
    lossJson["label_type"] = facts.labelType;
  if (!facts.labelSizes.empty())
    lossJson["label_shape"] = facts.labelSizes;
  if (!facts.classWeights.empty())
    lossJson["class_weights"] = facts.classWeights;
  if (classAxis)
    lossJson["class_axis"] = *classAxis;
  Json &optimizerJson =
      step["optimizer"] = {{"kind", optimizer}, {"nesterov", nesterov}, {"amsgrad", amsgrad}, {"centered", centered}};
  for (const auto &[name, value] : givenNumbers())
    if (!isOfTheRun(name))
      optimizerJson[name] = value;
  step["precision"] = precision;
  step["moments"] = moments;
  step["scale_loss"] = scalesLoss();
  step["accumulate"] = accumulate > 1;
  step["train"] = train;
  step["freeze"] = freeze;
  step["no_decay"] = noDecay;
  step["freeze_norm"] = freezeNorm;
  step["no_dropout"] = noDropout;
  step["recompute"] = recompute;
  if (recompute.starts_with("auto:")) {
    step["batch_hint"] = batch;
    step["length_hint"] = window.empty() ? 0 : train::parseWindow(window).longest;
  }
  return step.dump();
}

std::map<std::string, double> TrainOptions::givenNumbers() const {
  std::map<std::string, double> given = numbers;
  if (betas.size() == 2)
    given.insert({{"beta1", betas[0]}, {"beta2", betas[1]}});
  if (clipNorm)
    given["clip_norm"] = *clipNorm;
  return given;
}

void TrainOptions::refuseCompiledIn(const CLI::App &verb) const {
  for (const char *option :
       {"--loss",          "--logits",          "--class-axis",  "--ignore-index", "--label-smoothing", "--delta",
        "--optimizer",     "--nesterov",        "--amsgrad",     "--centered",     "--train",           "--freeze",
        "--no-decay",      "--freeze-norm",     "--no-dropout",  "--recompute",    "--precision",       "--moments",
        "--class-weights", "--no-loss-scaling", "--compile-only"})
    if (verb.count(option))
      throw Failure(Exit::Usage, fmt::format("{} is compiled already, and {} was decided then; compile the model anew",
                                             model, option));
  if (compile.given(verb))
    throw Failure(Exit::Usage, fmt::format("{} is compiled already; options that compile mean nothing for it", model));
}

train::Schedule TrainOptions::makeSchedule(double rate) const {
  std::optional<train::ScheduleKind> kind = train::scheduleFromName(schedule);
  if (!kind)
    throw Failure(Exit::Usage,
                  fmt::format("--schedule {} is none of constant, linear, cosine, step, one-cycle", schedule));
  if (kind == train::ScheduleKind::Step && stepEvery == 0)
    throw Failure(Exit::Usage, "--schedule step needs --step-size, the steps between its drops");
  train::Schedule result;
  result.kind = *kind;
  result.rate = learningRate.value_or(rate);
  result.warmup = warmup;
  result.every = stepEvery;
  return result;
}

} // namespace freestone::tools

#include "train/options/OptionRules.h"

#include "train/Error.h"
#include "train/run/Schedule.h"
#include <algorithm>
#include <fmt/format.h>
#include <variant>

using namespace freestone::words;

namespace freestone::train {

namespace {

template <typename Options> struct NumberRule {
  std::string_view option;
  std::variant<int Options::*, int64_t Options::*, uint64_t Options::*, double Options::*,
               std::optional<int64_t> Options::*, std::optional<double> Options::*>
      member;
  NumberRange range;

  /// Nothing if the option has its default.
  std::optional<double> valueIn(const Options &options) const {
    auto read = [&]<typename T>(T Options::*number) -> std::optional<double> {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<double>(options.*number);
      else
        return options.*number ? std::optional(static_cast<double>(*(options.*number))) : std::nullopt;
    };
    return std::visit(read, member);
  }
};

template <typename Options> struct ChoiceRule {
  std::string_view option;
  std::string Options::*member;
  Choice choice;
};

} // namespace

constexpr double seeds = 18446744073709551616.0, largestLabel = 2147483647, mostThreads = 4096;

static constexpr NumberRule<TrainerOptions> stepNumbers[] = {
    {"accumulate", &TrainerOptions::accumulate, wholeFrom(1)},
    {"max-trip", &TrainerOptions::maxTrip, wholeFrom(0)},
    {"class-axis", &TrainerOptions::classAxis, wholeFrom(-64, 63)},
    {"ignore-index", &TrainerOptions::ignoreIndex, wholeFrom(-largestLabel, largestLabel)},
    {"label-smoothing", &TrainerOptions::labelSmoothing, fraction},
    {"delta", &TrainerOptions::huberDelta, positive},
    {"init-scale", &TrainerOptions::initialScale, positive},
    {"seed", &TrainerOptions::seed, {0, seeds, true, false, true}},
    {"threads", &TrainerOptions::threads, wholeFrom(0, mostThreads)}};

static constexpr NumberRule<FitOptions> fitNumbers[] = {{"batch", &FitOptions::batch, wholeFrom(1)},
                                                        {"epochs", &FitOptions::epochs, wholeFrom(1)},
                                                        {"steps", &FitOptions::steps, wholeFrom(1)},
                                                        {"warmup", &FitOptions::warmup, wholeFrom(0)},
                                                        {"save-every", &FitOptions::saveEvery, wholeFrom(0)},
                                                        {"eval-every", &FitOptions::evalEvery, wholeFrom(0)},
                                                        {"keep", &FitOptions::keep, wholeFrom(1)}};

static const ChoiceRule<TrainerOptions> stepChoices[] = {
    {"loss",
     &TrainerOptions::loss,
     {{"softmax-cross-entropy", "nll", "sigmoid-cross-entropy", "mse", "l1", "huber", "cosine"},
      {"output:NAME of the model", "file:LOSS.onnx"}}},
    {"optimizer",
     &TrainerOptions::optimizer,
     {{"sgd", "adam", "amsgrad", "adamw", "adagrad", "rmsprop", "lamb", "lion"}, {"file:OPTIMIZER.onnx"}}},
    {"precision", &TrainerOptions::precision, {{"fp32", "bf16", "fp16"}}},
    {"moments", &TrainerOptions::moments, {{"fp32", "bf16"}}},
    {"update", &TrainerOptions::update, {{"together", "early"}}},
    {"recompute", &TrainerOptions::recompute, {{"auto", "none", "blocks"}, {"auto:BYTES"}}},
    {"target",
     &TrainerOptions::target,
     {{"host", "x86-64-v3", "x86-64-v4"},
      {},
      {"+amx-bf16", "-amx-bf16", "+amx-int8", "-amx-int8", "+avx512bf16", "-avx512bf16", "+avx512vnni",
       "-avx512vnni"}}}};

static const ChoiceRule<FitOptions> fitChoices[] = {{"schedule", &FitOptions::schedule, {scheduleNames()}}};

static constexpr NumberRange aboutBetas = {0, 1, false, false, true}, fromOne = {1, unbounded},
                             aboutBackoff = {0, 1, false, true};

/// Numbers of optimizers and of the loss scale.
static constexpr std::pair<std::string_view, NumberRange> namedNumbers[] = {{"learning_rate", notNegative},
                                                                            {"clip_norm", positive},
                                                                            {"beta1", aboutBetas},
                                                                            {"beta2", aboutBetas},
                                                                            {"momentum", notNegative},
                                                                            {"dampening", notNegative},
                                                                            {"weight_decay", notNegative},
                                                                            {"eps", notNegative},
                                                                            {"alpha", notNegative},
                                                                            {"lr_decay", notNegative},
                                                                            {"growth_factor", fromOne},
                                                                            {"initial_accumulator_value", notNegative},
                                                                            {"growth_interval", wholeFrom(1)},
                                                                            {"backoff_factor", aboutBackoff}};

const NumberRange &rangeOf(std::string_view option) {
  for (const auto &rule : stepNumbers)
    if (rule.option == option)
      return rule.range;
  return std::ranges::find(fitNumbers, option, &NumberRule<FitOptions>::option)->range;
}

const Choice &choiceOf(std::string_view option) {
  for (const auto &rule : stepChoices)
    if (rule.option == option)
      return rule.choice;
  return std::ranges::find(fitChoices, option, &ChoiceRule<FitOptions>::option)->choice;
}

const NumberRange &rangeOfNumber(std::string_view name) {
  for (const auto &[known, range] : namedNumbers)
    if (known == name)
      return range;
  return anyNumber;
}

static void refuse(std::string_view option, const auto &value, const std::optional<std::string> &complaint) {
  if (complaint)
    throw Error(fmt::format("{} {}: {}", option, value, *complaint));
}

template <typename Options>
static void checkRules(const Options &options, std::span<const NumberRule<Options>> numbers,
                       std::span<const ChoiceRule<Options>> choices) {
  for (const NumberRule<Options> &rule : numbers)
    if (std::optional<double> value = rule.valueIn(options))
      refuse(rule.option, *value, rule.range.complain(*value));
  for (const ChoiceRule<Options> &rule : choices) {
    const std::string &value = options.*rule.member;
    refuse(rule.option, fmt::format("'{}'", value), rule.choice.complain(value));
  }
}

static void checkNumbers(const std::map<std::string, double> &numbers) {
  for (const auto &[name, value] : numbers)
    refuse(name, value, rangeOfNumber(name).complain(value));
}

void checkOptions(const TrainerOptions &options) {
  checkRules<TrainerOptions>(options, stepNumbers, stepChoices);
  checkNumbers(options.numbers);
  for (const ParameterGroup &group : options.groups)
    checkNumbers(group.numbers);
}

void checkOptions(const FitOptions &options) { checkRules<FitOptions>(options, fitNumbers, fitChoices); }

} // namespace freestone::train

#include "train/options/RunOptions.h"

#include "train/Error.h"
#include "train/options/StepText.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::train {

/// Whether the option only confirms that the step has no momentum.
static bool isAbsentMomentum(const StepDescription &step, const std::string &name, double value) {
  return name == "momentum" && value == 0 && !step.hyperparameters.contains(name);
}

/// The step's input for a number of a group.
static std::string inputOfGroup(const std::string &pattern, const std::string &name) {
  return fmt::format("{}/{}", name == "learning_rate" ? "learning_rate_factor" : name, pattern);
}

void checkNumbers(const StepDescription &step, const TrainerOptions &options) {
  for (const auto &[name, value] : options.numbers)
    if (!isCompiledIn(name) && !isAbsentMomentum(step, name, value))
      step.requireNumber(name);
  auto rate = options.numbers.find("learning_rate");
  for (const ParameterGroup &group : options.groups)
    for (const auto &[name, value] : group.numbers) {
      if (name == "learning_rate" && rate != options.numbers.end() && rate->second <= 0)
        throw Error(fmt::format("the group '{}' has a learning rate, which is moved in proportion to that of the rest: "
                                "that must not be 0",
                                group.pattern));
      step.requireNumber(inputOfGroup(group.pattern, name));
    }
  if (options.initialScale && !step.scalesLoss())
    throw Error("init-scale is of a loss scale, but the compiled step does not scale its loss");
}

void setNumbers(Trainer &trainer, const TrainerOptions &options) {
  checkNumbers(trainer.description(), options);
  for (const auto &[name, value] : options.numbers)
    if (!isCompiledIn(name) && !isAbsentMomentum(trainer.description(), name, value))
      trainer.setNumber(name, value);
  for (const ParameterGroup &group : options.groups)
    for (const auto &[name, value] : group.numbers)
      trainer.setNumber(inputOfGroup(group.pattern, name),
                        name == "learning_rate" ? value / trainer.number("learning_rate") : value);
  if (options.accumulate > 1 && !trainer.accumulates())
    throw Error("the step was compiled without --accumulate; compile it anew with it");
  if (options.initialScale)
    trainer.setLossScale(*options.initialScale);
}

Schedule makeSchedule(const FitOptions &fit) { return makeSchedule(fit.schedule, fit.warmup, fit.scheduleNumbers); }

void checkSchedule(const StepDescription &step, const FitOptions &fit) {
  if (makeSchedule(fit).movesMomentum() &&
      std::ranges::none_of(step.hyperparameters, [](const auto &number) { return isMomentum(number.first); }))
    throw Error(fmt::format("the schedule '{}' moves the momentum or the first beta, and the step has neither: compile "
                            "it with a momentum, or keep the schedule from it (--no-cycle-momentum)",
                            fit.schedule));
}

TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer) {
  checkSchedule(trainer.description(), fit);
  TrainingOptions run;
  run.folder = fit.folder;
  run.schedule = makeSchedule(fit);
  run.schedule.rate = trainer.number("learning_rate");
  run.batch = fit.batch;
  run.accumulate = options.accumulate;
  run.epochs = fit.epochs;
  run.steps = fit.steps;
  run.seed = options.seed;
  run.shuffle = !fit.noShuffle;
  run.saveEvery = fit.saveEvery;
  run.evalEvery = fit.evalEvery;
  run.keep = fit.keep;
  run.resume = fit.resume;
  run.report = fit.report;
  return run;
}

} // namespace freestone::train

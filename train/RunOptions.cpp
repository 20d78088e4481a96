#include "train/RunOptions.h"

#include "train/Error.h"
#include "train/StepText.h"
#include <fmt/format.h>

namespace freestone::train {

void setNumbers(Trainer &trainer, const TrainerOptions &options) {
  for (const auto &[name, value] : options.numbers)
    if (!isCompiledIn(name))
      trainer.setNumber(name, value);
  for (const ParameterGroup &group : options.groups)
    for (const auto &[name, value] : group.numbers) {
      bool isRate = name == "learning_rate";
      double rate = isRate ? trainer.number("learning_rate") : 1;
      if (rate <= 0)
        throw Error(fmt::format("the group '{}' has a learning rate, which is moved in proportion to that of the rest: "
                                "that must not be 0",
                                group.pattern));
      trainer.setNumber(fmt::format("{}/{}", isRate ? "learning_rate_factor" : name, group.pattern), value / rate);
    }
  if (options.accumulate > 1 && !trainer.accumulates())
    throw Error("the step was compiled without --accumulate; compile it anew with it");
  if (options.initialScale)
    trainer.setLossScale(*options.initialScale);
}

TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer) {
  std::optional<ScheduleKind> kind = scheduleFromName(fit.schedule);
  if (!kind)
    throw Error(fmt::format("'{}' is none of the schedules constant, linear, cosine, step, one-cycle", fit.schedule));
  if (kind == ScheduleKind::Step && fit.stepSize <= 0)
    throw Error("the schedule 'step' needs a step size, the steps between its drops (--step-size)");
  TrainingOptions run;
  run.folder = fit.folder;
  run.schedule.kind = *kind;
  run.schedule.rate = trainer.number("learning_rate");
  run.schedule.warmup = fit.warmup;
  run.schedule.every = fit.stepSize;
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

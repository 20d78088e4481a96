#include "train/RunOptions.h"

#include "train/Error.h"
#include "train/StepText.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::train {

void setNumbers(Trainer &trainer, const TrainerOptions &options) {
  for (const auto &[name, value] : options.numbers) {
    // A step that was compiled without momentum has none to set.
    bool isAbsent = name == "momentum" && value == 0 && !trainer.description().hyperparameters.contains(name);
    if (!isCompiledIn(name) && !isAbsent)
      trainer.setNumber(name, value);
  }
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

Schedule makeSchedule(const FitOptions &fit) { return makeSchedule(fit.schedule, fit.warmup, fit.scheduleNumbers); }

TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer) {
  TrainingOptions run;
  run.folder = fit.folder;
  run.schedule = makeSchedule(fit);
  run.schedule.rate = trainer.number("learning_rate");
  if (run.schedule.movesMomentum() && std::ranges::none_of(trainer.description().hyperparameters,
                                                           [](const auto &number) { return isMomentum(number.first); }))
    throw Error(fmt::format("the schedule '{}' moves the momentum or the first beta, and the step has neither: compile "
                            "it with a momentum, or keep the schedule from it (--no-cycle-momentum)",
                            fit.schedule));
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

#ifndef FREESTONE_TRAIN_OPTIONS_RUNOPTIONS_H
#define FREESTONE_TRAIN_OPTIONS_RUNOPTIONS_H

#include "freestone/trainer.h"
#include "train/run/TrainingRun.h"

namespace freestone::train {

/// Throws Error for options that do not apply to the step: numbers that it does not have, including those of groups,
/// gradient accumulation, a loss scale; and for a schedule of a number that it does not have.
void checkNumbers(const StepDescription &step, const TrainerOptions &options);
void checkSchedule(const StepDescription &step, const FitOptions &fit);

/// Sets the numbers of a trainer's options, including those of groups. Throws Error for a number that the step does not
/// have.
void setNumbers(Trainer &trainer, const TrainerOptions &options);

/// The schedule, without its rate and steps. Throws Error as makeSchedule of Schedule.h does.
Schedule makeSchedule(const FitOptions &fit);

/// The options of a training run, from those of applications and the command. Throws Error as checkSchedule does.
TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_OPTIONS_RUNOPTIONS_H

#ifndef FREESTONE_TRAIN_RUNOPTIONS_H
#define FREESTONE_TRAIN_RUNOPTIONS_H

#include "freestone/trainer.h"
#include "train/run/TrainingRun.h"

namespace freestone::train {

/// Throws Error for options that a step has no use for: numbers that it does not take, of groups too, batches to
/// accumulate, a loss scale; and for a schedule of what it does not have.
void checkNumbers(const StepDescription &step, const TrainerOptions &options);
void checkSchedule(const StepDescription &step, const FitOptions &fit);

/// The numbers that a trainer's options have for a step: those of groups too. Throws Error for one that the step does
/// not take.
void setNumbers(Trainer &trainer, const TrainerOptions &options);

/// The schedule, all but its rate and steps. Throws Error as makeSchedule of Schedule.h does.
Schedule makeSchedule(const FitOptions &fit);

/// A training run of what applications and the command's user say of it. Throws Error as checkSchedule does.
TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUNOPTIONS_H

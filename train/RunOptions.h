#ifndef FREESTONE_TRAIN_RUNOPTIONS_H
#define FREESTONE_TRAIN_RUNOPTIONS_H

#include "freestone/trainer.h"
#include "train/TrainingRun.h"

namespace freestone::train {

/// The numbers that a trainer's options have for a step: those of groups too. Throws Error for one that the step does
/// not take.
void setNumbers(Trainer &trainer, const TrainerOptions &options);

/// The schedule, all but its rate and steps. Throws Error as makeSchedule of Schedule.h does.
Schedule makeSchedule(const FitOptions &fit);

/// A training run of what applications and the command's user say of it. Throws Error for a schedule that can't be.
TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUNOPTIONS_H

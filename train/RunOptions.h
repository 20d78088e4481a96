#ifndef FREESTONE_TRAIN_RUNOPTIONS_H
#define FREESTONE_TRAIN_RUNOPTIONS_H

#include "freestone/trainer.h"
#include "train/TrainingRun.h"

namespace freestone::train {

/// The numbers that a trainer's options have for a step: those of groups too. Throws Error for one that the step does
/// not take.
void setNumbers(Trainer &trainer, const TrainerOptions &options);

/// A training run of what applications and the command's user say of it. Throws Error for a schedule that there is not.
TrainingOptions makeRunOptions(const FitOptions &fit, const TrainerOptions &options, const Trainer &trainer);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUNOPTIONS_H

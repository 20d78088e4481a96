// The valid options of a training: equal for the command and for applications.
#ifndef FREESTONE_TRAIN_OPTIONS_OPTIONRULES_H
#define FREESTONE_TRAIN_OPTIONS_OPTIONRULES_H

#include "freestone/trainer.h"
#include "words/Choice.h"
#include "words/NumberRange.h"

namespace freestone::train {

/// The valid numbers of an option, by its name in the command, without dashes: "label-smoothing".
const words::NumberRange &rangeOf(std::string_view option);

/// The valid words of an option: "loss", "optimizer", "precision", "moments", "update", "recompute", "target",
/// "schedule".
const words::Choice &choiceOf(std::string_view option);

/// The valid values of a number of an optimizer or a loss scale, by its name in TrainerOptions::numbers; unknown names
/// accept any, since an optimizer graph may define them.
const words::NumberRange &rangeOfNumber(std::string_view name);

/// Throws Error for the first invalid value, in the terms of the command without its dashes: "batch 0: must be a whole
/// number from 1 to 1000000000".
void checkOptions(const TrainerOptions &options);
void checkOptions(const FitOptions &options);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_OPTIONS_OPTIONRULES_H

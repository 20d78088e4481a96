// What a user may choose of a training: the same for the command and for applications.
#ifndef FREESTONE_TRAIN_OPTIONRULES_H
#define FREESTONE_TRAIN_OPTIONRULES_H

#include "freestone/trainer.h"
#include "words/Choice.h"
#include "words/NumberRange.h"

namespace freestone::train {

/// The numbers that an option may be, by its name in the command, without dashes: "label-smoothing".
const words::NumberRange &rangeOf(std::string_view option);

/// The words that an option takes: "loss", "optimizer", "precision", "moments", "recompute", "target", "schedule".
const words::Choice &choiceOf(std::string_view option);

/// The numbers that one of an optimizer or a loss scale may be, by its name in TrainerOptions::numbers: any for one
/// that is unknown here, since an optimizer's own graph may take it.
const words::NumberRange &rangeOfNumber(std::string_view name);

/// Throws Error for the first value that can't be, in the words of the command without its dashes: "batch 0: must be
/// a whole number from 1 to 1000000000".
void checkOptions(const TrainerOptions &options);
void checkOptions(const FitOptions &options);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_OPTIONRULES_H

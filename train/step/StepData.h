// Data for a training step: the inputs that they fill, and the samples.
#ifndef FREESTONE_TRAIN_STEP_STEPDATA_H
#define FREESTONE_TRAIN_STEP_STEPDATA_H

#include "train/data/ArrayFiles.h"
#include "train/data/Dataset.h"
#include "train/step/StepDescription.h"

namespace freestone::train {

/// The step's inputs that come from data: the model's, and the labels. The others are numbers.
std::vector<ValueInfo> dataInputs(const StepDescription &step, const std::vector<ValueInfo> &inputs);

/// The same inputs as fields, with the ranges of their values.
std::vector<Field> dataFields(const StepDescription &step, const std::vector<ValueInfo> &inputs);

/// The only array of `files`, for windows over a text of tokens. Throws Error if there are several.
const formats::TensorView &textOf(const ArrayFiles &files);

/// The samples of `files`, which must outlive them: rows of arrays, or windows of one text if `window` is given. Checks
/// names, types and shapes. Throws Error.
std::unique_ptr<Dataset> openSamples(const ArrayFiles &files, const std::string &window, const StepDescription &step,
                                     const std::vector<Field> &fields);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_STEPDATA_H

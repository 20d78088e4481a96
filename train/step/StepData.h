// Data for a training step: which inputs they fill, and the samples in them.
#ifndef FREESTONE_TRAIN_STEPDATA_H
#define FREESTONE_TRAIN_STEPDATA_H

#include "train/data/ArrayFiles.h"
#include "train/data/Dataset.h"
#include "train/step/StepDescription.h"

namespace freestone::train {

/// Those of a step's inputs that data fill: the model's, and the labels. The others are numbers.
std::vector<ValueInfo> dataInputs(const StepDescription &step, const std::vector<ValueInfo> &inputs);

/// The same with what their values may be.
std::vector<Field> dataFields(const StepDescription &step, const std::vector<ValueInfo> &inputs);

/// The only array of `files`, which a window reads as a text of tokens. Throws Error where there are others.
const formats::TensorView &textOf(const ArrayFiles &files);

/// The samples of `files`, which must outlive them: rows of arrays, or windows of one text where `window` says so.
/// Looks at everything that can be seen before a batch is made: names, types, shapes, and labels that are no class.
/// Throws Error.
std::unique_ptr<Dataset> openSamples(const ArrayFiles &files, const std::string &window, const StepDescription &step,
                                     const std::vector<Field> &fields);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEPDATA_H

#include "train/step/StepData.h"

#include "train/Error.h"
#include "train/data/ArrayDataset.h"
#include "train/data/TokenDataset.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::train {

std::vector<ValueInfo> dataInputs(const StepDescription &step, const std::vector<ValueInfo> &inputs) {
  std::vector<ValueInfo> filled;
  std::ranges::copy_if(inputs, std::back_inserter(filled), [&](const ValueInfo &input) {
    bool isRandom = input.name == "seed" || input.name == "micro_batch";
    return !step.hyperparameters.contains(input.name) && !(step.takesSeed && isRandom && input.shape.empty());
  });
  return filled;
}

std::vector<Field> dataFields(const StepDescription &step, const std::vector<ValueInfo> &inputs) {
  std::vector<Field> fields;
  for (const ValueInfo &input : dataInputs(step, inputs)) {
    Field &field = fields.emplace_back(Field{input.name, input.dtype, input.shape});
    if (input.name == step.labels && step.classes > 0)
      field.range = IntegerRange{0, step.classes - 1, step.ignoreIndex};
  }
  return fields;
}

const formats::TensorView &textOf(const ArrayFiles &files) {
  if (files.arrays().size() != 1)
    throw Error(fmt::format("a window needs one array of tokens, but there are: {}", files.describe()));
  return files.arrays().front();
}

static std::unique_ptr<Dataset> openWindows(const ArrayFiles &files, const std::string &window,
                                            const StepDescription &step, const std::vector<Field> &fields) {
  auto labels = std::ranges::find(fields, step.labels, &Field::name);
  if (fields.size() != 2 || labels == fields.end())
    throw Error("a window is for models with one input of tokens, and a loss over classes");
  return std::make_unique<TokenDataset>(textOf(files), parseWindow(window), fields[labels == fields.begin() ? 1 : 0],
                                        *labels);
}

std::unique_ptr<Dataset> openSamples(const ArrayFiles &files, const std::string &window, const StepDescription &step,
                                     const std::vector<Field> &fields) {
  if (window.empty())
    return std::make_unique<ArrayDataset>(files, fields);
  return openWindows(files, window, step, fields);
}

} // namespace freestone::train

#ifndef FREESTONE_TRAIN_MODELOUTPUTS_H
#define FREESTONE_TRAIN_MODELOUTPUTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace freestone::train {

/// The sizes of an output as an ONNX model's file declares them, -1 for those that are not constant; of its first
/// output where `name` is empty. Empty where the file declares no shape of it, or can't be read as a model.
std::vector<int64_t> readOutputShape(const std::string &model, const std::string &name);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MODELOUTPUTS_H

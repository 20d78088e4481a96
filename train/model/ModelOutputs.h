#ifndef FREESTONE_TRAIN_MODEL_MODELOUTPUTS_H
#define FREESTONE_TRAIN_MODEL_MODELOUTPUTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace freestone::train {

/// The declared sizes of an output in an ONNX model's file, -1 if not constant; of the first output if `name` is empty.
/// Empty if the file declares no shape, or can't be read as a model.
std::vector<int64_t> readOutputShape(const std::string &model, const std::string &name);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MODEL_MODELOUTPUTS_H

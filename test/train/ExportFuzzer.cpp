// The model's bytes are untrusted: an export gives a file, or an error of one sentence.
#include "train/Error.h"
#include "train/model/ModelExport.h"
#include <unistd.h>

using namespace freestone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path = "/tmp/freestone-export-fuzzer-" + std::to_string(getpid()) + ".onnx";
  static const float values[3] = {1, 2, 3};
  formats::TensorView weight{"w", FREESTONE_F32, {3}, {reinterpret_cast<const uint8_t *>(values), sizeof(values)}};
  train::ExportOptions options{.modelFolder = "/nonexistent", .largestFile = size % 2 ? 0 : UINT64_MAX};
  try {
    train::exportModel({data, size}, {&weight, size % 3 ? 1u : 0u}, path, options);
  } catch (const train::Error &) {
  }
  unlink(path.c_str());
  unlink((path + ".data").c_str());
  return 0;
}

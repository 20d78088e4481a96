// Exports a model with the tensors of a safetensors file: model.onnx weights.safetensors out.onnx LARGEST_FILE
#include "formats/Safetensors.h"
#include "runtime/platform/File.h"
#include "train/Error.h"
#include "train/model/ModelExport.h"
#include <cstdio>

using namespace freestone;

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  runtime::Result<runtime::platform::MappedFile> model = runtime::platform::MappedFile::open(argv[1]);
  runtime::Result<runtime::platform::MappedFile> weights = runtime::platform::MappedFile::open(argv[2]);
  if (!model.ok() || !weights.ok())
    return 2;
  std::string folder(argv[1]);
  train::ExportOptions options{.modelFolder = folder.substr(0, folder.rfind('/')), .largestFile = std::stoull(argv[4])};
  try {
    train::exportModel(model->bytes(), formats::parseSafetensors(weights->bytes()).tensors, argv[3], options);
  } catch (const std::runtime_error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

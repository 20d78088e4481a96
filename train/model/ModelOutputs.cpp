#include "train/model/ModelOutputs.h"

#include "formats/FormatError.h"
#include "formats/ProtobufFields.h"
#include "runtime/platform/File.h"
#include "train/model/ModelInitializers.h"
#include <optional>

using namespace freestone::formats;

namespace freestone::train {

/// ONNX's field numbers on the path to the sizes of an output, fixed by onnx.proto.
namespace field {
constexpr uint64_t graphOutput = 12, valueName = 1, valueType = 2, tensorType = 1, shape = 2, dim = 1, dimValue = 1;
} // namespace field

template <typename Visit> static void forEachMessage(Bytes message, uint64_t number, Visit visit) {
  for (ProtobufReader reader(message); !reader.atEnd();)
    if (ProtobufField found = reader.next(); found.number == number && found.type == WireType::Delimited)
      visit(found.payload);
}

static std::vector<int64_t> readShape(Bytes type) {
  std::vector<int64_t> sizes;
  forEachMessage(type, field::tensorType, [&](Bytes tensor) {
    forEachMessage(tensor, field::shape, [&](Bytes shape) {
      forEachMessage(shape, field::dim, [&](Bytes dim) {
        int64_t &size = sizes.emplace_back(-1);
        for (ProtobufReader reader(dim); !reader.atEnd();)
          if (ProtobufField value = reader.next(); value.number == field::dimValue && value.type == WireType::Varint)
            size = static_cast<int64_t>(value.value);
      });
    });
  });
  return sizes;
}

std::vector<int64_t> readOutputShape(const std::string &model, const std::string &name) {
  runtime::Result<runtime::platform::MappedFile> file = runtime::platform::MappedFile::open(model);
  if (!file.ok())
    return {};
  std::optional<std::vector<int64_t>> found;
  try {
    forEachMessage((*file).bytes(), onnx_field::modelGraph, [&](Bytes graph) {
      forEachMessage(graph, field::graphOutput, [&](Bytes output) {
        std::string called;
        forEachMessage(output, field::valueName, [&](Bytes text) { called.assign(text.begin(), text.end()); });
        if (!found && (name.empty() || called == name))
          forEachMessage(output, field::valueType, [&](Bytes type) { found = readShape(type); });
      });
    });
  } catch (const FormatError &) {
    // The compiler reports the error.
    return {};
  }
  return found.value_or(std::vector<int64_t>());
}

} // namespace freestone::train

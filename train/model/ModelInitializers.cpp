#include "train/model/ModelInitializers.h"
#include "formats/FormatError.h"
#include "formats/ProtobufFields.h"
#include <charconv>
#include <fmt/format.h>

using namespace freestone::formats;

namespace freestone::train {

static bool isTyped(uint64_t number) {
  switch (number) {
  case 4:  // float_data
  case 5:  // int32_data
  case 6:  // string_data
  case 7:  // int64_data
  case 10: // double_data
  case 11: // uint64_data
    return true;
  }
  return false;
}

bool holdsElements(uint64_t number) {
  return isTyped(number) || number == onnx_field::rawData || number == onnx_field::externalData ||
         number == onnx_field::dataLocation;
}

static std::string textOf(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

static uint64_t parseNumber(const std::string &text) {
  uint64_t number;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw FormatError(fmt::format("'{}' is not a number of bytes", text));
  return number;
}

static void readEntry(Bytes entry, ExternalData &external) {
  std::string key, value;
  for (ProtobufReader reader(entry); !reader.atEnd();) {
    ProtobufField field = reader.next();
    if (field.number == onnx_field::entryKey)
      key = textOf(field.payload);
    if (field.number == onnx_field::entryValue)
      value = textOf(field.payload);
  }
  if (key == "location")
    external.location = value;
  if (key == "offset")
    external.offset = parseNumber(value);
  if (key == "length")
    external.length = parseNumber(value);
}

Initializer parseInitializer(Bytes tensor) {
  Initializer initializer;
  ExternalData external;
  bool isExternal = false;
  for (ProtobufReader reader(tensor); !reader.atEnd();) {
    ProtobufField field = reader.next();
    initializer.isTyped |= isTyped(field.number);
    switch (field.number) {
    case onnx_field::dims:
      appendVarints(field, initializer.shape);
      break;
    case onnx_field::dataType:
      initializer.dataType = static_cast<int64_t>(field.value);
      break;
    case onnx_field::name:
      initializer.name = textOf(field.payload);
      break;
    case onnx_field::rawData:
      initializer.rawData = field.payload;
      break;
    case onnx_field::externalData:
      readEntry(field.payload, external);
      break;
    case onnx_field::dataLocation:
      isExternal = field.value == 1;
      break;
    }
  }
  if (isExternal)
    initializer.external = external;
  return initializer;
}

} // namespace freestone::train

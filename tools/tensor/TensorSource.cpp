#include "tools/tensor/TensorSource.h"
#include "tools/tensor/InlineTensor.h"
#include "tools/tensor/Npy.h"
#include "tools/tensor/Npz.h"
#include "tools/tensor/TensorProto.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::tools {

/// Runs `read` and prefixes the path to the message of its exceptions, keeping their type.
template <typename Read> static auto namingPath(const std::string &path, Read read) {
  try {
    return read();
  } catch (const UnsupportedValue &error) {
    throw UnsupportedValue(fmt::format("{}: {}", path, error.what()));
  } catch (const TensorError &error) {
    throw TensorError(fmt::format("{}: {}", path, error.what()));
  }
}

Tensor readTensorFile(const std::string &path) {
  bool npy = path.ends_with(".npy");
  if (!npy && !path.ends_with(".pb"))
    throw TensorError(fmt::format("{}: a tensor is a .npy or .pb file, or written as 2x3xf32=0.5", path));
  std::vector<uint8_t> bytes = readFile(path);
  return namingPath(path, [&] { return npy ? parseNpy(bytes) : parseTensorProto(bytes).tensor; });
}

std::vector<NamedTensor> readInputs(const std::string &argument) {
  size_t equals = argument.find('=');
  if (argument.ends_with(".npz") && (equals == std::string::npos || argument.find('/') < equals)) {
    std::vector<uint8_t> bytes = readFile(argument);
    return namingPath(argument, [&] { return parseNpz(bytes); });
  }
  std::string name, source = argument;
  if (equals != std::string::npos && !isInlineTensor(argument)) {
    name = argument.substr(0, equals);
    source = argument.substr(equals + 1);
  }
  std::vector<NamedTensor> inputs;
  inputs.push_back({name, isInlineTensor(source) ? parseInlineTensor(source) : readTensorFile(source)});
  return inputs;
}

/// The elements of a sequence that one argument gives; nothing for other arguments.
static std::optional<NamedValue> readSequence(const std::string &argument) {
  size_t equals = argument.find('=');
  if (equals == std::string::npos || argument.find('/') < equals || isInlineTensor(argument))
    return std::nullopt;
  NamedValue value{argument.substr(0, equals), NamedValue::Kind::Sequence, {}};
  std::string source = argument.substr(equals + 1);
  if (source == "[]")
    return value;
  if (source.ends_with(".npz")) {
    std::vector<uint8_t> bytes = readFile(source);
    for (NamedTensor &element : namingPath(source, [&] { return parseNpz(bytes); }))
      value.elements.push_back(std::move(element.tensor));
    return value;
  }
  if (!source.ends_with(".pb"))
    return std::nullopt;
  std::vector<uint8_t> bytes = readFile(source);
  NamedValue read = namingPath(source, [&] { return parseValueProto(bytes); });
  read.name = value.name;
  return read;
}

std::vector<NamedValue> readValues(const std::vector<std::string> &arguments) {
  std::vector<NamedValue> values;
  for (const std::string &argument : arguments) {
    if (std::optional<NamedValue> sequence = readSequence(argument)) {
      values.push_back(std::move(*sequence));
      continue;
    }
    for (NamedTensor &tensor : readInputs(argument)) {
      auto earlier = std::ranges::find(values, tensor.name, &NamedValue::name);
      if (earlier != values.end() && earlier->kind == NamedValue::Kind::Tensor)
        earlier->elements.push_back(std::move(tensor.tensor));
      else
        values.push_back(NamedValue::of(std::move(tensor)));
    }
  }
  return values;
}

void writeTensorFile(const std::string &path, const Tensor &tensor) { writeFile(path, formatNpy(tensor)); }

void writeTensorArchive(const std::string &path, const std::vector<NamedTensorRef> &tensors) {
  writeFile(path, formatNpz(tensors));
}

} // namespace freestone::tools

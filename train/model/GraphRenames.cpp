#include "train/model/GraphRenames.h"

#include "formats/ProtobufFields.h"
#include "train/model/ModelInitializers.h"

using namespace freestone::formats;

namespace freestone::train {

static void append(std::string &out, Bytes bytes) { out.append(bytes.begin(), bytes.end()); }

GraphRenames::GraphRenames(std::span<const SeparateInitializer> separate) {
  for (const SeparateInitializer &initializer : separate) {
    copies.emplace(initializer.of, initializer.name);
    for (auto [node, input] : initializer.inputs)
      inputs[node][input] = initializer.name;
    if (initializer.identity)
      dropped.insert(*initializer.identity);
  }
}

std::vector<std::string> GraphRenames::copiesOf(const std::string &initializer) const {
  std::vector<std::string> names;
  for (auto [at, end] = copies.equal_range(initializer); at != end; ++at)
    names.push_back(at->second);
  return names;
}

std::optional<std::string> GraphRenames::renameInputs(int64_t position, Bytes node) const {
  auto renamed = inputs.find(position);
  if (renamed == inputs.end())
    return std::nullopt;
  std::string out;
  int64_t number = 0;
  for (ProtobufReader reader(node); !reader.atEnd();) {
    ProtobufField field = reader.next();
    auto name = renamed->second.end();
    if (field.number == onnx_field::nodeInput)
      name = renamed->second.find(number++);
    if (name == renamed->second.end())
      append(out, field.whole);
    else
      writeDelimitedField(out, onnx_field::nodeInput, name->second);
  }
  return out;
}

std::string readValueName(Bytes info) {
  std::string name;
  for (ProtobufReader reader(info); !reader.atEnd();)
    if (ProtobufField field = reader.next(); field.number == onnx_field::valueName)
      name.assign(field.payload.begin(), field.payload.end());
  return name;
}

std::string renameValue(Bytes info, const std::string &name) {
  std::string out;
  writeDelimitedField(out, onnx_field::valueName, name);
  for (ProtobufReader reader(info); !reader.atEnd();)
    if (ProtobufField field = reader.next(); field.number != onnx_field::valueName)
      append(out, field.whole);
  return out;
}

} // namespace freestone::train

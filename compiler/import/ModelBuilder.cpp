#include "compiler/import/ModelBuilder.h"

using namespace llvm;

namespace freestone::importer {

Tensor ModelBuilder::fromData(const TensorData &data) {
  std::optional<Content> content;
  if (data.count <= maxContent && !data.isStripped())
    content = contentOf(data);
  if (content)
    return fromContent(std::move(*content), sizes(data.dims), data.type);
  return fromWeight(addConstant(data.type, data.dims, data.bytes), data.dims, data.type, std::nullopt);
}

std::string ModelBuilder::addConstant(mlir::Type type, ArrayRef<int64_t> dims, ArrayRef<char> bytes) {
  std::string name;
  do
    name = "constant_" + std::to_string(constants++);
  while (weights.find(name));
  weights.addOwned(name, type, dims, std::vector<char>(bytes.begin(), bytes.end()));
  return name;
}

mlir::Value ModelBuilder::createLargeConstant(const Content &content, graph::TensorType type) {
  std::string bytes = bytesOf(content, type.getElementType());
  std::string name = addConstant(type.getElementType(), *type.getStaticShape(), {bytes.data(), bytes.size()});
  return create<graph::WeightOp>(type, getStringAttr(name)).getResult();
}

Tensor ModelBuilder::randomKey() {
  mlir::Type word = getIntegerType(32, false);
  if (!stepKey) {
    mlir::Block &entry = function().getBody().front();
    stepKey = fromValue(entry.addArgument(graph::TensorType::getStatic({3}, word), function().getLoc()));
  }
  return concat({stepKey, reshape(scalar(randomOperators++, word), {size(1)})}, 0);
}

Tensor ModelBuilder::fixedRandomKey(std::optional<uint64_t> seed, uint64_t draw) {
  // Operators without a seed are apart from each other, and from all that have one.
  uint64_t first = seed.value_or(0), isUnseeded = seed ? 0 : 1, number = seed ? draw : randomOperators++;
  Content words;
  for (uint64_t word : {first & UINT32_MAX, first >> 32, isUnseeded, number})
    words.push_back(size(static_cast<int64_t>(word)));
  return fromContent(std::move(words), {size(4)}, getIntegerType(32, false));
}

} // namespace freestone::importer

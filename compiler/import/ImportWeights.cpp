#include "compiler/import/ModelImport.h"
#include "compiler/weights/NamePatterns.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

LogicalResult ModelImport::separateParameters() {
  origins = findOrigins(graph);
  if (!options.ties)
    return success();
  std::string unmatched;
  FailureOr<SharedInitializers> shared = separateInitializers(file, origins, *options.ties, unmatched);
  if (failed(shared))
    return fail(ImportError::Kind::Usage, "the pattern '" + unmatched + "' matches no float weight of the model");
  result.shared = std::move(*shared);
  return success();
}

LogicalResult ModelImport::importWeights() {
  NamePatterns keptNumbers(options.keptNumbers);
  for (const std::shared_ptr<MemoryBuffer> &mapping : file.mappings())
    result.weights->keepAlive(mapping);
  size_t kept = file.mappings().size();
  for (int index = 0; index < graph.initializer_size(); ++index) {
    const onnx::TensorProto &proto = graph.initializer(index);
    if (result.shared.transposed.contains(proto.name()))
      continue;
    const InitializerOrigin &origin = origins[proto.name()];
    std::string complaint;
    FailureOr<ArrayRef<char>> raw = file.rawInitializer(index, complaint);
    if (failed(raw))
      return fail(ImportError::Kind::Invalid, "initializer '" + proto.name() + "': " + complaint);
    TensorData data;
    if (failed(decodeTensor(builder->getContext(), proto, *raw, data, complaint))) {
      if (data.type)
        return fail(ImportError::Kind::Invalid, "initializer '" + proto.name() + "' is broken: " + complaint);
      addUnsupported("initializer", proto.name(), complaint);
      scope.values[proto.name()] = ModelValue(Tensor());
      continue;
    }
    bool hasPath = origin.kind == InitializerOrigin::Kind::Named && StringRef(proto.name()).contains('.');
    bool isKept = options.keepWeights && data.type.isFloat() &&
                  (!data.dims.empty() || origin.kind == InitializerOrigin::Kind::Parameter ||
                   is_contained(options.keptNumbers, proto.name()) || (hasPath && keptNumbers.match(proto.name())));
    if (data.count <= graph::ConstantOp::maxElements && !data.isStripped() && !isKept) {
      if (hasPath && data.type.isFloat() && data.dims.empty())
        result.numbers.push_back(proto.name());
      scope.values[proto.name()] = builder->fromData(data);
      continue;
    }
    bool isMapped = file.isMapped(*raw);
    if (data.isStripped() || (isMapped && data.owned.empty()))
      result.weights->add(proto.name(), data.type, data.dims, data.bytes);
    else
      result.weights->addOwned(proto.name(), data.type, data.dims, {data.bytes.begin(), data.bytes.end()});
    result.initializers[proto.name()] = origin;
    std::optional<Content> content;
    // Matrices of bytes are weights, which stay what they are: numbers computed from them would be wider.
    bool isByteWeight = data.dims.size() > 1 && data.type.getIntOrFloatBitWidth() == 8;
    if (data.count <= ModelBuilder::maxContent && !data.isStripped() && !data.type.isFloat() && !isByteWeight)
      content = contentOf(data);
    scope.values[proto.name()] = builder->fromWeight(proto.name(), data.dims, data.type, std::move(content));
  }
  for (const auto &[copy, original] : result.shared.transposed)
    scope.values[copy] = ModelValue(transpose(scope.values[original].tensor, {1, 0}));
  for (const std::shared_ptr<MemoryBuffer> &mapping : file.mappings().drop_front(kept))
    result.weights->keepAlive(mapping);
  return success();
}

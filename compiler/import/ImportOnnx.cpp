#include "compiler/import/ImportOnnx.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/expressions/Operations.h"
#include "compiler/import/CheckModel.h"
#include "compiler/import/GraphImporter.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/RandomReach.h"
#include "compiler/import/SizeInputs.h"
#include "compiler/weights/NamePatterns.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace freestone {
namespace {

using namespace importer;

/// Imports one model: its inputs, weights, nodes and outputs, in this order.
class ModelImport {
public:
  ModelImport(mlir::MLIRContext *context, ModelFile &file, const ImportOptions &options, ImportError &error)
      : file(file), graph(file.model().graph()), options(options), error(error) {
    context->loadDialect<graph::GraphDialect, sym::SymDialect, mlir::func::FuncDialect>();
    result.module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context), file.model().graph().name());
    result.weights = std::make_unique<WeightStore>();
    mlir::OpBuilder builder(result.module->getBodyRegion());
    auto main = mlir::func::FuncOp::create(builder, builder.getUnknownLoc(), "main", builder.getFunctionType({}, {}));
    main.addEntryBlock();
    this->builder = std::make_unique<ModelBuilder>(main, *result.weights);
    this->builder->setInsertionPointToEnd(&main.getBody().front());
    this->builder->options = options;
  }

  FailureOr<ImportedModel> run();

private:
  LogicalResult fail(ImportError::Kind kind, const Twine &message) {
    error = {kind, message.str()};
    return failure();
  }
  void addUnsupported(StringRef part, const std::string &name, const Twine &reason) {
    result.report.unsupported.push_back({name, "", 0, reason.str(), part.str()});
  }
  LogicalResult separateParameters();
  LogicalResult importWeights();
  LogicalResult importInputs();
  Element statedElement(StringRef input, bool isFloat, int64_t index, int64_t least);
  void importInput(const onnx::ValueInfoProto &info, std::optional<int64_t> leastSize);
  Shape inputShape(const onnx::ValueInfoProto &info);
  LogicalResult applyBounds();
  LogicalResult finish();
  void setAttributes(mlir::func::FuncOp main);
  void reportPorts();

  ModelFile &file;
  const onnx::GraphProto &graph;
  const ImportOptions &options;
  ImportError &error;
  ImportedModel result;
  std::unique_ptr<ModelBuilder> builder;
  Scope scope;
  std::vector<std::string> inputNames;
  std::map<std::string, InitializerOrigin> origins;
};

std::string typeText(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType:
    return "tensor(" + onnxTypeName(type.tensor_type().elem_type()) + ")";
  case onnx::TypeProto::kSequenceType:
    return "seq(" + typeText(type.sequence_type().elem_type()) + ")";
  case onnx::TypeProto::kOptionalType:
    return "optional(" + typeText(type.optional_type().elem_type()) + ")";
  default:
    return "unknown";
  }
}

/// Whether the exporter's rewriter has folded a batch normalization into a convolution, by its list of the rules that
/// made the node.
bool holdsFoldedNorm(const onnx::NodeProto &node) {
  return any_of(node.metadata_props(), [](const onnx::StringStringEntryProto &entry) {
    return entry.key() == "pkg.onnxscript.rewriter.rule_name" && StringRef(entry.value()).contains("FuseBatchNorm");
  });
}

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
    if (data.count <= ModelBuilder::maxContent && !data.isStripped() && !data.type.isFloat())
      content = contentOf(data);
    scope.values[proto.name()] = builder->fromWeight(proto.name(), data.dims, data.type, std::move(content));
  }
  for (const auto &[copy, original] : result.shared.transposed)
    scope.values[copy] = ModelValue(transpose(scope.values[original].tensor, {1, 0}));
  for (const std::shared_ptr<MemoryBuffer> &mapping : file.mappings().drop_front(kept))
    result.weights->keepAlive(mapping);
  return success();
}

/// A constant where the model gives a size, a symbol where it names one, else a new symbol.
Shape ModelImport::inputShape(const onnx::ValueInfoProto &info) {
  Shape shape;
  SizeFacts &facts = builder->sizeFacts();
  for (auto [axis, dim] : enumerate(info.type().tensor_type().shape().dim())) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      shape.push_back(builder->size(dim.dim_value()));
    else if (!dim.dim_param().empty())
      shape.push_back(facts.symbol(dim.dim_param(), SymbolOrigin::Dimension, sym::Interval::size()));
    else
      shape.push_back(
          facts.fresh(info.name() + "_" + std::to_string(axis), SymbolOrigin::Dimension, sym::Interval::size()));
  }
  return shape;
}

/// A new symbol for an element of the next input; a fraction where that holds floats.
Element ModelImport::statedElement(StringRef input, bool isFloat, int64_t index, int64_t least) {
  SizeFacts &facts = builder->sizeFacts();
  std::string name = (input + "_" + Twine(index)).str();
  if (!isFloat)
    return facts.element(name, inputNames.size(), index, {least, sym::Interval::plusInfinity});
  constexpr int64_t most = int64_t(1) << 62, unit = int64_t(1) << graph::floatSymbolBits;
  least = least < -(most / unit) ? -most : least * unit;
  return Element::fraction(facts.element(name, inputNames.size(), index, {least, most}), builder->size(unit));
}

/// `leastSize` is set for inputs whose elements determine sizes.
void ModelImport::importInput(const onnx::ValueInfoProto &info, std::optional<int64_t> leastSize) {
  Tensor tensor;
  mlir::Type type = elementTypeOf(builder->getContext(), info.type().tensor_type().elem_type());
  if (!info.type().has_tensor_type())
    addUnsupported("input", info.name(), "inputs of type " + typeText(info.type()) + " are not supported");
  else if (!type)
    addUnsupported("input", info.name(),
                   "elements of type " + onnxTypeName(info.type().tensor_type().elem_type()) + " are not supported");
  else if (!info.type().tensor_type().has_shape())
    addUnsupported("input", info.name(), "the rank of this input is not known");
  else {
    Shape shape = inputShape(info);
    mlir::Value argument = builder->function().getBody().front().addArgument(
        graph::TensorType::get(shape, type), mlir::NameLoc::get(builder->getStringAttr(info.name())));
    tensor = builder->fromValue(argument);
    std::optional<int64_t> count = tensor.elementCount().asConstant();
    // Most numbers of f64 are no multiple of what symbols count.
    bool isNumber = tensor.isInteger() || (tensor.isFloat() && !type.isF64());
    if (leastSize && isNumber && tensor.rank() <= 1 && count && *count <= graph::ConstantOp::maxElements) {
      Content elements;
      for (int64_t index = 0; index < *count; ++index)
        elements.push_back(statedElement(info.name(), tensor.isFloat(), index, *leastSize));
      tensor.impl()->content = std::move(elements);
    }
    inputNames.push_back(info.name());
  }
  scope.values[info.name()] = tensor;
}

LogicalResult ModelImport::importInputs() {
  StringSet<> initializers;
  StringMap<int64_t> sizeInputs = findSizeInputs(graph);
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::ValueInfoProto &info : graph.input())
    // An input with an initializer is a weight that older models list among the inputs.
    if (!initializers.contains(info.name())) {
      auto size = sizeInputs.find(info.name());
      importInput(info, size == sizeInputs.end() ? std::nullopt : std::optional(size->second));
    }
  return success();
}

LogicalResult ModelImport::applyBounds() {
  for (const DimBound &bound : options.dimBounds) {
    if (bound.minimum < 0 || bound.minimum > bound.maximum || bound.multipleOf < 1 ||
        bound.maximum / bound.multipleOf * bound.multipleOf < bound.minimum)
      return fail(ImportError::Kind::Usage, "the range of '" + bound.symbol + "' is empty or negative");
    if (!builder->sizeFacts().symbols().contains(bound.symbol)) {
      std::string known;
      for (const auto &[name, symbol] : builder->sizeFacts().symbols())
        known += (known.empty() ? "" : ", ") + name;
      return fail(ImportError::Kind::Usage, "the model has no symbol '" + bound.symbol + "'" +
                                                (known.empty() ? ": all its sizes are constant" : "; it has " + known));
    }
    if (bound.minimum == bound.maximum)
      builder->makeEqual(Expr::symbol(builder->getContext(), bound.symbol), builder->size(bound.minimum),
                         "bound sizes");
    else
      builder->sizeFacts().restrict(bound.symbol, {bound.minimum, bound.maximum}, bound.multipleOf);
  }
  return success();
}

void ModelImport::setAttributes(mlir::func::FuncOp main) {
  mlir::OpBuilder &ir = *builder;
  builder->recordSizes();
  for (auto [index, name] : enumerate(inputNames))
    main.setArgAttr(index, "graph.name", ir.getStringAttr(name));
  if (main.getNumArguments() > inputNames.size())
    main.setArgAttr(inputNames.size(), "graph.random_key", ir.getUnitAttr());
  for (auto [index, info] : enumerate(graph.output()))
    main.setResultAttr(index, "graph.name", ir.getStringAttr(info.name()));
  SmallVector<mlir::Attribute> statistics;
  for (auto &[name, next] : builder->statistics) {
    if (options.updatesStatistics())
      main.setResultAttr(graph.output_size() + statistics.size(), "graph.state", ir.getStringAttr(name));
    statistics.push_back(ir.getStringAttr(name));
  }
  if (!statistics.empty())
    main->setAttr("graph.statistics", ir.getArrayAttr(statistics));
  if (!builder->classWeights.empty())
    main->setAttr("graph.class_weights", ir.getStrArrayAttr(builder->classWeights.getArrayRef()));
}

LogicalResult ModelImport::finish() {
  SmallVector<mlir::Value> outputs;
  for (const onnx::ValueInfoProto &info : graph.output()) {
    const ModelValue *value = scope.find(info.name());
    if (!value || !value->isBuilt()) {
      if (result.report.unsupported.empty())
        return fail(ImportError::Kind::Internal, "output '" + info.name() + "' was not built");
      continue;
    }
    if (value->kind != ModelValue::Kind::Tensor)
      addUnsupported("output", info.name(), "outputs of type " + typeText(info.type()) + " are not supported");
    else
      outputs.push_back(value->tensor.value());
  }
  if (options.updatesStatistics())
    for (auto &[name, next] : builder->statistics)
      outputs.push_back(next.value());
  if (std::optional<Refusal> refusal = builder->takeRefusal())
    return fail(ImportError::Kind::Internal, "the outputs were not built: " + refusal->reason);
  if (!result.report.unsupported.empty())
    return success();
  mlir::func::FuncOp main = builder->function();
  builder->create<mlir::func::ReturnOp>(outputs);
  main.setType(
      builder->getFunctionType(main.getBody().front().getArgumentTypes(), mlir::ValueRange(outputs).getTypes()));
  setAttributes(main);
  auto outputNames = map_to_vector(graph.output(), [](const onnx::ValueInfoProto &info) { return info.name(); });
  findReach(main, outputNames, result.report.random);
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(builder->getContext(), [&](mlir::Diagnostic &diagnostic) {
    complaint += (complaint.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (failed(mlir::verify(*result.module)))
    return fail(ImportError::Kind::Internal, "the imported program is not valid: " + complaint);
  return success();
}

void ModelImport::reportPorts() {
  auto report = [&](const onnx::ValueInfoProto &info, std::vector<PortReport> &ports) {
    const ModelValue *value = scope.find(info.name());
    PortReport port{info.name(), typeText(info.type()), {}};
    if (value && value->kind == ModelValue::Kind::Tensor && value->tensor) {
      port.type = typeName(value->tensor.elementType());
      for (Expr extent : value->tensor.shape())
        port.shape.push_back(extent.str());
    }
    ports.push_back(std::move(port));
  };
  StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::ValueInfoProto &info : graph.input())
    if (!initializers.contains(info.name()))
      report(info, result.report.inputs);
  for (const onnx::ValueInfoProto &info : graph.output())
    report(info, result.report.outputs);
}

FailureOr<ImportedModel> ModelImport::run() {
  std::string complaint;
  if (failed(checkModel(file.model(), complaint)))
    return fail(ImportError::Kind::Invalid, complaint);
  scope.opsets[""] = 1;
  for (const onnx::OperatorSetIdProto &set : file.model().opset_import()) {
    std::string domain = set.domain() == "ai.onnx" ? "" : set.domain();
    scope.opsets[domain] = set.version();
    result.report.opsets.push_back({domain, set.version()});
  }
  result.report.nodes = graph.node_size();
  result.report.foldedNorms = count_if(graph.node(), holdsFoldedNorm);
  if (failed(separateParameters()) || failed(importInputs()) || failed(applyBounds()) || failed(importWeights()))
    return failure();
  GraphImporter nodes(*builder, file.model(), result.report);
  nodes.importMain(scope, graph.node());
  if (std::optional<Refusal> refusal = builder->takeRefusal())
    return fail(ImportError::Kind::Invalid, refusal->reason);
  if (failed(finish()))
    return failure();
  reportPorts();
  if (!result.report.unsupported.empty())
    result.module = {};
  return std::move(result);
}

} // namespace

std::string UnsupportedNode::describe() const {
  if (!part.empty())
    return part + " '" + node + "': " + reason;
  return "node '" + node + "' (" + op + ", opset " + std::to_string(opset) + "): " + reason;
}

FailureOr<ImportedModel> importOnnx(mlir::MLIRContext *context, StringRef path, const ImportOptions &options,
                                    ImportError &error) {
  FailureOr<ModelFile> file = ModelFile::open(path, error.message);
  if (failed(file))
    return failure();
  return ModelImport(context, *file, options, error).run();
}

FailureOr<ImportedModel> importOnnxBytes(mlir::MLIRContext *context, ArrayRef<char> bytes, const ImportOptions &options,
                                         ImportError &error) {
  FailureOr<ModelFile> file = ModelFile::parse(bytes, error.message);
  if (failed(file))
    return failure();
  return ModelImport(context, *file, options, error).run();
}

} // namespace freestone

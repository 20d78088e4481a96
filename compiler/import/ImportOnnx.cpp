#include "compiler/import/ImportOnnx.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Syntax.h"
#include "compiler/expressions/Operations.h"
#include "compiler/import/CheckModel.h"
#include "compiler/import/GraphImporter.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/RandomReach.h"
#include "compiler/import/SequencePorts.h"
#include "compiler/import/SizeInputs.h"
#include "compiler/weights/NamePatterns.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

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
  Element statedElement(StringRef input, bool isFloat, int64_t number, int64_t index, int64_t least);
  void importInput(const onnx::ValueInfoProto &info, std::optional<int64_t> leastSize);
  void importSequence(const onnx::ValueInfoProto &info, const StringSet<> &tensorSizes);
  void completeSequences();
  Tensor addInput(StringRef name, graph::TensorType type);
  Shape inputShape(const onnx::ValueInfoProto &info);
  LogicalResult applyBounds();
  LogicalResult addOutputs();
  LogicalResult finish();
  void setAttributes(mlir::func::FuncOp main);
  graph::TensorType portType(const std::string &name, const SequencePort *sequence);
  void reportPorts();

  ModelFile &file;
  const onnx::GraphProto &graph;
  const ImportOptions &options;
  ImportError &error;
  ImportedModel result;
  std::unique_ptr<ModelBuilder> builder;
  Scope scope;
  std::vector<std::string> inputNames, outputNames;
  SmallVector<mlir::Value> outputs;
  /// Inputs that are sequences, until everything that they consist of is there.
  std::vector<std::pair<SequenceInput, Tensor>> sequenceInputs;
  std::map<std::string, InitializerOrigin> origins;
};

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

/// A constant where the model gives a size, a symbol where it names one, else a new symbol.
Shape ModelImport::inputShape(const onnx::ValueInfoProto &info) {
  Shape shape;
  SizeFacts &facts = builder->sizeFacts();
  for (auto [axis, dim] : enumerate(info.type().tensor_type().shape().dim())) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      shape.push_back(builder->size(dim.dim_value()));
    else if (!dim.dim_param().empty())
      shape.push_back(facts.dimension(dim.dim_param()));
    else
      shape.push_back(
          facts.fresh(info.name() + "_" + std::to_string(axis), SymbolOrigin::Dimension, sym::Interval::size()));
  }
  return shape;
}

/// A new symbol for an element of the input of this number; a fraction where that holds floats.
Element ModelImport::statedElement(StringRef input, bool isFloat, int64_t number, int64_t index, int64_t least) {
  SizeFacts &facts = builder->sizeFacts();
  std::string name = (input + "_" + Twine(index)).str();
  if (!isFloat)
    return facts.element(name, number, index, {least, sym::Interval::plusInfinity});
  constexpr int64_t most = int64_t(1) << 62, unit = int64_t(1) << graph::floatSymbolBits;
  least = least < -(most / unit) ? -most : least * unit;
  return Element::fraction(facts.element(name, number, index, {least, most}), builder->size(unit));
}

Tensor ModelImport::addInput(StringRef name, graph::TensorType type) {
  inputNames.push_back(name.str());
  return builder->fromValue(
      builder->function().getBody().front().addArgument(type, mlir::NameLoc::get(builder->getStringAttr(name))));
}

/// `leastSize` is set for inputs whose elements determine sizes.
void ModelImport::importInput(const onnx::ValueInfoProto &info, std::optional<int64_t> leastSize) {
  Tensor tensor;
  mlir::Type type = elementTypeOf(builder->getContext(), info.type().tensor_type().elem_type());
  if (!type)
    addUnsupported("input", info.name(),
                   "elements of type " + onnxTypeName(info.type().tensor_type().elem_type()) + " are not supported");
  else if (!info.type().tensor_type().has_shape())
    addUnsupported("input", info.name(), "the rank of this input is not known");
  else {
    int64_t number = inputNames.size();
    tensor = addInput(info.name(), graph::TensorType::get(inputShape(info), type));
    std::optional<int64_t> count = tensor.elementCount().asConstant();
    // Most numbers of f64 are no multiple of what symbols count.
    bool isNumber = tensor.isInteger() || (tensor.isFloat() && !type.isF64());
    if (leastSize && isNumber && tensor.rank() <= 1 && count && *count <= graph::ConstantOp::maxElements) {
      Content elements;
      for (int64_t index = 0; index < *count; ++index)
        elements.push_back(statedElement(info.name(), tensor.isFloat(), number, index, *leastSize));
      tensor.impl()->content = std::move(elements);
    }
  }
  scope.values[info.name()] = tensor;
}

void ModelImport::importSequence(const onnx::ValueInfoProto &info, const StringSet<> &tensorSizes) {
  const onnx::TypeProto::Tensor *element = elementTypeOf(info.type());
  scope.values[info.name()] = ModelValue(Tensor());
  if (!element)
    return addUnsupported("input", info.name(), "inputs of type " + typeText(info.type()) + " are not supported");
  if (!elementTypeOf(builder->getContext(), element->elem_type()))
    return addUnsupported("input", info.name(),
                          "elements of type " + onnxTypeName(element->elem_type()) + " are not supported");
  std::optional<int64_t> rank =
      element->has_shape() ? std::optional<int64_t>(element->shape().dim_size()) : rankOfInserted(graph, info.name());
  if (options.keepWeights)
    return addUnsupported("input", info.name(), "a model that is trained takes no " + typeText(info.type()));
  SequenceInput input = describeInput(*builder, info, rank, tensorSizes);
  sequenceInputs.push_back({input, addInput(info.name(), input.stack)});
}

/// What sequences consist of besides their stacks comes behind the model's inputs.
void ModelImport::completeSequences() {
  mlir::OpBuilder &ir = *builder;
  for (auto &[input, stack] : sequenceInputs) {
    Tensor sizes, presence;
    if (const std::string &name = input.port.sizes; !name.empty())
      sizes = addInput(name, graph::TensorType::get({stack.dim(0), builder->size(input.open.size())}, ir.getI64Type()));
    if (const std::string &name = input.port.presence; !name.empty())
      presence = addInput(name, graph::TensorType::get({}, ir.getI1Type()));
    scope.values[input.port.name] = input.value(stack, sizes, presence);
    result.sequences.push_back(input.port);
  }
}

LogicalResult ModelImport::importInputs() {
  StringSet<> initializers, tensorSizes;
  StringMap<int64_t> sizeInputs = findSizeInputs(graph);
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::ValueInfoProto &info : graph.input()) {
    bool isOptional = info.type().has_optional_type() && !info.type().optional_type().elem_type().has_sequence_type();
    if (const auto *element = elementTypeOf(info.type()); element && (info.type().has_tensor_type() || isOptional))
      for (const auto &dim : element->shape().dim())
        tensorSizes.insert(dim.dim_param());
  }
  tensorSizes.erase("");
  for (const onnx::ValueInfoProto &info : graph.input()) {
    // An input with an initializer is a weight that older models list among the inputs.
    if (initializers.contains(info.name()))
      continue;
    auto size = sizeInputs.find(info.name());
    if (info.type().has_tensor_type())
      importInput(info, size == sizeInputs.end() ? std::nullopt : std::optional(size->second));
    else
      importSequence(info, tensorSizes);
  }
  completeSequences();
  return success();
}

/// Bounds of `32*units`, as a model names its dimension, as those of `units`.
DimBound asBoundOfSymbol(mlir::MLIRContext *context, const DimBound &bound) {
  FailureOr<Expr> named = sym::parseExpr(context, bound.symbol);
  auto multiple = succeeded(named) ? named->asMultiple() : std::nullopt;
  if (!multiple)
    return bound;
  auto [symbol, factor] = *multiple;
  return {symbol.str(), llvm::divideCeilSigned(bound.minimum, factor), bound.maximum / factor,
          std::lcm(bound.multipleOf, factor) / factor};
}

LogicalResult ModelImport::applyBounds() {
  for (const DimBound &given : options.dimBounds) {
    DimBound bound = asBoundOfSymbol(builder->getContext(), given);
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
  for (auto [index, name] : enumerate(outputNames))
    main.setResultAttr(index, "graph.name", ir.getStringAttr(name));
  SmallVector<mlir::Attribute> statistics;
  for (auto &[name, next] : builder->statistics) {
    if (options.updatesStatistics())
      main.setResultAttr(outputNames.size() + statistics.size(), "graph.state", ir.getStringAttr(name));
    statistics.push_back(ir.getStringAttr(name));
  }
  if (!statistics.empty())
    main->setAttr("graph.statistics", ir.getArrayAttr(statistics));
  if (!builder->classWeights.empty())
    main->setAttr("graph.class_weights", ir.getStrArrayAttr(builder->classWeights.getArrayRef()));
}

/// What sequences consist of besides their stacks comes behind the model's outputs.
LogicalResult ModelImport::addOutputs() {
  SmallVector<std::pair<std::string, Tensor>> behind;
  for (const onnx::ValueInfoProto &info : graph.output()) {
    const ModelValue *value = scope.find(info.name());
    if (!value || !value->isBuilt()) {
      if (result.report.unsupported.empty())
        return fail(ImportError::Kind::Internal, "output '" + info.name() + "' was not built");
      continue;
    }
    Tensor tensor = value->tensor;
    if (value->kind != ModelValue::Kind::Tensor) {
      SequencePort port;
      auto tensors = describeOutput(*builder, info, *value, port);
      if (std::optional<Refusal> refusal = builder->takeRefusal()) {
        addUnsupported("output", info.name(), refusal->reason);
        continue;
      }
      result.sequences.push_back(port);
      tensor = tensors.front().second;
      append_range(behind, drop_begin(tensors));
    }
    outputs.push_back(tensor.value());
    outputNames.push_back(info.name());
  }
  for (auto &[name, tensor] : behind) {
    outputs.push_back(tensor.value());
    outputNames.push_back(name);
  }
  return success();
}

LogicalResult ModelImport::finish() {
  if (failed(addOutputs()))
    return failure();
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
  // What belongs to an output is reached as that output.
  std::vector<std::string> reached = outputNames;
  for (const SequencePort &port : result.sequences)
    for (std::string &name : reached)
      if (!port.isInput && (name == port.sizes || name == port.presence))
        name = port.name;
  findReach(main, reached, result.report.random);
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(builder->getContext(), [&](mlir::Diagnostic &diagnostic) {
    complaint += (complaint.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (failed(mlir::verify(*result.module)))
    return fail(ImportError::Kind::Internal, "the imported program is not valid: " + complaint);
  return success();
}

/// The type of an input or output in the program; null if it has none. That of a sequence is its stack's.
graph::TensorType ModelImport::portType(const std::string &name, const SequencePort *sequence) {
  const ModelValue *value = scope.find(name);
  if (!sequence)
    return value && value->kind == ModelValue::Kind::Tensor && value->tensor ? value->tensor.type()
                                                                             : graph::TensorType();
  if (!sequence->isInput)
    return cast<graph::TensorType>(outputs[find(outputNames, name) - outputNames.begin()].getType());
  return find_if(sequenceInputs, [&](auto &input) { return input.first.port.name == name; })->second.type();
}

void ModelImport::reportPorts() {
  auto report = [&](const onnx::ValueInfoProto &info, std::vector<PortReport> &ports) {
    PortReport port{info.name(), typeText(info.type())};
    auto sequence = find_if(result.sequences, [&](const SequencePort &sequence) {
      return sequence.name == info.name() && sequence.isInput == (&ports == &result.report.inputs);
    });
    bool isSequence = sequence != result.sequences.end();
    if (isSequence)
      port.kind = kindName(sequence->kind);
    if (graph::TensorType type = portType(info.name(), isSequence ? &*sequence : nullptr)) {
      port.type = typeName(type.getElementType());
      for (auto [axis, extent] : enumerate(type.getShape().drop_front(isSequence ? 1 : 0)))
        port.shape.push_back(extent.str() + (isSequence && int64_t(axis) < sequence->lacking ? "?" : ""));
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

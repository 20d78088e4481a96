#include "compiler/import/ModelImport.h"
#include "compiler/import/SizeInputs.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

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

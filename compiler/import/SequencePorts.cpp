#include "compiler/import/SequencePorts.h"
#include "compiler/import/operators/ValueForms.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

std::string importer::typeText(const onnx::TypeProto &type) {
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

std::string importer::kindName(SequencePort::Kind kind) {
  return kind == SequencePort::Kind::Sequence   ? "sequence"
         : kind == SequencePort::Kind::Optional ? "optional"
                                                : "optional-sequence";
}

const onnx::TypeProto::Tensor *importer::elementTypeOf(const onnx::TypeProto &type) {
  const onnx::TypeProto *inner = &type;
  if (inner->has_optional_type())
    inner = &inner->optional_type().elem_type();
  if (inner->has_sequence_type())
    inner = &inner->sequence_type().elem_type();
  return inner->has_tensor_type() ? &inner->tensor_type() : nullptr;
}

static SequencePort::Kind kindOf(const onnx::TypeProto &type) {
  if (!type.has_optional_type())
    return SequencePort::Kind::Sequence;
  return type.optional_type().elem_type().has_sequence_type() ? SequencePort::Kind::OptionalSequence
                                                              : SequencePort::Kind::Optional;
}

/// Names the tensors behind a port.
static void nameTensors(SequencePort &port) {
  if (!port.openAxes.empty())
    port.sizes = "sizes of " + port.name;
  if (port.kind == SequencePort::Kind::OptionalSequence)
    port.presence = "presence of " + port.name;
}

ModelValue SequenceInput::value(Tensor stack, Tensor sizes, Tensor presence) const {
  ModelValue sequence = ModelValue::stacked(stack, sizes, open, port.lacking);
  if (port.kind == SequencePort::Kind::Optional)
    return ModelValue::stackedOptional(sequence);
  return presence ? ModelValue::optionalSequence(sequence, presence) : sequence;
}

std::optional<int64_t> importer::rankOfInserted(const onnx::GraphProto &graph, StringRef input) {
  for (const onnx::NodeProto &node : graph.node()) {
    if (node.op_type() != "SequenceInsert" || node.input_size() < 2 || node.input(0) != input)
      continue;
    for (const onnx::ValueInfoProto &info : graph.input())
      if (info.name() == node.input(1) && info.type().tensor_type().has_shape())
        return info.type().tensor_type().shape().dim_size();
  }
  return std::nullopt;
}

SequenceInput importer::describeInput(ModelBuilder &builder, const onnx::ValueInfoProto &info,
                                      std::optional<int64_t> rank, const StringSet<> &tensorSizes) {
  const onnx::TypeProto::Tensor &element = *elementTypeOf(info.type());
  SizeFacts &facts = builder.sizeFacts();
  SequenceInput input;
  input.port = {info.name(), /*isInput=*/true, kindOf(info.type())};
  bool isOptional = input.port.kind == SequencePort::Kind::Optional;
  input.port.lacking = rank ? 0 : mostDimensions;
  sym::Interval lengths = isOptional ? sym::Interval{0, 1} : sym::Interval::size();
  Shape shape = {facts.fresh(info.name() + "_length", SymbolOrigin::Dimension, lengths)};
  for (int axis = 0; axis < rank.value_or(mostDimensions); ++axis) {
    const auto &dim =
        element.has_shape() ? element.shape().dim(axis) : onnx::TensorShapeProto::Dimension::default_instance();
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      shape.push_back(builder.size(dim.dim_value()));
      continue;
    }
    std::string name = dim.dim_param();
    shape.push_back(name.empty() ? facts.fresh(info.name() + "_" + std::to_string(axis), SymbolOrigin::Dimension,
                                               sym::Interval::size())
                                 : facts.dimension(name));
    // A single element has no other beside it.
    if (!rank || (!isOptional && !tensorSizes.contains(name))) {
      input.open.push_back({axis, name});
      input.port.openAxes.push_back(axis);
      input.port.openNames.push_back(name);
    }
  }
  input.stack = graph::TensorType::get(shape, elementTypeOf(builder.getContext(), element.elem_type()));
  nameTensors(input.port);
  return input;
}

/// What the type of an output says of a sequence that is always empty.
static std::optional<StackForm> declaredForm(ModelBuilder &builder, const onnx::TypeProto &type) {
  const onnx::TypeProto::Tensor *element = elementTypeOf(type);
  mlir::Type elementType = element ? elementTypeOf(builder.getContext(), element->elem_type()) : mlir::Type();
  if (!elementType || !element->has_shape()) {
    builder.refuse("it is always empty, and its type does not tell what it holds");
    return std::nullopt;
  }
  StackForm form = {elementType, {}, {}};
  for (const auto &dim : element->shape().dim())
    form.room.push_back(builder.size(std::max<int64_t>(dim.dim_value(), 0)));
  return form;
}

SmallVector<std::pair<std::string, Tensor>> importer::describeOutput(ModelBuilder &builder,
                                                                     const onnx::ValueInfoProto &info,
                                                                     const ModelValue &value, SequencePort &port) {
  std::optional<ValueForm> form = formOfValue(builder, value);
  if (form && !form->stack)
    form->stack = declaredForm(builder, info.type());
  if (!form || !form->stack)
    return {};
  bool isOptional = form->kind == ModelValue::Kind::Optional;
  if (isOptional && kindOf(info.type()) == SequencePort::Kind::OptionalSequence)
    form->isOptionalSequence = true;
  port = {info.name(), /*isInput=*/false,
          form->isOptionalSequence ? SequencePort::Kind::OptionalSequence
          : isOptional             ? SequencePort::Kind::Optional
                                   : SequencePort::Kind::Sequence};
  for (const OpenSize &open : form->stack->open)
    port.openAxes.push_back(open.axis);
  port.openNames.resize(port.openAxes.size());
  port.lacking = form->stack->lacking;
  nameTensors(port);
  Values tensors = flatten(builder, value, *form);
  if (tensors.empty())
    return {};
  SmallVector<std::pair<std::string, Tensor>> named = {{info.name(), tensors[form->isOptionalSequence].tensor}};
  if (!port.sizes.empty())
    named.push_back({port.sizes, tensors.back().tensor});
  if (!port.presence.empty())
    named.push_back({port.presence, tensors.front().tensor});
  return named;
}

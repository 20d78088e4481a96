#include "compiler/import/operators/ValueForms.h"

using namespace llvm;

namespace freestone::importer {

using ValueKind = ModelValue::Kind;

std::optional<ValueForm> formOfValue(ModelBuilder &builder, const ModelValue &value) {
  if (value.kind == ValueKind::Tensor)
    return ValueForm();
  ValueForm form = {value.kind};
  if (value.kind == ValueKind::Absent) {
    builder.refuse("a value that is absent is passed on");
    return std::nullopt;
  }
  bool holdsSequence =
      value.kind == ValueKind::Optional && !value.elements.empty() && value.elements.front().kind != ValueKind::Tensor;
  form.isOptionalSequence = holdsSequence;
  form.stack = formOf(builder, holdsSequence ? value.elements.front() : value);
  return builder.stopped() ? std::nullopt : std::optional(form);
}

std::optional<ValueForm> joinForms(ModelBuilder &builder, const ValueForm &a, const ValueForm &b) {
  ValueForm form = a;
  form.isOptionalSequence = a.isOptionalSequence || b.isOptionalSequence;
  bool isEmpty = (!a.isTensor() && !a.stack) || (!b.isTensor() && !b.stack);
  if (a.kind != b.kind || (a.isOptionalSequence != b.isOptionalSequence && !isEmpty)) {
    builder.refuse("a tensor, a sequence and an optional are passed on as the same value");
    return std::nullopt;
  }
  if (a.stack && b.stack)
    form.stack = joinForms(builder, *a.stack, *b.stack);
  else if (b.stack)
    form.stack = b.stack;
  return builder.stopped() ? std::nullopt : std::optional(form);
}

Values flatten(ModelBuilder &builder, const ModelValue &value, const ValueForm &form) {
  if (form.isTensor())
    return {value};
  if (!form.stack)
    return builder.refuse("what an empty sequence holds is unknown"), Values();
  Values tensors;
  ModelValue content = value;
  if (form.isOptionalSequence) {
    bool isKnown = !value.elements.empty();
    tensors.push_back(value.presence ? value.presence : builder.scalar(isKnown, builder.getI1Type()));
    content = isKnown ? value.elements.front() : ModelValue::sequence({});
  }
  ModelValue stack = stackAs(builder, content, *form.stack);
  tensors.push_back(stack.tensor);
  if (!form.stack->open.empty())
    tensors.push_back(stack.sizes);
  return builder.stopped() ? Values() : tensors;
}

ModelValue restore(const ValueForm &form, ArrayRef<ModelValue> &tensors) {
  auto next = [&] {
    Tensor tensor = tensors.front().tensor;
    tensors = tensors.drop_front();
    return tensor;
  };
  if (form.isTensor())
    return next();
  Tensor presence = form.isOptionalSequence ? next() : Tensor();
  Tensor stack = next();
  ModelValue sequence = ModelValue::stacked(stack, form.stack->open.empty() ? Tensor() : next(), form.stack->open);
  if (form.isOptionalSequence)
    return ModelValue::optionalSequence(sequence, presence);
  return form.kind == ValueKind::Optional ? ModelValue::stackedOptional(sequence) : sequence;
}

} // namespace freestone::importer

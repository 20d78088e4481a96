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
  ValueForm form = a.isOptionalSequence || !b.isOptionalSequence ? a : b;
  form.isOptionalSequence = a.isOptionalSequence || b.isOptionalSequence;
  // A sequence is an optional one that is there, and what is empty may be a sequence or a tensor.
  auto fits = [&](const ValueForm &own) {
    return own.kind == form.kind ? own.isOptionalSequence == form.isOptionalSequence || !own.stack
                                 : form.isOptionalSequence && own.kind == ValueKind::Sequence;
  };
  if (!fits(a) || !fits(b)) {
    builder.refuse("a tensor, a sequence and an optional are passed on as the same value");
    return std::nullopt;
  }
  if (a.stack && b.stack)
    form.stack = joinForms(builder, *a.stack, *b.stack);
  else
    form.stack = a.stack ? a.stack : b.stack;
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
    bool isSequence = value.kind == ValueKind::Sequence, isThere = isSequence || !value.elements.empty();
    tensors.push_back(value.presence ? value.presence : builder.scalar(isThere, builder.getI1Type()));
    if (!isSequence)
      content = isThere ? value.elements.front() : ModelValue::sequence({});
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
  Tensor sizes = form.stack->open.empty() ? Tensor() : next();
  ModelValue sequence = ModelValue::stacked(stack, sizes, form.stack->open, form.stack->lacking);
  if (form.isOptionalSequence)
    return ModelValue::optionalSequence(sequence, presence);
  return form.kind == ValueKind::Optional ? ModelValue::stackedOptional(sequence) : sequence;
}

} // namespace freestone::importer

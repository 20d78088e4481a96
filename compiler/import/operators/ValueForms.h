#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_VALUEFORMS_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_VALUEFORMS_H

#include "compiler/import/operators/Regions.h"
#include "compiler/import/operators/StackedSequences.h"

namespace freestone::importer {

/// The tensors that stand for a value where the program passes it on, between regions or to its caller: itself; the
/// stack of a sequence or of an optional tensor, and the open sizes where there are any; before these, whether an
/// optional sequence is present.
struct ValueForm {
  ModelValue::Kind kind = ModelValue::Kind::Tensor;
  bool isOptionalSequence = false;
  /// Of what is no tensor; nothing while only an empty sequence is known.
  std::optional<StackForm> stack = std::nullopt;

  bool isTensor() const { return kind == ModelValue::Kind::Tensor; }
  size_t tensors() const { return isTensor() ? 1 : 1 + isOptionalSequence + !stack->open.empty(); }
};

// All refuse where a value has no such form.

std::optional<ValueForm> formOfValue(ModelBuilder &builder, const ModelValue &value);
/// A form for both.
std::optional<ValueForm> joinForms(ModelBuilder &builder, const ValueForm &a, const ValueForm &b);
/// The tensors of a value in this form; none if it was refused.
Values flatten(ModelBuilder &builder, const ModelValue &value, const ValueForm &form);
/// The value of the first of these tensors, which are dropped.
ModelValue restore(const ValueForm &form, llvm::ArrayRef<ModelValue> &tensors);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_VALUEFORMS_H

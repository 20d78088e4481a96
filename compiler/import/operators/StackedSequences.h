#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_STACKEDSEQUENCES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_STACKEDSEQUENCES_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// What stacked sequences may be made of: tensors of one type. A size that is the same for all of them is that of the
/// stack; along an open dimension the stack has room for the greatest. The first `lacking` dimensions, all of them
/// open, are those that not every element has.
struct StackForm {
  mlir::Type elementType;
  Shape room;
  llvm::SmallVector<OpenSize> open;
  int64_t lacking = 0;

  bool isOpen(int64_t axis) const;
};

/// All functions return null values and refuse where elements do not fit.

/// The form that a sequence, or the content of an optional, can have; nothing and no refusal if nothing tells what an
/// empty one holds.
std::optional<StackForm> formOf(ModelBuilder &builder, const ModelValue &sequence);
/// A form that the elements of both fit.
std::optional<StackForm> joinForms(ModelBuilder &builder, const StackForm &a, const StackForm &b);
/// Any sequence as a stack of this form.
ModelValue stackAs(ModelBuilder &builder, const ModelValue &sequence, const StackForm &form);
/// Any sequence as a stack.
ModelValue stacked(ModelBuilder &builder, const ModelValue &sequence);

/// The element at the place that an input tells, from the end if negative.
Tensor elementAt(Node &node, const ModelValue &sequence, int64_t placeInput);
/// The only element of a stacked optional.
Tensor onlyElement(Node &node, const ModelValue &optional);
/// With x before the element at the place that an input tells; without one, behind the last.
ModelValue insertInto(Node &node, const ModelValue &sequence, Tensor x, int64_t placeInput);
/// Without the element at the place that an input tells, or the last.
ModelValue eraseFrom(Node &node, const ModelValue &sequence, int64_t placeInput);
/// The elements side by side along an axis of theirs, or along a new one.
Tensor concatStack(Node &node, const ModelValue &sequence, int64_t axis, bool isNew);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_STACKEDSEQUENCES_H

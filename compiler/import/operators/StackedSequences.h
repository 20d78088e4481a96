#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_STACKEDSEQUENCES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_STACKEDSEQUENCES_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// Sequences whose length the run determines: tensors of one shape, stacked along a new first dimension. All functions
/// return null tensors and refuse the node where elements do not fit.

/// The stack of any sequence that is not empty.
Tensor stackOf(Node &node, const ModelValue &sequence);
/// A tensor with the shape of a sequence's elements.
Tensor elementOf(Node &node, const ModelValue &sequence);

/// With x before the element at `place`; behind the last where `place` is the length.
Tensor insertInto(Node &node, Tensor stack, Tensor x, Expr place);
Tensor eraseFrom(Tensor stack, Expr place);
/// The elements side by side along an axis of theirs, or along a new one.
Tensor concatStack(Node &node, Tensor stack, int64_t axis, bool isNew);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_STACKEDSEQUENCES_H

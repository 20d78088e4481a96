#ifndef FREESTONE_COMPILER_ARTIFACT_BUILDDESCRIPTOR_H
#define FREESTONE_COMPILER_ARTIFACT_BUILDDESCRIPTOR_H

#include "compiler/dialect/task/TaskDialect.h"
#include "runtime/artifact/Descriptor.h"

namespace freestone::artifact {

/// The dtype of a tensor's elements; signless integers count as signed. `elementType` must be one of `graph.tensor`'s.
runtime::DType dtypeOf(mlir::Type elementType);

/// Describes the entries, in the order of the compiled table. Weights are listed once by name, in the order of first
/// use, without bytes. The caller fills in target, producer, model name, sites and statistics.
runtime::Descriptor buildDescriptor(llvm::ArrayRef<task::ProgramOp> entries);

} // namespace freestone::artifact

#endif // FREESTONE_COMPILER_ARTIFACT_BUILDDESCRIPTOR_H

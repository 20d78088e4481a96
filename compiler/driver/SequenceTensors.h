#ifndef FREESTONE_COMPILER_DRIVER_SEQUENCETENSORS_H
#define FREESTONE_COMPILER_DRIVER_SEQUENCETENSORS_H

#include "compiler/driver/Interface.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/interpreter/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/artifact/Descriptor.h"

namespace freestone::driver {

/// Tells which inputs and outputs of an entry, by their names, are the tensors of sequences and optionals.
void describeSequences(llvm::ArrayRef<SequencePort> sequences, runtime::Entry &entry);

/// The inputs of a function, in its order, from tensors by name. `error` is one sentence.
mlir::FailureOr<std::vector<interpreter::HostTensor>> bindInputs(mlir::func::FuncOp function,
                                                                 llvm::ArrayRef<SequencePort> sequences,
                                                                 llvm::ArrayRef<freestone_plain_tensor> given,
                                                                 std::string &error);

/// Hands out the outputs of a function in the same form, in its order.
void takeOutputs(mlir::func::FuncOp function, llvm::ArrayRef<SequencePort> sequences,
                 llvm::MutableArrayRef<interpreter::HostTensor> outputs, freestone_take_tensor take, void *user);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_SEQUENCETENSORS_H

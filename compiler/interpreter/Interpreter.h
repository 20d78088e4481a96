#ifndef FREESTONE_COMPILER_INTERPRETER_INTERPRETER_H
#define FREESTONE_COMPILER_INTERPRETER_INTERPRETER_H

#include "compiler/interpreter/HostTensor.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace freestone {
class WeightStore;
} // namespace freestone

namespace freestone::interpreter {

/// Computes a `tile.library`: fills `outputs`, which have their types and sizes. Fails if the service is missing or
/// fails itself.
using LibraryCaller =
    llvm::function_ref<llvm::LogicalResult(llvm::StringRef name, int64_t version, llvm::ArrayRef<HostTensor> inputs,
                                           llvm::MutableArrayRef<HostTensor> outputs)>;

/// Evaluates a function of the graph level, of the tile level (all but `tile.opaque`), or of both mixed: floats in
/// double precision, not rounded between operators (a `graph.cast` to a narrower float rounds), integers exactly and
/// wrapping in their width. Inputs have the order and types of the arguments. Results are rounded to the function's
/// element types; with `wide` every float result is f64, not rounded.
///
/// Fails with a diagnostic at the operation: contradicting sizes (naming value, expected and actual size), an index out
/// of range, an unknown weight, an operation of another level, a missing service. Does not change the function.
/// Thread-safe for functions of one context.
mlir::FailureOr<std::vector<HostTensor>> interpret(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs,
                                                   const WeightStore &weights, bool wide = false,
                                                   LibraryCaller libraries = nullptr);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_INTERPRETER_H

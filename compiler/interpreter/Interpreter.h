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

/// Computes a `tile.library`: fills `outputs`, which have their types and sizes. Fails where there is no such service,
/// or where it fails.
using LibraryCaller =
    llvm::function_ref<llvm::LogicalResult(llvm::StringRef name, int64_t version, llvm::ArrayRef<HostTensor> inputs,
                                           llvm::MutableArrayRef<HostTensor> outputs)>;

/// Evaluates a function of the graph level, of the tile level (all but `tile.opaque`), or of both side by side: floats
/// in double precision, not rounded between operators (a `graph.cast` to a narrower float rounds), integers exactly and
/// wrapping in their width. Inputs are in the order of the arguments and of their types. Results have the element types
/// of the function, rounded to them; with `wide` every float result is f64, not rounded.
///
/// Fails with a diagnostic at the operation: sizes that contradict each other (naming value, expected and actual size),
/// an index out of range, an unknown weight, an operation of another level, a service that is not there. Leaves the
/// function as it is. May be called from several threads for functions of one context.
mlir::FailureOr<std::vector<HostTensor>> interpret(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs,
                                                   const WeightStore &weights, bool wide = false,
                                                   LibraryCaller libraries = nullptr);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_INTERPRETER_H

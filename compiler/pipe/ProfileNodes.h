#ifndef FREESTONE_COMPILER_PIPE_PROFILENODES_H
#define FREESTONE_COMPILER_PIPE_PROFILENODES_H

#include "compiler/device/DeviceDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace freestone::pipe {

/// Predicts what the nodes of a step's forward pass and their gradients cost, one micro-batch of these sizes,
/// typical ones else: of a module with planned programs whose step is one stage (see `pipe-cut-stages`). Times of one worker in
/// nanoseconds, sizes in bytes:
/// ```
/// {"nodes": [{"name": "/fc1/Gemm", "forward": 81000, "backward": 163000,
///             "weights": 81000,                            of backward, for gradients of parameters
///             "activations": 4096,                         of its results that other nodes read
///             "kept": 8192,                                of its results that gradients read
///             "parameters": 1024}, …],                     of those that no earlier node reads
///  "edges": [[0, 1, 4096], …]}                             from node, to node, bytes
/// ```
/// A result that several nodes read is an edge to each of them.
llvm::json::Object profileNodes(mlir::ModuleOp module, const DeviceDescription &device,
                                const llvm::StringMap<int64_t> &sizes);

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_PROFILENODES_H

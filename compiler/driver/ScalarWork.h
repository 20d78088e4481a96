#ifndef FREESTONE_COMPILER_DRIVER_SCALARWORK_H
#define FREESTONE_COMPILER_DRIVER_SCALARWORK_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace freestone::driver {

/// A program with scalar work: neither in a micro-kernel nor vectorized.
struct ScalarProgram {
  std::string program, node; ///< the node's name is empty unless it is a single node
  std::string shape;         ///< of its first result, such as "f32[n, 64]"
  int64_t operations = 0, scalar = 0;
  std::string why;
};

/// The operations of one run at hinted or typical sizes, loads and stores included (see plan/ScalarWork).
struct ScalarWork {
  int64_t operations = 0, scalar = 0;
  std::vector<ScalarProgram> programs; ///< in the order in which they run

  /// {"operations": …, "scalar": …, "programs": [{"program": "p0", "node": "/sum", "shape": "f32[n]", …}, …]}
  llvm::json::Value toJson() const;
  static ScalarWork fromJson(const llvm::json::Value &value);

  /// Nodes, each with the work of all its programs, whose scalar work is a noticeable share of a run.
  std::vector<ScalarProgram> findSlow() const;
};

/// Of a module with planned programs, at the tile level. Constant folding of weights at compile time is left out.
ScalarWork collectScalarWork(mlir::ModuleOp module);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_SCALARWORK_H

#ifndef FREESTONE_COMPILER_DRIVER_SCALARWORK_H
#define FREESTONE_COMPILER_DRIVER_SCALARWORK_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace freestone::driver {

/// A program some of whose work goes element by element: neither through a micro-kernel nor in vectors.
struct ScalarProgram {
  std::string program, node; ///< the node's name is empty where no single one is known
  std::string shape;         ///< of its first result, such as "f32[n, 64]"
  int64_t operations = 0, scalar = 0;
  std::string why;
};

/// The operations of one run at hinted or typical sizes, loads and stores included (see plan/ScalarWork).
struct ScalarWork {
  int64_t operations = 0, scalar = 0;
  std::vector<ScalarProgram> programs; ///< one for each node, in the order in which they run

  /// {"operations": …, "scalar": …, "programs": [{"program": "p0", "node": "/sum", "shape": "f32[n]", …}, …]}
  llvm::json::Value toJson() const;
  static ScalarWork fromJson(const llvm::json::Value &value);

  /// Those that have so much of it that a run is likely to notice.
  std::vector<ScalarProgram> findSlow() const;
};

/// Of a module whose programs are planned, at the tile level. What is computed of weights when the model is compiled is
/// left out.
ScalarWork collectScalarWork(mlir::ModuleOp module);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_SCALARWORK_H

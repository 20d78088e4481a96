#ifndef FREESTONE_COMPILER_DRIVER_CODECACHE_H
#define FREESTONE_COMPILER_DRIVER_CODECACHE_H

#include "cache/Store.h"
#include "compiler/device/DeviceDescription.h"
#include "compiler/driver/Switches.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::driver {

/// The code of whole models, kept for models that differ in names and in the values of weights alone. The key is what
/// the imported module says, with tokens in the place of names (see ModelNames), the optimisations, the machine and the
/// compiler.
class CodeCache {
public:
  /// `compiler` is the build (see CompilerIdentity); nothing is kept where it is empty.
  CodeCache(cache::Store &store, const std::string &compiler) : store(store), compiler(compiler) {}

  /// Looks for the code of `module`, or waits until another process has made it. Otherwise it is to be made, and kept.
  cache::Claim claim(mlir::ModuleOp module, const Switches &switches, const DeviceDescription &device);
  /// Keeps what `claim` did not find.
  void keep(llvm::StringRef code, const std::string &about);

private:
  cache::Store &store;
  const std::string &compiler;
  cache::Ingredients ingredients;
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_CODECACHE_H

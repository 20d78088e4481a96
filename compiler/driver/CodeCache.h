#ifndef FREESTONE_COMPILER_DRIVER_CODECACHE_H
#define FREESTONE_COMPILER_DRIVER_CODECACHE_H

#include "cache/Store.h"
#include "compiler/device/DeviceDescription.h"
#include "compiler/driver/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::driver {

/// A cache of the code of whole models, shared by models that differ only in names and in the values of weights. The
/// key's ingredients are the imported module with tokens for names (see ModelNames), the optimizations, whether tilings
/// are timed, the machine and the compiler.
class CodeCache {
public:
  /// `compiler` identifies the build (see CompilerIdentity); if empty, nothing is cached.
  CodeCache(cache::Store &store, const std::string &compiler) : store(store), compiler(compiler) {}

  /// Looks up the code of `module`, waiting while another process makes it. A claim without code obliges the caller to
  /// make it and `keep` it.
  cache::Claim claim(mlir::ModuleOp module, const Options &options, const DeviceDescription &device);
  /// Stores the code that `claim` did not find.
  void keep(llvm::StringRef code, const std::string &about);

private:
  cache::Store &store;
  const std::string &compiler;
  cache::Ingredients ingredients;
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_CODECACHE_H

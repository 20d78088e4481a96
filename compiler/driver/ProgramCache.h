#ifndef FREESTONE_COMPILER_DRIVER_PROGRAMCACHE_H
#define FREESTONE_COMPILER_DRIVER_PROGRAMCACHE_H

#include "cache/Store.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::driver {

/// A cache of single programs' objects, shared by models: layers that another model has as well are not compiled again.
/// The key does not depend on names in a model nor on values of weights.
class ProgramCache {
public:
  /// `compiler` identifies the build (see CompilerIdentity); if empty, nothing is cached.
  ProgramCache(cache::Store &store, std::string compiler) : store(store), compiler(std::move(compiler)) {}

  /// Records the text of the programs of `module`, at the task level, as an ingredient of their keys: their code alone
  /// does not determine it.
  void describe(mlir::ModuleOp module);

  /// As codegen::lowerToObjects, for modules as of `emitCode`: programs are named by their keys, and only those that
  /// are not cached are lowered. `report` counts the lowered ones.
  mlir::FailureOr<std::vector<codegen::Object>> lower(mlir::ModuleOp code, const DeviceDescription &device,
                                                      llvm::function_ref<void(size_t done, size_t total)> report,
                                                      llvm::StringRef printIrTreeDir = "");

  /// Objects that `lower` compiled, and objects that it found.
  int64_t getCompiled() const { return compiled; }
  int64_t getFound() const { return found; }

private:
  /// The ingredients of the key of a module's object; names the module's program by it.
  cache::Ingredients nameProgram(mlir::ModuleOp code, mlir::ModuleOp module, const cache::Ingredients &device);

  cache::Store &store;
  std::string compiler;
  llvm::StringMap<std::string> texts;
  llvm::StringMap<int64_t> timesNamed;
  int64_t compiled = 0, found = 0;
};

/// The text of a program without its name and locations.
std::string describeProgram(tile::ProgramOp program);

/// Ingredients of every key: the compiler, and the machine that it compiles for.
cache::Ingredients describeDevice(const std::string &compiler, const DeviceDescription &device);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PROGRAMCACHE_H

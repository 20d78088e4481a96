#ifndef FREESTONE_COMPILER_DRIVER_PROGRAMCACHE_H
#define FREESTONE_COMPILER_DRIVER_PROGRAMCACHE_H

#include "cache/Store.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::driver {

/// The objects of single programs, kept between models: one that has the same layers as another compiles only what is
/// new. What is called and how it is named in a model is no part of a program, nor are the values of weights.
class ProgramCache {
public:
  /// `compiler` is the build (see CompilerIdentity); nothing is kept where it is empty.
  ProgramCache(cache::Store &store, std::string compiler) : store(store), compiler(std::move(compiler)) {}

  /// Remembers what the programs of `module`, at the task level, say; their code does not tell any more.
  void describe(mlir::ModuleOp module);

  /// As codegen::lowerToObjects, for modules as `emitCode` makes them: programs get names that follow from what they
  /// are, and only those that are not kept are lowered. `report` counts these.
  mlir::FailureOr<std::vector<codegen::Object>> lower(mlir::ModuleOp code, const DeviceDescription &device,
                                                      llvm::function_ref<void(size_t done, size_t total)> report,
                                                      llvm::StringRef printIrTreeDir = "");

  /// How many objects `lower` made, and how many it found.
  int64_t getCompiled() const { return compiled; }
  int64_t getFound() const { return found; }

private:
  /// What decides the object of a module; gives the module's program its name.
  cache::Ingredients nameProgram(mlir::ModuleOp code, mlir::ModuleOp module, const cache::Ingredients &device);

  cache::Store &store;
  std::string compiler;
  llvm::StringMap<std::string> texts;
  llvm::StringMap<int64_t> timesNamed;
  int64_t compiled = 0, found = 0;
};

/// Ingredients that all that is compiled has in common: the compiler, and the machine that it compiles for.
cache::Ingredients describeDevice(const std::string &compiler, const DeviceDescription &device);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PROGRAMCACHE_H

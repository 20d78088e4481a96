#ifndef FREESTONE_COMPILER_CODEGEN_CPU_LOWERTOOBJECT_H
#define FREESTONE_COMPILER_CODEGEN_CPU_LOWERTOOBJECT_H

#include "compiler/device/DeviceDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm
namespace mlir {
class OpPassManager;
} // namespace mlir

namespace freestone::codegen {

/// What was done, or left, in the code of a module.
struct CodeCounts {
  /// Loops whose strength is not reduced (see `allLoopsAttribute`).
  int64_t unreducedLoops = 0;
  /// Vectors of constants that loops read from memory (see StoreConstants.h).
  int64_t storedConstants = 0;
};

/// An ELF object for the device: position-independent, without thread-local storage.
struct Object {
  std::string name;
  llvm::SmallVector<char, 0> bytes;
  CodeCounts counts;
};

/// An LLVM attribute (`passthrough`) of functions whose innermost loops are aligned to lines of the instruction cache.
inline constexpr llvm::StringLiteral alignedLoopsAttribute = "freestone-aligned-loops";

/// Of functions of modules in all of whose loops LLVM reduces strength, not only in those that compute few addresses.
inline constexpr llvm::StringLiteral allLoopsAttribute = "freestone-all-loops";

/// Of functions of modules in which vectors of constants stay out of memory.
inline constexpr llvm::StringLiteral constantsInRegistersAttribute = "freestone-constants-in-registers";

/// Passes from scf, memref, vector, arith and math to the llvm dialect, for modules made by `codegen-emit-programs`.
void buildLowerToLLVMPipeline(mlir::OpPassManager &passes, const DeviceDescription &device);

/// Lowers every nested module of `module` by that pipeline, in place.
llvm::LogicalResult lowerToLLVM(mlir::ModuleOp module, const DeviceDescription &device, llvm::StringRef printIrTreeDir);

/// LLVM IR of a module of the llvm dialect, after the few passes that it needs. `context` belongs to the calling
/// thread. Adds to `counts`. Null, with a diagnostic, if it can't be translated.
std::unique_ptr<llvm::Module> translateToLLVM(mlir::ModuleOp module, const DeviceDescription &device,
                                              llvm::TargetMachine &machine, llvm::LLVMContext &context,
                                              CodeCounts &counts);

/// Machine code; assembly text if `asText`.
mlir::FailureOr<Object> emitObject(llvm::Module &module, llvm::TargetMachine &machine, bool asText = false);

/// Lowers every nested module of `module` in place and compiles each to an object, on as many threads as the context
/// has. The objects and their order, that of the modules, do not depend on the number of threads. `report` receives the
/// progress after each, from one thread at a time. `printIrTreeDir` is the folder of `printPasses`.
mlir::FailureOr<std::vector<Object>>
lowerToObjects(mlir::ModuleOp module, const DeviceDescription &device,
               llvm::function_ref<void(size_t done, size_t total)> report = nullptr,
               llvm::StringRef printIrTreeDir = "");

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_LOWERTOOBJECT_H

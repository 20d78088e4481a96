#ifndef FREESTONE_COMPILER_DRIVER_PACKAGEARTIFACT_H
#define FREESTONE_COMPILER_DRIVER_PACKAGEARTIFACT_H

#include "compiler/codegen/DeviceDescription.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/dialect/task/TaskDialect.h"
#include "compiler/driver/CompileModel.h"
#include "runtime/Descriptor.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::driver {

/// The elements of the program's constants, by the name of their buffer.
using ConstantBytes = llvm::StringMap<std::vector<char>>;
ConstantBytes collectConstants(llvm::ArrayRef<task::ProgramOp> entries);

/// Stores bytes with the artifact that are no part of the program (see freestone_artifact_attachment).
void attach(runtime::Descriptor &descriptor, ConstantBytes &constants, llvm::StringRef name, llvm::ArrayRef<char> bytes);

/// A module of loops for each program of `module`, and one with the entries; takes the programs out of `module`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitCode(mlir::ModuleOp module, const Options &options);

/// All that an artifact is made of.
struct Package {
  runtime::Descriptor descriptor;
  llvm::ArrayRef<codegen::Object> objects;
  const WeightStore &weights;
  const ConstantBytes &constants;
  const DeviceDescription &device;
  const Options &options;
  llvm::StringRef modelPath;
};

/// Links the objects, runs the entry `init` so that weights are stored as the program reads them, and writes the file. With stripped
/// weights `init` is left to who supplies them. `error` is one sentence.
llvm::LogicalResult writePackage(Package &package, llvm::StringRef path, Statistics &statistics, std::string &error);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PACKAGEARTIFACT_H

#ifndef FREESTONE_COMPILER_DRIVER_PACKAGEARTIFACT_H
#define FREESTONE_COMPILER_DRIVER_PACKAGEARTIFACT_H

#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/task/TaskDialect.h"
#include "compiler/driver/CompileModel.h"
#include "compiler/driver/ModelNames.h"
#include "runtime/artifact/Descriptor.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::driver {

/// The elements of the program's constants, by the name of their buffer.
using ConstantBytes = llvm::StringMap<std::vector<char>>;
ConstantBytes collectConstants(llvm::ArrayRef<task::ProgramOp> entries);

/// A module of loops for each program of `module`, and one for the entries; removes the programs from `module`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitCode(mlir::ModuleOp module, const Options &options);

/// Links the objects and packs them as an artifact without weights (constants excepted), with tokens for names. The
/// caller completes `descriptor` with all that does not follow from the program. `error` is one sentence.
mlir::FailureOr<std::vector<uint8_t>> packCode(runtime::Descriptor descriptor, llvm::ArrayRef<codegen::Object> objects,
                                               const ConstantBytes &constants, const DeviceDescription &device,
                                               std::string &error);

/// The parts of an artifact that are specific to a model, besides its code.
struct ModelParts {
  const ModelNames &names;
  const WeightStore &weights;
  llvm::ArrayRef<SequencePort> sequences;
  /// Stored with the artifact, outside the program (see freestone_artifact_attachment).
  std::vector<std::pair<std::string, llvm::ArrayRef<char>>> attachments;
  llvm::StringRef modelPath;
  bool stripWeights = false;
};

/// Writes the artifact of a model from the code that `packCode` packed: with the model's names, and its weights in the
/// layouts that the entry `init` makes. With stripped weights, the supplier of weights runs `init`. `error` is one
/// sentence.
llvm::LogicalResult writePackage(llvm::ArrayRef<uint8_t> code, const ModelParts &model, llvm::StringRef path,
                                 Statistics &statistics, std::string &error);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PACKAGEARTIFACT_H

#ifndef FREESTONE_COMPILER_CODEGEN_CPU_STAGECALLS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_STAGECALLS_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/StageProgram.h"

namespace freestone::codegen {

/// Calls of the functions of a program's stages. What they take are words in scratch: addresses, the sizes of the
/// program, and those of the tile's part of a stage.
class StageCalls {
public:
  /// `functions` are those of the stages' programs, and become internal to the module; `symbols` the sizes of a part.
  StageCalls(Emission &emission, llvm::ArrayRef<tile::StageProgram> stages,
             llvm::ArrayRef<mlir::func::FuncOp> functions, llvm::ArrayRef<sym::Expr> symbols);

  /// Takes scratch for the words, and for each stage: the same sizes as in the plan's `scratch`.
  void takeScratch(sym::Expr numWords, llvm::ArrayRef<sym::Expr> bytesOfStages);
  /// Stores what the calls of all tiles have in common, with the memory of what stages read and write.
  void storePointers();
  /// Calls a stage's function for all of its tiles; `places` has a value of each symbol.
  void call(unsigned number, const Positions &places);

private:
  mlir::Value getMemory(mlir::Value tensor);
  mlir::Value toWord(mlir::Value index);
  void storeWord(mlir::Value word, int64_t at);

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::ArrayRef<tile::StageProgram> stages;
  llvm::ArrayRef<mlir::func::FuncOp> functions;
  llvm::SmallVector<sym::Expr> symbols;
  mlir::Value words;
  llvm::SmallVector<mlir::Value> ofStages;
  /// Where each stage's pointers and sizes begin among the words.
  llvm::SmallVector<int64_t> pointers, sizes;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_STAGECALLS_H

#ifndef FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELEMITTER_H

#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/plan/DotProductLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace freestone::codegen {

llvm::StringRef getTileFunctionName(TileFunction function);

/// Emits the functions of dot products into a module.
class DotProductKernelEmitter {
public:
  DotProductKernelEmitter(mlir::ModuleOp module, DotProductKernel kernel)
      : builder(mlir::OpBuilder::atBlockEnd(module.getBody())), module(module), location(module.getLoc()),
        kernel(kernel), i64(builder.getI64Type()), pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())) {}

  void emitTileKernel();
  void emitVectorKernel(bool isNarrow);
  void emitEnter();
  void emitLeave();

private:
  /// Bytes of a tile's row, of a row of sums or of B, of a tile, and of a group of a strip or panel.
  static constexpr int64_t tileRow = 64, panelRow = 128, tileBytes = 1024, groupBytes = 2048;
  static constexpr int64_t stripRows = tile::DotProductLayout::unit;
  /// Rows that a group prefetches, and the strips that do.
  static constexpr int64_t rowsAhead = 8, stripsAhead = 4;
  /// Rows whose accumulators fit into vector registers, two vectors each; a strip is three blocks.
  static constexpr int64_t blockRows[] = {11, 11, 10};
  /// The heights of blocks that are emitted: with few rows left, the next greater one computes them.
  static constexpr int64_t heights[] = {1, 2, 3, 4, 6, 8, 10, 11};

  mlir::func::FuncOp open(llvm::StringRef name, mlir::FunctionType type);
  /// Opens the kernel's function, and returns its arguments.
  mlir::ValueRange openKernel(bool isNarrow = false);
  void close() { mlir::func::ReturnOp::create(builder, location); }
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, location, value); }
  mlir::Value word(int64_t value) {
    return mlir::LLVM::ConstantOp::create(builder, location, i64, builder.getI64IntegerAttr(value));
  }
  mlir::Value toIndex(mlir::Value value) {
    return mlir::arith::IndexCastOp::create(builder, location, builder.getIndexType(), value);
  }
  mlir::Value advance(mlir::Value base, mlir::LLVM::GEPArg bytes) {
    return mlir::LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{bytes});
  }
  mlir::Value toWord(mlir::Value index) { return mlir::arith::IndexCastOp::create(builder, location, i64, index); }
  /// Prefetches a row of a panel, and returns the address of the next one.
  mlir::Value prefetchRow(mlir::Value row, mlir::Value pitch) {
    for (int32_t line = 0; line < panelRow; line += tileRow)
      mlir::LLVM::Prefetch::create(builder, location, advance(row, line), /*rw=*/0, /*hint=*/2, /*cache=*/1);
    return advance(row, pitch);
  }
  void call(llvm::StringRef intrinsic, llvm::ArrayRef<int64_t> tiles, mlir::ValueRange rest = {});
  void forStrips(mlir::ValueRange arguments, mlir::Value stripBytes,
                 llvm::function_ref<void(mlir::Value strip, mlir::Value a, mlir::Value c)> body);
  void emitIf(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = {}) {
    codegen::emitIf(builder, location, condition, then, otherwise);
  }
  mlir::Value isSet(mlir::Value word) {
    return mlir::arith::CmpIOp::create(builder, location, mlir::arith::CmpIPredicate::ne, word,
                                       mlir::arith::ConstantIntOp::create(builder, location, i64, 0));
  }
  void addHalves(mlir::Value c);
  void emitPair(const tile::DotProductFactors &factors, mlir::ValueRange arguments, llvm::StringRef multiply);
  void forSums(mlir::Value c, int64_t count, llvm::function_ref<void(int64_t tile, mlir::Value address)> body);
  /// What a block multiplies: so many words of A and B.
  struct Operands {
    mlir::Value words, a, b;
  };
  llvm::SmallVector<mlir::Value> addWords(mlir::ValueRange sums, int64_t vectors, mlir::Value right, mlir::Value mask,
                                          llvm::function_ref<mlir::Value(int64_t row)> getWord);
  llvm::SmallVector<mlir::Value> addPacked(mlir::ValueRange sums, int64_t vectors, const Operands &operands,
                                           mlir::Value ahead);
  llvm::SmallVector<mlir::Value> addInPlace(mlir::ValueRange sums, int64_t vectors, const Operands &operands,
                                            mlir::Value pitch, mlir::Value hasLast, mlir::Value mask);
  /// The rows of the result that a block writes: their columns, and whether there is the last one; null if there always
  /// is.
  struct Results {
    mlir::Value first, pitch, columns, excess, hasLast;
  };
  void storeResults(mlir::ValueRange sums, int64_t vectors, const Results &results);
  void bringResults(int64_t rows, int64_t vectors, const Results &results);
  mlir::func::FuncOp emitBlock(int64_t rows, int64_t vectors);
  void callBlock(llvm::ArrayRef<mlir::func::FuncOp> blocks, mlir::Value rows, int64_t most, mlir::ValueRange operands);

  mlir::OpBuilder builder;
  mlir::ModuleOp module;
  mlir::Location location;
  DotProductKernel kernel;
  mlir::Type i64, pointer;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELEMITTER_H

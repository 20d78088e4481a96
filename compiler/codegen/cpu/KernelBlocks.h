#ifndef FREESTONE_COMPILER_CODEGEN_CPU_KERNELBLOCKS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_KERNELBLOCKS_H

#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/plan/WeightGradientTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace freestone::codegen {

/// Emits a micro-kernel's blocks, each of one height: accumulators in registers, k unrolled. A block is a function
///   void block(i64 columns, i64 depth, ptr A, ptr C, i64 ldc, i64 accumulate, i64 height, ptr ahead, i64 pitch,
///              ptr steps, ptr B of each unrolled step…)
/// whose `steps` are A's, or their offsets where rows of A are not packed.
class KernelBlocks {
  static int32_t getRowPitch(KernelKind kind, tile::MicroKernelAttr shape) {
    if (kind == KernelKind::apart)
      return tile::WeightGradientTiles::channelPitch;
    return kind == KernelKind::across ? static_cast<int32_t>(shape.getWidth()) : 1;
  }

protected:
  KernelBlocks(mlir::OpBuilder &builder, mlir::Location location, KernelKind kind, mlir::Type elementType,
               tile::MicroKernelAttr shape)
      : builder(builder), location(location), kind(kind), elementType(elementType),
        bytes(elementType.getIntOrFloatBitWidth() / 8), shape(shape), lanes(shape.getLanes()),
        unroll(shape.getUnroll()), rowPitch(getRowPitch(kind, shape)),
        pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())),
        vector(mlir::VectorType::get({lanes}, elementType)) {}

  /// A block of `rows` rows and the first `vectors` vectors of a panel. One that prefetches brings one line a
  /// step into L2, from `ahead` on, which takes the place of a load: so there is a variant without.
  mlir::func::FuncOp emitBlock(int64_t rows, int64_t vectors, bool prefetches);
  /// A block for the few columns of a last panel: vectors run along the rows of A, so that no lane computes columns
  /// that do not exist.
  mlir::func::FuncOp emitNarrowBlock(int64_t columns);
  /// Prefetches the lines of so many rows of a panel, `pitch` bytes apart, which a block is going to write.
  void bringRows(mlir::Value rows, mlir::Value first, mlir::Value pitch);
  /// The address of B some steps after `row`.
  mlir::Value getRight(mlir::Value row, int64_t steps, mlir::Value pitch);
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, location, value); }
  mlir::Value word(int64_t value) { return mlir::arith::ConstantIntOp::create(builder, location, value, 64); }
  mlir::Value toIndex(mlir::Value value) {
    return mlir::arith::IndexCastOp::create(builder, location, builder.getIndexType(), value);
  }
  mlir::Value element(mlir::Value base, mlir::LLVM::GEPArg index) { return element(base, elementType, index); }
  mlir::Value element(mlir::Value base, mlir::Type type, mlir::LLVM::GEPArg index) {
    return mlir::LLVM::GEPOp::create(builder, location, pointer, type, base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
  }

  mlir::OpBuilder &builder;
  mlir::Location location;
  KernelKind kind;
  mlir::Type elementType;
  unsigned bytes;
  tile::MicroKernelAttr shape;
  int64_t lanes, unroll;
  /// Elements from a row of A to the next one, within a step.
  int32_t rowPitch;
  mlir::Type pointer;
  mlir::VectorType vector;

private:
  mlir::func::FuncOp openBlock(const std::string &name);
  mlir::Value multiplyPairs(mlir::Value a, mlir::Value b);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
  mlir::Value addUp(mlir::Value a, mlir::Value b);
  mlir::Value loadBroadcast(mlir::Value address);
  llvm::SmallVector<mlir::Value> emitStep(mlir::ValueRange sums, int64_t vectors,
                                          llvm::function_ref<mlir::Value(int32_t row)> getFactor, mlir::Value right);
  mlir::Value getLeft(mlir::Value a, mlir::Value steps, int32_t step, int32_t rows);
  mlir::Value loadOffset(mlir::Value steps, int32_t number);
  mlir::Value getListed(mlir::Value b, int64_t vectors, mlir::Value steps, int32_t step);
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_KERNELBLOCKS_H

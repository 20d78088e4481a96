#ifndef FREESTONE_COMPILER_CODEGEN_CPU_INPLACEKERNELEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_INPLACEKERNELEMITTER_H

#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/InPlaceKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace freestone::codegen {

/// Emits the functions of a kernel.
class InPlaceKernelEmitter {
public:
  InPlaceKernelEmitter(mlir::ModuleOp module, const InPlaceKernel &kernel)
      : builder(mlir::OpBuilder::atBlockEnd(module.getBody())), module(module), location(module.getLoc()),
        kernel(kernel), layout(kernel.layout), i64(builder.getI64Type()),
        pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())),
        element(builder.getIntegerType(8 * elementBytes())), sums(layout.factors.getSumType(builder.getContext())),
        wordType(mlir::VectorType::get({words}, builder.getI32Type())), sumType(mlir::VectorType::get({words}, sums)),
        elementsType(mlir::VectorType::get({groupSteps()}, element)) {}

  void emitUpdates();
  void emitInnerProducts();

private:
  static constexpr int64_t words = tile::DotProductLayout::rowWords, vectorBytes = 64, panelRow = 128,
                           panelColumns = tile::DotProductLayout::unit;
  /// Rows and columns of a block of inner products, and rows of one column.
  static constexpr int64_t mostOfBlock = 4, rowsOfColumn = 8;

  int64_t stepsOfWord() const { return layout.getStepsOfWord(); }
  int64_t elementBytes() const { return tile::DotProductLayout::wordBytes / stepsOfWord(); }
  int64_t groupSteps() const { return layout.getStepsOfGroup(); }
  int64_t resultBytes() const { return kernel.result.getIntOrFloatBitWidth() / 8; }

  // Updates of one number of rows.
  struct Update {
    int64_t rows;
    mlir::Value columns, depth, a, b, pitch, c, excess, accumulate;
  };
  void emitUpdate(const Update &update);
  void emitHeld(const Update &update);
  llvm::SmallVector<mlir::Value> addHeld(const Update &update, mlir::ValueRange sums, mlir::Value word,
                                         mlir::Value stepsOfLast);
  void emitZeros(const Update &update);
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> getFactors(const Update &update, mlir::Value first, int64_t count);
  llvm::SmallVector<mlir::Value> getRowsOfB(const Update &update, mlir::Value first, int64_t count);
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  getWords(llvm::ArrayRef<mlir::Value> rowsOfB, mlir::Value stepsOfLast, mlir::Value column, mlir::Value left);
  void emitWords(const Update &update, int64_t count, mlir::Value first, mlir::Value begin, mlir::Value end);
  void emitColumns(const Update &update, llvm::ArrayRef<llvm::SmallVector<mlir::Value>> factors,
                   llvm::ArrayRef<mlir::Value> rowsOfB, mlir::Value stepsOfLast, mlir::Value column, mlir::Value left);
  void addTo(mlir::Value address, llvm::ArrayRef<mlir::Value> factors, llvm::ArrayRef<mlir::Value> right,
             mlir::Value mask);
  mlir::Value getSums(const Update &update, mlir::Value column, int64_t row);

  // Inner products of a block of rows and columns.
  mlir::func::FuncOp emitBlock(int64_t rows, int64_t columns, bool hasExcess);
  llvm::SmallVector<mlir::Value> addGroup(llvm::SmallVector<mlir::Value> state, llvm::ArrayRef<mlir::Value> a,
                                          llvm::ArrayRef<mlir::Value> b, bool hasExcess, mlir::Value mask);
  void storeBlock(int64_t rows, int64_t columns, mlir::ValueRange state, mlir::ValueRange arguments);
  void forParts(mlir::Value count, int64_t most, llvm::function_ref<void(mlir::Value first, int64_t count)> body);

  mlir::Value flip(mlir::Value vector);
  mlir::Value addProducts(mlir::Value sum, mlir::Value lhs, mlir::Value rhs) {
    return addDotProducts(builder, location, layout.multiplied, sum, lhs, rhs);
  }
  mlir::Value addSums(mlir::Value lhs, mlir::Value rhs) {
    if (mlir::isa<mlir::FloatType>(sums))
      return mlir::arith::AddFOp::create(builder, location, lhs, rhs);
    return mlir::arith::AddIOp::create(builder, location, lhs, rhs);
  }
  mlir::Value zerosOf(mlir::Type type) {
    return mlir::arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
  }
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, location, value); }
  mlir::Value toIndex(mlir::Value word) {
    return mlir::arith::IndexCastOp::create(builder, location, builder.getIndexType(), word);
  }
  mlir::Value toWord(mlir::Value index) { return mlir::arith::IndexCastOp::create(builder, location, i64, index); }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return mlir::arith::AddIOp::create(builder, location, lhs, rhs); }
  mlir::Value subtract(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::SubIOp::create(builder, location, lhs, rhs);
  }
  mlir::Value multiply(mlir::Value lhs, int64_t rhs) {
    return mlir::arith::MulIOp::create(builder, location, lhs, constant(rhs));
  }
  mlir::Value divide(mlir::Value lhs, int64_t rhs) {
    return mlir::arith::DivUIOp::create(builder, location, lhs, constant(rhs));
  }
  mlir::Value isLess(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, location, mlir::arith::CmpIPredicate::slt, lhs, rhs);
  }
  mlir::Value isSet(mlir::Value word) {
    return mlir::arith::CmpIOp::create(builder, location, mlir::arith::CmpIPredicate::ne, word,
                                       mlir::arith::ConstantIntOp::create(builder, location, i64, 0));
  }
  mlir::Value advance(mlir::Value base, mlir::Value bytes) {
    mlir::Value word = bytes.getType().isIndex() ? toWord(bytes) : bytes;
    return mlir::LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{word});
  }
  mlir::Value advance(mlir::Value base, int64_t bytes) { return bytes ? advance(base, constant(bytes)) : base; }
  mlir::Value getMask(int64_t lanes, mlir::Value count) {
    auto type = mlir::VectorType::get({lanes}, builder.getI1Type());
    return mlir::vector::CreateMaskOp::create(builder, location, type, mlir::ValueRange{count});
  }
  mlir::Value load(mlir::VectorType type, mlir::Value address, mlir::Value mask) {
    unsigned bytes = type.getElementTypeBitWidth() / 8;
    if (mask)
      return mlir::LLVM::MaskedLoadOp::create(builder, location, type, address, mask, zerosOf(type), bytes);
    return mlir::LLVM::LoadOp::create(builder, location, type, address, bytes);
  }
  void store(mlir::Value value, mlir::Value address, mlir::Value mask) {
    if (mask)
      mlir::LLVM::MaskedStoreOp::create(builder, location, value, address, mask, 4);
    else
      mlir::LLVM::StoreOp::create(builder, location, value, address, 4);
  }
  void forRange(mlir::Value from, mlir::Value to, int64_t step, llvm::function_ref<void(mlir::Value)> body) {
    auto loop = mlir::scf::ForOp::create(builder, location, from, to, constant(step));
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  void emitIf(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = {}) {
    codegen::emitIf(builder, location, condition, then, otherwise);
  }
  mlir::Value word(int64_t value) { return mlir::arith::ConstantIntOp::create(builder, location, i64, value); }
  mlir::Value selectIfSet(mlir::Value address, mlir::Value then, mlir::Value otherwise) {
    mlir::Value is = isSet(mlir::LLVM::PtrToIntOp::create(builder, location, i64, address));
    return mlir::arith::SelectOp::create(builder, location, is, then, otherwise);
  }

  mlir::OpBuilder builder;
  mlir::ModuleOp module;
  mlir::Location location;
  const InPlaceKernel &kernel;
  const tile::DotProductLayout &layout;
  mlir::Type i64, pointer, element, sums;
  mlir::VectorType wordType, sumType, elementsType;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_INPLACEKERNELEMITTER_H

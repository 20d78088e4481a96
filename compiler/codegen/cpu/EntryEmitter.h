#ifndef FREESTONE_COMPILER_CODEGEN_CPU_ENTRYEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_ENTRYEMITTER_H

#include "compiler/codegen/cpu/EntryTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// The functions of one entry. `bind` and `run` are loops over tables, not sequences of operations and calls: their
/// size and compile time would grow with every size and phase.
class EntryEmitter {
public:
  EntryEmitter(mlir::OpBuilder &module, task::ProgramOp program)
      : builder(module), program(program), slots(program), location(program.getLoc()),
        pointer(mlir::LLVM::LLVMPointerType::get(module.getContext())), i32(module.getI32Type()),
        i64(module.getI64Type()), table(program, slots) {}

  mlir::LLVM::LLVMFuncOp emitBind();
  mlir::LLVM::LLVMFuncOp emitRun(mlir::LLVM::LLVMFuncOp bind);

private:
  mlir::LLVM::GlobalOp emitWords(llvm::StringRef suffix, llvm::ArrayRef<int64_t> values);
  mlir::LLVM::GlobalOp emitTable();
  mlir::LLVM::GlobalOp emitPrograms();
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);
  mlir::LLVM::LLVMFuncOp declareProgram(llvm::StringRef name);

  /// What follows a row: the next one, the status, and the progress number of the iteration's beginning.
  using State = llvm::SmallVector<mlir::Value, 3>;
  State emitRow(mlir::LLVM::LLVMFuncOp bind);
  mlir::Value emitSpace(mlir::LLVM::LLVMFuncOp bind);
  State emitControl();
  State emitTest();
  State emitFork();
  mlir::Value emitWaits(mlir::Value phases, mlir::Value count) { return emitWaits(phases, count, base); }
  mlir::Value emitWaits(mlir::Value phases, mlir::Value count, mlir::Value base);
  mlir::Value emitWaitsOfPhase();
  mlir::Value emitWaitAgain(mlir::Value awaited, mlir::Value loop, mlir::Value iteration);
  mlir::Value getBeginOf(mlir::Value loop) {
    return element(i64, iterations, add(loop, constant(table.getDepth() + table.getNumTurns())));
  }
  void emitPublish(mlir::Value number);
  void emitViews(mlir::Value rows, mlir::Value count, mlir::Value trip);
  mlir::Value holds(mlir::Value condition);
  mlir::Value emitShare();
  mlir::Value emitClaims();
  mlir::Value emitCall(mlir::Value begin, mlir::Value end);
  mlir::Value emitProgramCall(mlir::Value begin, mlir::Value end);
  void emitTrace(mlir::Value begin, mlir::Value end);
  mlir::Value emitRebind(mlir::LLVM::LLVMFuncOp bind, mlir::Value status);
  void emitCopies(mlir::Value count, mlir::Value words, mlir::Type type, mlir::Value to,
                  llvm::function_ref<mlir::Value(mlir::Value)> valueOf);

  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIntOp::create(builder, location, value, 64); }
  mlir::Value status(int64_t value) { return mlir::arith::ConstantIntOp::create(builder, location, value, 32); }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  mlir::Value isZero(mlir::Value value) {
    mlir::Value zero = mlir::arith::ConstantOp::create(builder, location, builder.getZeroAttr(value.getType()));
    return compare(mlir::arith::CmpIPredicate::eq, value, zero);
  }
  /// A condition whose other side needs no taken branch. A processor predicts the end of an iteration by the branches
  /// taken before, of which it remembers some fifty.
  mlir::Value unlikely(mlir::Value condition) {
    mlir::Value no = mlir::arith::ConstantIntOp::create(builder, location, 0, 1);
    return mlir::LLVM::ExpectOp::create(builder, location, condition, no);
  }
  mlir::Value subtract(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::SubIOp::create(builder, location, lhs, rhs);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return mlir::arith::AddIOp::create(builder, location, lhs, rhs); }
  mlir::Value element(mlir::Type type, mlir::Value base, mlir::LLVM::GEPArg index) {
    return mlir::LLVM::GEPOp::create(builder, location, pointer, type, base, llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
  }
  mlir::Value load(mlir::Type type, mlir::Value address) {
    return mlir::LLVM::LoadOp::create(builder, location, type, address);
  }
  mlir::Value load(mlir::Type type, mlir::Value base, mlir::Value index) {
    return load(type, element(type, base, index));
  }
  void store(mlir::Value value, mlir::Value address) { mlir::LLVM::StoreOp::create(builder, location, value, address); }
  mlir::Value field(mlir::Type type, size_t offset) {
    return load(type, element(builder.getI8Type(), context, static_cast<int32_t>(offset)));
  }
  mlir::Value column(EntryTable::Column of) { return load(i64, element(i64, row, static_cast<int32_t>(of))); }
  mlir::Value control(EntryTable::ControlColumn of) { return load(i64, element(i64, row, static_cast<int32_t>(of))); }
  mlir::Value rowAt(mlir::Value position) { return element(i64, firstRow, position); }
  /// The memory of a buffer or view.
  mlir::Value memoryOf(mlir::Value index);
  /// The result of `body` if `condition` holds, else `otherwise`.
  mlir::Value ifThen(mlir::Value condition, mlir::Value otherwise, llvm::function_ref<mlir::Value()> body);
  State ifElse(mlir::Value condition, llvm::function_ref<State()> whenTrue, llvm::function_ref<State()> whenFalse);

  mlir::OpBuilder &builder;
  task::ProgramOp program;
  task::SizeSlots slots;
  mlir::Location location;
  mlir::Type pointer, i32, i64;

  EntryTable table;

  // Values during the emission of `run`.
  mlir::Value context, worker, buffers, sizes, workers, deals, base, scratch, programTable, bufferArguments,
      sizeArguments, row, claimedTiles;
  /// Of programs with loops or branches: the first row, the memory of views, and the iteration of each loop around, how
  /// many times each turn was taken, and the progress number at which each loop's iteration began.
  mlir::Value firstRow, views, iterations;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_ENTRYEMITTER_H

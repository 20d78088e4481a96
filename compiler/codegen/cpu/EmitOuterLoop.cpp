#include "compiler/codegen/cpu/EmitOuterLoop.h"

#include "compiler/dialect/sym/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class OuterLoopEmitter {
public:
  OuterLoopEmitter(const tile::OuterLoopForm &form, const tile::OuterLoopTiles &tiles,
                   ArrayRef<tile::OuterLoopStage> stages, ArrayRef<func::FuncOp> functions, Emission &emission)
      : emission(emission), builder(emission.builder), location(emission.location), form(form), tiles(tiles),
        stages(stages), functions(functions), symbols(tile::OuterLoopSymbols::get(builder.getContext())) {}
  void emit();

private:
  void takeScratch();
  void storePointers();
  Value getMemory(Value tensor);
  void callStage(unsigned number, Value first, Value extent);
  Value toWord(Value index) { return arith::IndexCastOp::create(builder, location, builder.getI64Type(), index); }
  void storeWord(Value word, int64_t at) {
    memref::StoreOp::create(builder, location, word, words, ValueRange{emission.getConstant(at)});
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  const tile::OuterLoopForm &form;
  const tile::OuterLoopTiles &tiles;
  ArrayRef<tile::OuterLoopStage> stages;
  ArrayRef<func::FuncOp> functions;
  tile::OuterLoopSymbols symbols;
  /// The arguments of the stages' functions, and the scratch of each.
  Value words;
  SmallVector<Value> ofStages;
  /// Where each stage's pointers and sizes begin among the words.
  SmallVector<int64_t> pointers, sizes;
};

} // namespace

/// The same sizes as in the plan's `scratch`.
void OuterLoopEmitter::takeScratch() {
  words = emission.takeScratch(builder.getI64Type(), tiles.words);
  for (Expr bytes : tiles.ofStages)
    ofStages.push_back(emission.takeScratch(builder.getI8Type(), bytes));
  SmallVector<Value> buffers;
  for (auto [buffer, elements] : llvm::enumerate(tiles.buffers))
    buffers.push_back(emission.takeScratch(tile::getStorageType(tiles.getElementType(form, buffer)), elements));
  for (auto [result, buffer] : llvm::zip_equal(form.inScratch, tiles.bufferOf))
    emission.setBuffer(result, buffers[buffer]);
}

/// The memory of an argument, or of a stage's result, in scratch or among the program's results.
Value OuterLoopEmitter::getMemory(Value tensor) {
  auto returned = emission.program.getBody()->getTerminator()->getOperands();
  auto place = llvm::find(returned, tensor);
  return place == returned.end() ? emission.getBuffer(tensor) : emission.getResultBuffer(place - returned.begin());
}

/// What the calls of all tiles have in common: addresses, and sizes of the program.
void OuterLoopEmitter::storePointers() {
  int64_t next = 0;
  Value zero = emission.getConstant(0);
  for (const tile::OuterLoopStage &stage : stages) {
    pointers.push_back(next);
    for (Value tensor : llvm::concat<const Value>(stage.arguments, stage.results)) {
      Value pointer = emission.getPointer(getMemory(tensor), zero);
      storeWord(LLVM::PtrToIntOp::create(builder, location, builder.getI64Type(), pointer), next++);
    }
    sizes.push_back(next);
    for (StringAttr symbol : emission.program.getSymbols())
      storeWord(toWord(emission.getSize(Expr::symbol(symbol))), next++);
    next += symbols.getAll().size();
  }
}

void OuterLoopEmitter::emit() {
  takeScratch();
  storePointers();
  Value step = emission.getSize(tiles.step), extent = emission.getSize(form.extent);
  emission.forRange(emission.begin, emission.end, 1, [&](Value tile) {
    Value first = emission.multiply(tile, step);
    Value count = emission.minimum(step, emission.subtract(extent, first));
    for (unsigned number = 0; number < stages.size(); ++number)
      callStage(number, first, count);
  });
}

/// Calls a stage's function for all of its tiles.
void OuterLoopEmitter::callStage(unsigned number, Value first, Value extent) {
  int64_t next = sizes[number] + emission.program.getSymbols().size();
  for (Value place : {extent, first})
    storeWord(toWord(place), next++);
  tile::ProgramOp program = *stages[number].program;
  Value count = sym::lowerExpr(builder, location, program.getPlanAttr().getTiles(), [&](StringRef name) {
    Expr size = Expr::symbol(builder.getContext(), name);
    return toWord(size == symbols.extent ? extent : size == symbols.first ? first : emission.getSize(size));
  });
  func::CallOp::create(builder, location, functions[number],
                       ValueRange{emission.getPointer(words, emission.getConstant(pointers[number])),
                                  emission.getPointer(words, emission.getConstant(sizes[number])),
                                  toWord(emission.getConstant(0)), count,
                                  emission.getPointer(ofStages[number], emission.getConstant(0))});
}

void codegen::emitOuterLoop(const tile::OuterLoopForm &form, const tile::OuterLoopTiles &tiles,
                            ArrayRef<tile::OuterLoopStage> stages, ArrayRef<func::FuncOp> functions,
                            Emission &emission) {
  for (func::FuncOp function : functions)
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(emission.builder.getContext(), LLVM::Linkage::Internal));
  OuterLoopEmitter(form, tiles, stages, functions, emission).emit();
}

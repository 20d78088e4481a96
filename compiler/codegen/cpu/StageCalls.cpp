#include "compiler/codegen/cpu/StageCalls.h"

#include "compiler/dialect/sym/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

StageCalls::StageCalls(Emission &emission, ArrayRef<tile::StageProgram> stages, ArrayRef<func::FuncOp> functions,
                       ArrayRef<Expr> symbols)
    : emission(emission), builder(emission.builder), location(emission.location), stages(stages), functions(functions),
      symbols(symbols) {
  for (func::FuncOp function : functions)
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
}

Value StageCalls::toWord(Value index) {
  return arith::IndexCastOp::create(builder, location, builder.getI64Type(), index);
}

void StageCalls::storeWord(Value word, int64_t at) {
  memref::StoreOp::create(builder, location, word, words, ValueRange{emission.getConstant(at)});
}

void StageCalls::takeScratch(Expr numWords, ArrayRef<Expr> bytesOfStages) {
  words = emission.takeScratch(builder.getI64Type(), numWords);
  for (Expr bytes : bytesOfStages)
    ofStages.push_back(emission.takeScratch(builder.getI8Type(), bytes));
}

/// Of an argument, or of a stage's result, in scratch or among the program's results.
Value StageCalls::getMemory(Value tensor) {
  auto returned = emission.program.getBody()->getTerminator()->getOperands();
  auto place = llvm::find(returned, tensor);
  return place == returned.end() ? emission.getBuffer(tensor) : emission.getResultBuffer(place - returned.begin());
}

void StageCalls::storePointers() {
  int64_t next = 0;
  Value zero = emission.getConstant(0);
  for (const tile::StageProgram &stage : stages) {
    pointers.push_back(next);
    for (Value tensor : llvm::concat<const Value>(stage.arguments, stage.results)) {
      Value pointer = emission.getPointer(getMemory(tensor), zero);
      storeWord(LLVM::PtrToIntOp::create(builder, location, builder.getI64Type(), pointer), next++);
    }
    sizes.push_back(next);
    for (StringAttr symbol : emission.program.getSymbols())
      storeWord(toWord(emission.getSize(Expr::symbol(symbol))), next++);
    next += symbols.size();
  }
}

void StageCalls::call(unsigned number, const Positions &places) {
  int64_t next = sizes[number] + emission.program.getSymbols().size();
  for (Expr symbol : symbols)
    storeWord(toWord(llvm::find_if(places, [&](const Position &place) { return place.symbol == symbol; })->value),
              next++);
  tile::ProgramOp program = *stages[number].program;
  Value zero = emission.getConstant(0);
  Value count = sym::lowerExpr(builder, location, program.getPlanAttr().getTiles(), [&](StringRef name) {
    auto place = llvm::find_if(places, [&](const Position &each) { return each.symbol.asSymbol() == name; });
    Expr size = Expr::symbol(builder.getContext(), name);
    return toWord(place == places.end() ? emission.getSize(size) : place->value);
  });
  func::CallOp::create(builder, location, functions[number],
                       ValueRange{emission.getPointer(words, emission.getConstant(pointers[number])),
                                  emission.getPointer(words, emission.getConstant(sizes[number])), toWord(zero), count,
                                  emission.getPointer(ofStages[number], zero)});
}

#include "compiler/driver/MovedBytes.h"

#include "compiler/plan/Traffic.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/HoistWeights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

int64_t freestone::driver::countMovedBytes(ModuleOp module) {
  int64_t bytes = 0;
  SymbolTable programs(module);
  llvm::DenseMap<Operation *, sym::Expr> ofProgram;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getSymName() == tile::initName || function.getSymName() == tile::packName)
      continue;
    tile::TypicalSizes typical(function);
    int64_t calls = tile::countTypicalCalls(function);
    function.walk([&](tile::CallOp call) {
      auto program = programs.lookup<tile::ProgramOp>(call.getCallee());
      sym::Expr &total = ofProgram[program];
      if (!total)
        total = tile::Traffic::get(program).getTotal();
      llvm::StringMap<sym::Expr> sizes;
      for (auto [symbol, size] : llvm::zip_equal(program.getSymbols(), call.getSizes()))
        sizes[symbol.getValue()] = size;
      bytes +=
          calls * total.evaluate([&](StringRef symbol) { return typical.evaluate(sizes.lookup(symbol)); }).value_or(0);
    });
  }
  return bytes;
}

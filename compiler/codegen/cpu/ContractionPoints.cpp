#include "compiler/codegen/cpu/ContractionPoints.h"

#include "compiler/plan/IndexMaps.h"

using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

ContractionPoints::ContractionPoints(Emission &emission, tile::ContractionForm &form, int64_t lanes,
                                     int64_t stepsOfWord)
    : lanes(lanes), stepsOfWord(stepsOfWord), m(emission.getPositionSymbol("m")), n(emission.getPositionSymbol("n")),
      k(emission.getPositionSymbol("k")), loops(form.compute.getNumLoops()) {
  auto place = [&](llvm::ArrayRef<unsigned> numbers, llvm::ArrayRef<Expr> at) {
    for (auto [loop, expr] : llvm::zip_equal(numbers, at))
      loops[loop] = expr;
  };
  place(form.m, form.getDigits(form.m, m));
  place(form.n, form.getDigits(form.n, n));
  place(form.k, form.getDigits(form.k, k));
  for (auto [number, loop] : llvm::enumerate(form.outer)) {
    outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), mlir::Value()});
    loops[loop] = outer.back().symbol;
  }
}

Expr ContractionPoints::getLinearIndex(tile::ContractionForm &form, unsigned input) const {
  tile::ComputeOp compute = form.compute;
  return tile::getLinearIndex(compute.getInputType(input), tile::getIndices(compute, input, loops));
}

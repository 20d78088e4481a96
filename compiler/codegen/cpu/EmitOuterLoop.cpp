#include "compiler/codegen/cpu/EmitOuterLoop.h"

#include "compiler/codegen/cpu/StageCalls.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

void codegen::emitOuterLoop(const tile::OuterLoopForm &form, const tile::OuterLoopTiles &tiles,
                            ArrayRef<tile::StageProgram> stages, ArrayRef<func::FuncOp> functions, Emission &emission) {
  auto symbols = tile::OuterLoopSymbols::get(emission.builder.getContext());
  StageCalls calls(emission, stages, functions, symbols.getAll());
  calls.takeScratch(tiles.words, tiles.ofStages);
  SmallVector<Value> buffers;
  for (auto [buffer, elements] : llvm::enumerate(tiles.buffers))
    buffers.push_back(emission.takeScratch(tile::getStorageType(tiles.getElementType(form, buffer)), elements));
  for (auto [result, buffer] : llvm::zip_equal(form.inScratch, tiles.bufferOf))
    emission.setBuffer(result, buffers[buffer]);
  calls.storePointers();
  Value step = emission.getSize(tiles.step), extent = emission.getSize(form.extent);
  emission.forRange(emission.begin, emission.end, 1, [&](Value tile) {
    Value first = emission.multiply(tile, step);
    Value count = emission.minimum(step, emission.subtract(extent, first));
    for (unsigned number = 0; number < stages.size(); ++number)
      calls.call(number, {{symbols.extent, count}, {symbols.first, first}});
  });
}

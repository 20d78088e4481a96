#include "compiler/plan/OuterLoopTiles.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Plans.h"
#include "compiler/plan/Scratch.h"
#include "runtime/artifact/abi.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The elements that one stage passes to others at a point: of the result that has most where all sizes of a run are 1.
static Expr getMostElements(const OuterLoopForm &form) {
  auto rank = [&](Value result) {
    Expr elements = form.getElementsOfPoint(result);
    int64_t least = elements.evaluate([](StringRef) { return std::optional<int64_t>(1); }).value_or(1);
    return std::pair(!elements.isConstant(), least);
  };
  return form.getElementsOfPoint(
      *llvm::max_element(form.between, [&](Value lhs, Value rhs) { return rank(lhs) < rank(rhs); }));
}

OuterLoopTiles OuterLoopTiles::get(const OuterLoopForm &form, int64_t elements, int64_t leastTiles) {
  MLIRContext *context = form.extent.context();
  Expr ofPoint = getMostElements(form);
  Expr most = Expr::floorDiv(Expr::constant(context, elements), Expr::max(ofPoint, Expr::constant(context, 1)));
  Expr further = Expr::min(most, Expr::floorDiv(form.extent, leastTiles));
  OuterLoopTiles tiles;
  tiles.step = further + 1;
  tiles.tiles = Expr::ceilDiv(form.extent, tiles.step);
  SmallVector<unsigned> lastReaders;
  for (auto [number, result] : llvm::enumerate(form.inScratch)) {
    auto [made, lastRead] = form.getLiveRange(result);
    Expr elements = tiles.step * form.getElementsOfPoint(result);
    Type type = cast<graph::TensorType>(result.getType()).getElementType();
    unsigned buffer = 0;
    while (buffer < tiles.buffers.size() &&
           (lastReaders[buffer] >= made || tiles.buffers[buffer] != elements || tiles.getElementType(form, buffer) != type))
      ++buffer;
    if (buffer == tiles.buffers.size()) {
      tiles.buffers.push_back(elements);
      lastReaders.push_back(0);
    }
    tiles.bufferOf.push_back(buffer);
    lastReaders[buffer] = lastRead;
  }
  return tiles;
}

Type OuterLoopTiles::getElementType(const OuterLoopForm &form, unsigned buffer) const {
  size_t first = llvm::find(bufferOf, buffer) - bufferOf.begin();
  return cast<graph::TensorType>(form.inScratch[first].getType()).getElementType();
}

FailureOr<OuterLoopTiles> OuterLoopTiles::get(const OuterLoopForm &form, OuterLoopAttr tiling, ProgramOp program,
                                              MutableArrayRef<StageProgram> stages) {
  if (form.stages.size() != tiling.getStages().size())
    return program.emitOpError("has ") << form.stages.size() << " stages, its tiling " << tiling.getStages().size();
  MLIRContext *context = program.getContext();
  OuterLoopTiles tiles = get(form, tiling.getElements(), tiling.getLeastTiles());
  OuterLoopSymbols symbols = OuterLoopSymbols::get(context);
  int64_t words = 0;
  for (auto [stage, ofStage] : llvm::zip_equal(stages, tiling.getStages())) {
    FailureOr<PlanAttr> plan = makePlan(*stage.program, ofStage);
    if (failed(plan))
      return failure();
    stage.program->setPlanAttr(*plan);
    // Operands are copied point by point, or for a few points at a time: blocks of fewer points need no more.
    Expr bytes = plan->getScratch().substitute([&](StringRef symbol) -> std::optional<Expr> {
      return symbol == *symbols.extent.asSymbol() ? std::optional(tiles.step) : std::nullopt;
    });
    if (dependsOnSymbol(bytes, symbols.first))
      return program.emitOpError("has a stage whose scratch depends on its place");
    tiles.ofStages.push_back(bytes + FREESTONE_SCRATCH_HEADER);
    words += stage.arguments.size() + stage.results.size() + stage.program->getSymbols().size();
  }
  tiles.words = Expr::constant(context, words);
  return tiles;
}

Expr OuterLoopTiles::getScratch(const OuterLoopForm &form) const {
  MLIRContext *context = words.context();
  Expr bytes = getScratchBytes(words, IntegerType::get(context, 64));
  for (Expr stage : ofStages)
    bytes = bytes + getScratchBytes(stage, IntegerType::get(context, 8));
  for (auto [buffer, elements] : llvm::enumerate(buffers))
    bytes = bytes + getScratchBytes(elements, getStorageType(getElementType(form, buffer)));
  return bytes;
}

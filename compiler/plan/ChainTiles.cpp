#include "compiler/plan/ChainTiles.h"

#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/plan/Plans.h"
#include "compiler/plan/Scratch.h"
#include "compiler/plan/Variants.h"
#include "compiler/plan/WindowTiles.h"
#include "runtime/artifact/abi.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Elements behind an intermediate, and a row of its reader, that a last vector of windows over its rows reads, and
/// masks.
static constexpr int64_t readBeyond = 64;

ChainTiles ChainTiles::get(const ChainForm &form, ArrayRef<EdgeAttr> edges, int64_t rowUnit, int64_t leastTiles) {
  const ChainStage &last = form.stages.back();
  Expr rows = last.getRows(), images = last.getNumImages();
  // With n rows of the last stage, a tile has scale * n + border rows of an earlier one. No maxima, which expand into
  // several terms: an edge's elements are those of all rows but one unit, and without the border.
  SmallVector<int64_t> scales(form.stages.size(), 1), borders(form.stages.size(), 0);
  Expr further = Expr::floorDiv(images * rows, leastTiles);
  for (unsigned edge = edges.size(); edge-- > 0;) {
    const ChainStage &reader = form.stages[edge + 1];
    scales[edge] = scales[edge + 1] * reader.stride;
    borders[edge] = (borders[edge + 1] - 1) * reader.stride + reader.span;
    Expr elements = Expr::constant(rows.context(), edges[edge].getElements());
    further = Expr::min(further, Expr::floorDiv(elements, form.stages[edge].getRowElements() * scales[edge]));
  }
  ChainTiles tiles;
  tiles.rowStep = (Expr::floorDiv(further, rowUnit) + 1) * rowUnit;
  tiles.rowBlocks = Expr::ceilDiv(rows, tiles.rowStep);
  tiles.tiles = images * tiles.rowBlocks;
  for (auto [number, stage] : llvm::enumerate(form.stages)) {
    tiles.most.push_back(tiles.rowStep * scales[number] + borders[number]);
    if (number + 1 < form.stages.size())
      tiles.between.push_back(tiles.most.back() * stage.getRowElements() + form.stages[number + 1].getPixels() +
                              readBeyond);
  }
  return tiles;
}

FailureOr<SmallVector<StageProgram>> tile::makeStages(const ChainForm &form, ProgramOp program) {
  SmallVector<StageProgram> stages;
  for (unsigned number = 0; number < form.stages.size(); ++number) {
    FailureOr<StageProgram> stage = form.makeStage(number, program);
    if (failed(stage))
      return program.emitOpError("has stages that read an operand at no affine map of the loops");
    stages.push_back(std::move(*stage));
  }
  return stages;
}

Expr tile::getMostExtent(const ChainForm &form, const ChainTiles &tiles, unsigned stage) {
  const ChainStage &of = form.stages[stage];
  return of.isFlat ? tiles.most[stage] * of.getPixels() : tiles.most[stage];
}

/// The scratch of a stage with a plan, for all extents of its loop over rows up to `most`: blocks of about equal size
/// may need more where there are fewer rows. A choice may be any of its nodes.
static Expr getMostScratch(ProgramOp stage, PlanAttr plan, Expr extent, Expr most) {
  if (auto choice = dyn_cast<ChoiceAttr>(plan.getTiling())) {
    Expr bytes = Expr::constant(most.context(), 0);
    for (Attribute each : choice.getTilings())
      bytes = Expr::max(bytes, getMostScratch(stage, *makePlan(stage, each), extent, most));
    return bytes;
  }
  if (auto tiling = dyn_cast<WindowTilingAttr>(plan.getTiling())) {
    std::optional<WindowForm> form = WindowForm::get(stage);
    if (form->rowDim)
      return WindowTiles::get(*form, tiling).getMostScratch(*form);
  }
  if (auto tiling = dyn_cast<ConvolutionTilingAttr>(plan.getTiling())) {
    std::optional<ConvolutionForm> form = ConvolutionForm::get(stage);
    ConvolutionTiles tiles = ConvolutionTiles::get(*form, tiling);
    if (form->rowLoop)
      return tiles.getMostScratch(*form);
    most = tiles.mostPixels;
  }
  return plan.getScratch().substitute([&](StringRef symbol) -> std::optional<Expr> {
    return symbol == *extent.asSymbol() ? std::optional(most) : std::nullopt;
  });
}

FailureOr<ChainTiles> ChainTiles::get(const ChainForm &form, StagesAttr tiling, ProgramOp program,
                                      MutableArrayRef<StageProgram> stages) {
  if (form.stages.size() != tiling.getStages().size())
    return program.emitOpError("has ") << form.stages.size() << " stages, its tiling " << tiling.getStages().size();
  MLIRContext *context = program.getContext();
  ChainTiles tiles = get(form, tiling.getEdges(), tiling.getRowUnit(), tiling.getLeastTiles());
  int64_t words = 0;
  StageSymbols symbols = StageSymbols::get(context, form.getNumImages());
  for (auto [number, stage] : llvm::enumerate(stages)) {
    Attribute ofStage = tiling.getStages()[number];
    // Blocks of channels follow from the number of tiles: scratch would grow as rows become fewer.
    for (Attribute each : getAlternatives(ofStage))
      if (auto convolution = dyn_cast<ConvolutionTilingAttr>(each); convolution && convolution.getLeastTiles() != 1)
        return program.emitOpError("has a stage for ")
               << convolution.getLeastTiles() << " tiles, but these are the chain's";
    FailureOr<PlanAttr> plan = makePlan(*stage.program, ofStage);
    if (failed(plan))
      return failure();
    stage.program->setPlanAttr(*plan);
    Expr bytes = getMostScratch(*stage.program, *plan, symbols.extent, getMostExtent(form, tiles, number));
    llvm::SetVector<StringAttr> found;
    bytes.collectSymbols(found);
    for (Expr symbol : symbols.getAll())
      if (found.contains(StringAttr::get(context, *symbol.asSymbol())))
        return program.emitOpError("has a stage whose scratch depends on its place");
    tiles.ofStages.push_back(bytes + FREESTONE_SCRATCH_HEADER);
    words += stage.arguments.size() + stage.results.size() + stage.program->getSymbols().size();
  }
  tiles.words = Expr::constant(context, words);
  return tiles;
}

Expr ChainTiles::getScratch(const ChainForm &form) const {
  MLIRContext *context = words.context();
  Expr bytes = getScratchBytes(words, IntegerType::get(context, 64));
  for (Expr stage : ofStages)
    bytes = bytes + getScratchBytes(stage, IntegerType::get(context, 8));
  for (auto [number, elements] : llvm::enumerate(between)) {
    auto type = cast<graph::TensorType>(form.getIntermediate(number).getType());
    bytes = bytes + getScratchBytes(elements, getStorageType(type.getElementType()));
  }
  return bytes;
}

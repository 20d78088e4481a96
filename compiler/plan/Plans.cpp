#include "compiler/plan/Plans.h"

#include "compiler/plan/Accesses.h"
#include "compiler/plan/ChainTiles.h"
#include "compiler/plan/ChannelVectors.h"
#include "compiler/plan/Combiner.h"
#include "compiler/plan/ContractionTiles.h"
#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/plan/OuterLoopTiles.h"
#include "compiler/plan/RowForm.h"
#include "compiler/plan/Scratch.h"
#include "compiler/plan/TranspositionTiles.h"
#include "compiler/plan/TreeForm.h"
#include "compiler/plan/Variants.h"
#include "compiler/plan/WeightGradientTiles.h"
#include "compiler/plan/WindowTiles.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static PlanAttr makePlan(ProgramOp program, Attribute tiling, Expr tiles, Expr scratch, const Accesses &accesses) {
  Builder builder(program.getContext());
  return PlanAttr::get(program.getContext(), tiling, tiles, scratch, builder.getArrayAttr(accesses.reads),
                       builder.getArrayAttr(accesses.writes));
}

/// The grid of a contraction, with blocks of `step` rows.
static TileGrid getMatrixGrid(ContractionForm &form, Expr rowBlocks, Expr step, Expr columnBlocks) {
  TileGrid grid = TileGrid::get(form.compute, form.outer, columnBlocks);
  grid.rowBlocks = rowBlocks;
  grid.rows = step;
  if (form.outer.empty() && llvm::equal(form.m, llvm::seq<unsigned>(form.m.size())))
    grid.rowLoops = form.m.size();
  return grid;
}

/// Panels that may be in several groups have tiles of all rows in each.
static PlanAttr planContraction(ProgramOp program, Attribute tiling, ContractionForm &form,
                                const ContractionTiles &tiles) {
  Expr step = Expr::ceilDiv(Expr::ceilDiv(form.getExtent(form.m), tiles.rowBlocks), tiles.rowUnit) * tiles.rowUnit;
  TileGrid grid = getMatrixGrid(form, tiles.rowBlocks, step, tiles.columnTiles);
  if (tiles.mayGroup)
    grid.rowLoops = 0;
  return makePlan(program, tiling, tiles.tiles, tiles.getScratch(), Accesses::get(program, grid));
}

static FailureOr<PlanAttr> planConvolution(ProgramOp program, ConvolutionTilingAttr tiling) {
  std::optional<ConvolutionForm> form = ConvolutionForm::get(program);
  int64_t width = tiling.getKernel().getWidth();
  if (!form || !form->hasPanels(width))
    return program.emitOpError("is tiled as a convolution with weights in panels of ") << width << ", but is none";
  if (tiling.getSkipTaps() && !form->maySkipTaps())
    return program.emitOpError("skips taps that read zeros beyond the picture, but has none");
  if (tiling.getPictures() > 1 && form->getPictureLoops().empty())
    return program.emitOpError("has up to ")
           << tiling.getPictures() << " pictures in a tile, but none with the same weights";
  ConvolutionTiles tiles = ConvolutionTiles::get(*form, tiling);
  ComputeOp compute = form->contraction.compute;
  Expr inner = tiles.columnBlocks * tiles.rowBlocks * tiles.pixelBlocks;
  TileGrid grid = TileGrid::get(compute, tiles.otherLoops, inner);
  auto first = llvm::to_vector(llvm::seq<unsigned>(0, tiles.pictureLoops.size()));
  if (!tiles.pictureLoops.empty())
    grid.inner = grid.inner * tiles.pictureBlocks;
  if (tiles.otherLoops.empty() && !first.empty() && tiles.pictureLoops == first) {
    grid.rowLoops = first.size();
    grid.rows = tiles.pictureStep;
    grid.rowBlocks = tiles.pictureBlocks;
    grid.inner = inner;
  }
  return makePlan(program, tiling, tiles.tiles, tiles.getScratch(form->contraction.elementType),
                  Accesses::get(program, grid));
}

static FailureOr<PlanAttr> planWeightGradient(ProgramOp program, WeightGradientTilingAttr tiling) {
  std::optional<ContractionForm> contraction = getContractionWithEpilogue(program);
  std::optional<WeightGradientForm> form = contraction ? WeightGradientForm::get(contraction->compute) : std::nullopt;
  if (!form)
    return program.emitOpError("is tiled as the gradient of a convolution's weights, but is none");
  if (tiling.getOutputs() ? !form->hasDenseSquares() : form->sumsWindow)
    return program.emitOpError("has taps whose gradient can't be tiled with squares of ") << tiling.getOutputs();
  if (tiling.getApart() && (tiling.getOutputs() || !form->isPointwise(WeightGradientTiles::mostApart)))
    return program.emitOpError("keeps channels apart, but has several taps or long rows");
  WeightGradientTiles tiles = WeightGradientTiles::get(*form, tiling);
  return makePlan(program, tiling, tiles.tiles, tiles.getScratch(form->elementType), Accesses::getUnknown(program));
}

static FailureOr<PlanAttr> planWindow(ProgramOp program, WindowTilingAttr tiling) {
  std::optional<WindowForm> form = WindowForm::get(program);
  if (!form)
    return program.emitOpError("is tiled as a reduction of windows, but is none");
  if (!form->rowLoop && tiling.getRows() != 1)
    return program.emitOpError("has one row of pixels, its tiling blocks of ") << tiling.getRows();
  if (tiling.getUnroll() > 1 && (!form->rowLoop || !form->getNumTaps().isConstant(tiling.getUnroll())))
    return program.emitOpError(
               "computes one tap at a time, or all of a number that is known with rows that share them, not ")
           << tiling.getUnroll();
  if (tiling.getInPlace() && (tiling.getUnroll() == 1 || !form->isReadableInPlace()))
    return program.emitOpError("reads windows in place, but not all of their taps in rows that a stage before holds");
  std::optional<ChannelVectors> vectors = tiling.getChannelVectors() ? ChannelVectors::get(*form) : std::nullopt;
  if (tiling.getChannelVectors() && !vectors)
    return program.emitOpError("has vectors along channels, but neighbours of these are no windows of their own");
  WindowTiles tiles = WindowTiles::get(*form, tiling);
  // In the order that a run's sizes choose.
  if (vectors && vectors->order != form->outer)
    return makePlan(program, tiling, tiles.tiles, tiles.getScratch(*form), Accesses::getUnknown(program));
  TileGrid grid = TileGrid::get(form->compute, form->outer, tiles.rowBlocks * tiles.pixelBlocks);
  return makePlan(program, tiling, tiles.tiles, tiles.getScratch(*form), Accesses::get(program, grid));
}

/// Verifies that lanes and vectors may keep separate accumulators, and that the loops of a pass are one run or all
/// loops.
static LogicalResult verifyPass(ProgramOp program, const RowPasses &passes, unsigned pass, RowsTilingAttr tiling) {
  std::optional<SmallVector<Expr>> extents = getPassExtents(passes, pass, tiling.getRowLoops());
  int64_t loops = tiling.getRunLoops()[pass], lanes = tiling.getLanes()[pass];
  int64_t accumulators = tiling.getAccumulators()[pass];
  if (loops != 1 && (!extents || static_cast<int64_t>(extents->size()) != loops))
    return program.emitOpError("has no ") << loops << " loops over the elements of a row in pass " << pass;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction || entry.pass != pass)
      continue;
    if (lanes > 1 && !canKeepLanes(entry.compute))
      return program.emitOpError("reduces in pass ") << pass << " in an order that " << lanes << " lanes can't keep";
    if (accumulators > 1 && !getCombiners(entry.compute))
      return program.emitOpError("has no operation that combines ") << accumulators << " accumulators of pass " << pass;
    if (tiling.getTogether() > 1 && !getCombiners(entry.compute))
      return program.emitOpError("has no operation that combines lanes of rows together in pass ") << pass;
  }
  return success();
}

/// A tile of one block of results has rows of its own, which it shares with those of other columns.
static Accesses getAccesses(ProgramOp program, const RowForm &form) {
  const RowGrid &rows = form.grid;
  if (!form.blocks)
    return Accesses::get(program, rows.rowExtents.size(), rows.rows);
  if (!rows.rows.isConstant(1))
    return Accesses::getUnknown(program);
  TileGrid grid = TileGrid::get(form.blocks->reduction, llvm::to_vector(llvm::seq<unsigned>(form.blocks->rowLoop)),
                                rows.rowExtents[form.blocks->columnLoop]);
  grid.rowBlocks = rows.rowExtents[form.blocks->rowLoop];
  grid.rows = Expr::constant(program.getContext(), form.blocks->mostRows);
  grid.rowLoops = 1;
  return Accesses::get(program, grid);
}

static FailureOr<PlanAttr> planRows(ProgramOp program, RowsTilingAttr tiling) {
  unsigned rowLoops = tiling.getRowLoops();
  std::string why = "it has no compute";
  FailureOr<RowPasses> passes = failure();
  if (!program.getComputes().empty())
    passes = getRowPasses(program, rowLoops, why);
  if (failed(passes))
    return program.emitOpError("can't be computed row by row: ") << why;
  if (tiling.getLanes().size() != passes->passes)
    return program.emitOpError("has ") << passes->passes << " passes over a row, its tiling "
                                       << tiling.getLanes().size();
  for (unsigned pass = 0; pass < passes->passes; ++pass)
    if (failed(verifyPass(program, *passes, pass, tiling)))
      return failure();
  if (tiling.getPrefetching() > 0 && !goAlike(*passes, 0, tiling.getPrefetching(), rowLoops, tiling.getRunLoops()))
    return program.emitOpError("has other elements in pass ") << tiling.getPrefetching() << " than in the first";
  FailureOr<RowForm> form = RowForm::get(program, *passes, tiling, why);
  if (failed(form))
    return program.emitOpError(why);
  return makePlan(program, tiling, form->grid.tiles, form->getScratch(), getAccesses(program, *form));
}

/// Blocks of rows, and of their columns where rows are not whole.
static TileGrid getGrid(ComputeOp compute, const RowGrid &rows) {
  TileGrid grid = TileGrid::get(compute, {}, rows.columnBlocks);
  grid.rowLoops = rows.rowExtents.size();
  grid.rows = rows.rows;
  return grid;
}

static FailureOr<PlanAttr> planMap(ProgramOp program, MapTilingAttr tiling) {
  SmallVector<ComputeOp> computes = program.getComputes();
  if (computes.empty() || !shareParallelLoops(computes))
    return program.emitOpError("is tiled as a map, but its computes have different parallel loops");
  RowGrid grid = RowGrid::get(computes.front(), tiling);
  unsigned parallel = ComputeOp(computes.front()).getNumParallel();
  if (!tiling.getEnds().empty() &&
      (!parallel || llvm::any_of(computes, [](ComputeOp compute) { return compute.getNumReductions(); })))
    return program.emitOpError("is tiled in segments of columns, but has reductions or no columns");
  // A tile is a range of consecutive elements if there is one row.
  Accesses accesses = parallel < 2 ? Accesses::get(program, parallel, tiling.getColumns())
                                   : Accesses::get(program, getGrid(computes.front(), grid));
  return makePlan(program, tiling, grid.tiles, Expr::constant(program.getContext(), 0), accesses);
}

static FailureOr<PlanAttr> planTransposition(ProgramOp program, TranspositionTilingAttr tiling) {
  SmallVector<ComputeOp> computes = program.getComputes();
  if (!isTransposition(computes, tiling))
    return program.emitOpError("is tiled as a transposition across loop ")
           << tiling.getAcross() << " in blocks of " << tiling.getWidth()
           << " columns, but its computes have other loops";
  TranspositionTiles tiles = TranspositionTiles::get(computes.front(), tiling);
  // Tiles are planes times blocks of rows and columns.
  SmallVector<unsigned> planes;
  for (unsigned loop = 0; loop + 1 < computes.front().getNumParallel(); ++loop)
    if (loop != static_cast<unsigned>(tiling.getAcross()))
      planes.push_back(loop);
  TileGrid grid = TileGrid::get(computes.front(), planes, tiles.rowBlocks * tiles.columnBlocks);
  return makePlan(program, tiling, tiles.tiles, Expr::constant(program.getContext(), 0), Accesses::get(program, grid));
}

/// The dealt blocks: those of single points of the first loops, then others.
static TileGrid getGrid(TreeForm &form) {
  ComputeOp first = form.computes.front();
  SmallVector<unsigned> loops;
  Expr inner = Expr::constant(form.tiling.getContext(), 1);
  for (BlocksAttr blocks : form.dealt) {
    unsigned loop = loops.size();
    bool isPoint = blocks.getStep().isConstant(1) && inner.isConstant(1) && loop < first.getNumParallel() &&
                   form.axes.of(first)[loop] == static_cast<unsigned>(blocks.getAxis());
    if (isPoint)
      loops.push_back(loop);
    else
      inner = inner * Expr::ceilDiv(form.axes.getExtent(blocks.getAxis()), blocks.getStep());
  }
  return TileGrid::get(first, loops, inner);
}

static FailureOr<PlanAttr> planTree(ProgramOp program, TreeTilingAttr tiling) {
  std::string why;
  auto refuse = [&] { return program.emitOpError("can't be computed by its tree of tiles: ") << why; };
  if (std::optional<ContractionForm> contraction = getContractionWithEpilogue(program)) {
    FailureOr<ContractionTree> tree = ContractionTree::get(tiling, why);
    if (failed(tree) || failed(tree->verify(*contraction, program.getComputes().size(), why)))
      return refuse();
    return planContraction(program, tiling, *contraction, ContractionTiles::get(*contraction, *tree));
  }
  FailureOr<TreeForm> form = TreeForm::get(program, tiling, why);
  if (failed(form))
    return refuse();
  return makePlan(program, tiling, form->tiles, form->getScratch(), Accesses::get(program, getGrid(*form)));
}

static FailureOr<PlanAttr> planChain(ProgramOp program, StagesAttr tiling) {
  std::string why;
  FailureOr<ChainForm> form = ChainForm::get(program.getComputes(), why);
  if (failed(form))
    return program.emitOpError("can't be computed as a chain: ") << why;
  FailureOr<SmallVector<StageProgram>> stages = makeStages(*form, program);
  if (failed(stages))
    return failure();
  FailureOr<ChainTiles> tiles = ChainTiles::get(*form, tiling, program, *stages);
  if (failed(tiles))
    return failure();
  return makePlan(program, tiling, tiles->tiles, tiles->getScratch(*form), Accesses::getUnknown(program));
}

static FailureOr<PlanAttr> planOuterLoop(ProgramOp program, OuterLoopAttr tiling) {
  std::string why;
  FailureOr<OuterLoopForm> form = OuterLoopForm::get(program, why);
  if (failed(form))
    return program.emitOpError("can't be computed under an outer loop: ") << why;
  FailureOr<SmallVector<StageProgram>> stages = makeStages(*form, program);
  if (failed(stages))
    return failure();
  FailureOr<OuterLoopTiles> tiles = OuterLoopTiles::get(*form, tiling, program, *stages);
  if (failed(tiles))
    return failure();
  return makePlan(program, tiling, tiles->tiles, tiles->getScratch(*form), Accesses::getUnknown(program));
}

static FailureOr<PlanAttr> planOpaque(ProgramOp program, OpaqueTilingAttr tiling) {
  auto opaques = program.getBody()->getOps<OpaqueOp>();
  if (!llvm::hasSingleElement(opaques) || !program.getComputes().empty())
    return program.emitOpError("is tiled as a tile.opaque, which is a program of its own");
  OpaqueOp opaque = *opaques.begin();
  Expr scratch = Expr::constant(program.getContext(), 0);
  for (Value result : opaque.getResults())
    if (auto type = cast<graph::TensorType>(result.getType()); result.use_empty())
      scratch = scratch + getScratchBytes(getStorageElements(type), getStorageType(type.getElementType()));
  return makePlan(program, tiling, opaque.getTiles(), scratch, Accesses::getUnknown(program));
}

/// What a tile of the chosen variant touches.
static ArrayAttr chooseAccesses(ChoiceAttr tiling, ArrayRef<ArrayAttr> accesses) {
  SmallVector<Attribute> chosen;
  for (size_t number = 0; number < accesses.front().size(); ++number) {
    SmallVector<Expr> elements, tiles;
    for (ArrayAttr of : accesses) {
      auto alone = dyn_cast<sym::ExprAttr>(of[number]);
      auto shared = dyn_cast<SharedBlockAttr>(of[number]);
      if (!alone && !shared)
        break;
      elements.push_back(alone ? alone.getExpr() : shared.getElements());
      tiles.push_back(alone ? Expr::constant(tiling.getContext(), 1) : shared.getTiles());
    }
    bool areKnown = elements.size() == accesses.size();
    chosen.push_back(areKnown ? SharedBlockAttr::getAccess(chooseVariant(tiling, elements), chooseVariant(tiling, tiles))
                              : UnitAttr::get(tiling.getContext()));
  }
  return ArrayAttr::get(tiling.getContext(), chosen);
}

static FailureOr<PlanAttr> planVariants(ProgramOp program, ChoiceAttr tiling) {
  if (failed(verifyVariants(program, tiling)))
    return failure();
  SmallVector<Expr> tiles, scratch;
  SmallVector<ArrayAttr> reads, writes;
  for (Attribute each : tiling.getTilings()) {
    FailureOr<PlanAttr> plan = tile::makePlan(program, each);
    if (failed(plan))
      return failure();
    tiles.push_back(plan->getTiles());
    scratch.push_back(plan->getScratch());
    reads.push_back(plan->getReads());
    writes.push_back(plan->getWrites());
  }
  return PlanAttr::get(program.getContext(), tiling, chooseVariant(tiling, tiles), chooseVariant(tiling, scratch),
                       chooseAccesses(tiling, reads), chooseAccesses(tiling, writes));
}

FailureOr<PlanAttr> tile::makePlan(ProgramOp program, Attribute tiling) {
  auto isTransformed = [](Type type) {
    return isa_and_nonnull<WinogradAttr>(cast<graph::TensorType>(type).getLayout());
  };
  if (!isa<ConvolutionTilingAttr>(tiling) && llvm::any_of(program.getArgumentTypes(), isTransformed))
    return program.emitOpError("reads transformed filters, which only convolutions do, but is tiled as ") << tiling;
  return TypeSwitch<Attribute, FailureOr<PlanAttr>>(tiling)
      .Case([&](ConvolutionTilingAttr attr) { return planConvolution(program, attr); })
      .Case([&](WeightGradientTilingAttr attr) { return planWeightGradient(program, attr); })
      .Case([&](WindowTilingAttr attr) { return planWindow(program, attr); })
      .Case([&](RowsTilingAttr attr) { return planRows(program, attr); })
      .Case([&](MapTilingAttr attr) { return planMap(program, attr); })
      .Case([&](TranspositionTilingAttr attr) { return planTransposition(program, attr); })
      .Case([&](TreeTilingAttr attr) { return planTree(program, attr); })
      .Case([&](StagesAttr attr) { return planChain(program, attr); })
      .Case([&](OuterLoopAttr attr) { return planOuterLoop(program, attr); })
      .Case([&](OpaqueTilingAttr attr) { return planOpaque(program, attr); })
      .Case([&](ChoiceAttr attr) { return planVariants(program, attr); })
      .Default([&](Attribute attr) { return program.emitOpError("can't be tiled as ") << attr; });
}

LogicalResult tile::verifyPlan(ProgramOp program) {
  PlanAttr plan = program.getPlanAttr();
  if (!plan)
    return program.emitOpError("has no plan; run tile-choose-tiles first");
  FailureOr<PlanAttr> derived = makePlan(program, plan.getTiling());
  if (failed(derived))
    return failure();
  auto compare = [&](StringRef name, auto stands, auto follows) -> LogicalResult {
    if (stands == follows)
      return success();
    return program.emitOpError("has a plan whose ")
           << name << " is not the one that follows from its tiling: " << stands << " instead of " << follows;
  };
  auto attribute = [](Expr expr) { return expr.attr(); };
  return success(succeeded(compare("tiles", attribute(plan.getTiles()), attribute(derived->getTiles()))) &&
                 succeeded(compare("scratch", attribute(plan.getScratch()), attribute(derived->getScratch()))) &&
                 succeeded(compare("reads", plan.getReads(), derived->getReads())) &&
                 succeeded(compare("writes", plan.getWrites(), derived->getWrites())));
}

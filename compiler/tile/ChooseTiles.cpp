#include "compiler/plan/Axes.h"
#include "compiler/plan/ChainTiles.h"
#include "compiler/plan/InPlace.h"
#include "compiler/plan/OuterLoopTiles.h"
#include "compiler/plan/Plans.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/NarrowPanels.h"
#include "compiler/tile/Passes.h"
#include "compiler/tile/SplitProducts.h"
#include "compiler/tile/TileChain.h"
#include "compiler/tile/TileContraction.h"
#include "compiler/tile/TileConvolution.h"
#include "compiler/tile/TileLoops.h"
#include "compiler/tile/TileSumBlocks.h"
#include "compiler/tile/TileTree.h"
#include "compiler/tile/TileWeightGradient.h"
#include "compiler/tile/TileWindow.h"

namespace freestone::tile {
#define GEN_PASS_DEF_CHOOSETILES
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;

/// Whether tiles of a map's elements are parts of rows.
static bool isPartOfRow(tile::ProgramOp program, tile::MapTilingAttr map) {
  tile::ComputeOp first = program.getComputes().front();
  return first.getNumParallel() > 1 && map.getColumns() != first.getExtents()[first.getNumParallel() - 1];
}

namespace {

struct ChooseTiles : tile::impl::ChooseTilesBase<ChooseTiles> {
  using ChooseTilesBase::ChooseTilesBase;

  void runOnOperation() override {
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    getOperation().walk([&](tile::LoopOp loop) {
      if (auto body = symbols.lookup<func::FuncOp>(loop.getBody()))
        body.walk([&](tile::CallOp call) { inLoops.insert(call.getCalleeAttr().getAttr()); });
    });
    for (auto program : getOperation().getOps<tile::ProgramOp>()) {
      FailureOr<Attribute> tiling = choose(program, *device);
      if (failed(tiling))
        return signalPassFailure();
      FailureOr<tile::PlanAttr> plan = tile::makePlan(program, *tiling);
      if (failed(plan))
        return signalPassFailure();
      program.setPlanAttr(*plan);
    }
    if (!tile::payNarrowPanels(getOperation(), *device))
      tile::widenPanels(getOperation());
    tile::count(getOperation(), "narrow_panels", tile::countNarrowPanels(getOperation()));
  }

  FailureOr<Attribute> choose(tile::ProgramOp program, const DeviceDescription &device) {
    std::string why;
    FailureOr<tile::ChainForm> chain = tile::ChainForm::get(program.getComputes(), why);
    if (succeeded(chain))
      if (FailureOr<Attribute> tiling = chooseForStages(*chain, program, device); failed(tiling) || *tiling)
        return tiling;
    if (tile::shareOuterLoop(program.getComputes()))
      return chooseForOuterLoop(program, device);
    return chooseAlone(program, device, nullptr, /*isChained=*/false);
  }

  /// The tiling of a program, or of a stage that is one but for its sizes.
  FailureOr<Attribute> chooseAlone(tile::ProgramOp program, const DeviceDescription &device,
                                   const tile::TypicalRuns *runsOfStage, bool isChained) {
    std::string why;
    if (Attribute tiling = chooseWithKernel(program, device, runsOfStage, isChained, /*mayVary=*/false))
      return tiling;
    FailureOr<Attribute> tiling = tile::tileLoops(program, device,
                                                  {sideBySide, transpositions, narrowLanes, segments, rowsAcross,
                                                   partsOfRows, rowsTogether, prefetchRows},
                                                  why);
    if (failed(tiling))
      return program.emitError("no way to tile this program is known: ") << why;
    int64_t loops = 0;
    if (auto rows = dyn_cast<tile::RowsTilingAttr>(*tiling))
      loops = llvm::count_if(rows.getAccumulators(), [](int64_t vectors) { return vectors > 1; });
    else if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling))
      loops = map.getVectors() > 1;
    tile::count(getOperation(), "side_by_side", loops);
    if (auto rows = dyn_cast<tile::RowsTilingAttr>(*tiling); rows && rows.getPacked() >= 0)
      tile::count(getOperation(), "rows_across", 1);
    if (auto rows = dyn_cast<tile::RowsTilingAttr>(*tiling); rows && rows.getTogether() > 1)
      tile::count(getOperation(), "rows_together", 1);
    if (auto rows = dyn_cast<tile::RowsTilingAttr>(*tiling); rows && rows.getPrefetching() >= 0)
      tile::count(getOperation(), "rows_prefetched", 1);
    if (isa<tile::TranspositionTilingAttr>(*tiling))
      tile::count(getOperation(), "transpositions", 1);
    if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling); map && map.getLanes() > device.getLanes(32))
      tile::count(getOperation(), "narrow_lanes", 1);
    if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling); map && !map.getEnds().empty())
      tile::count(getOperation(), "segments", 1);
    if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling); map && isPartOfRow(program, map))
      tile::count(getOperation(), "parts_of_rows", 1);
    return tiling;
  }

  /// The tiling of stages under an outer loop: of each, that of the program it would be apart, in blocks of points of
  /// which a worker holds as many as a share of L2.
  FailureOr<Attribute> chooseForOuterLoop(tile::ProgramOp program, const DeviceDescription &device) {
    std::string why;
    FailureOr<tile::OuterLoopForm> form = tile::OuterLoopForm::get(program, why);
    if (failed(form))
      return program.emitError("no way to tile this program is known: ") << why;
    FailureOr<SmallVector<tile::StageProgram>> stages = tile::makeStages(*form, program);
    if (failed(stages))
      return failure();
    int64_t elements = std::max<int64_t>(1, device.getL2Bytes() / 4 / int64_t(sizeof(float)) / int64_t(stages->size()));
    int64_t leastTiles = std::clamp<int64_t>(4 * device.units, 8, 64);
    tile::OuterLoopTiles tiles = tile::OuterLoopTiles::get(*form, elements, leastTiles);
    tile::OuterLoopSymbols symbols = tile::OuterLoopSymbols::get(&getContext());
    tile::TypicalRuns runs =
        tile::TypicalRuns(program).with({{symbols.extent, sym::Expr::min(form->extent, tiles.step)},
                                         {symbols.first, sym::Expr::constant(&getContext(), 0)}});
    SmallVector<Attribute> tilings;
    for (tile::StageProgram &stage : *stages) {
      FailureOr<Attribute> tiling = chooseAlone(*stage.program, device, &runs, /*isChained=*/false);
      if (failed(tiling))
        return failure();
      tilings.push_back(*tiling);
    }
    return Attribute(tile::OuterLoopAttr::get(&getContext(), tilings, elements, leastTiles));
  }

  /// The tiling of a chain: how its stages are connected in typical runs, and the tiling of each in a tile.
  /// Null if there is none for a stage.
  FailureOr<Attribute> chooseForStages(const tile::ChainForm &form, tile::ProgramOp program,
                                       const DeviceDescription &device) {
    tile::TypicalRuns runs(program);
    SmallVector<llvm::StringMap<int64_t>> sizes(runs.evaluate(sym::Expr::constant(&getContext(), 1)).size());
    for (StringAttr symbol : program.getSymbols())
      for (auto [ofRun, value] : llvm::zip_equal(sizes, runs.evaluate(sym::Expr::symbol(symbol))))
        ofRun[symbol.getValue()] = value;
    auto evaluators = llvm::map_to_vector(sizes, [](const llvm::StringMap<int64_t> &ofRun) {
      return [values = &ofRun](sym::Expr size) {
        auto known = [&](StringRef symbol) { return std::optional(values->lookup(symbol)); };
        return double(size.evaluate(known).value_or(std::numeric_limits<int64_t>::max()));
      };
    });
    // Tiles of whole rows are few: more workers than the device has would ask for rows that registers do not fill.
    SmallVector<int64_t> workers = tile::getWorkersOfRuns(device.units);
    llvm::erase_if(workers, [&](int64_t count) { return count > std::max<int64_t>(2, device.units); });
    tile::ChainCost cost = tile::chooseEdges(form, device, llvm::to_vector_of<tile::SizesOfRun>(evaluators), workers);
    FailureOr<SmallVector<tile::StageProgram>> stages = tile::makeStages(form, program);
    if (failed(stages))
      return failure();
    tile::ChainTiles tiles = tile::ChainTiles::get(form, cost.edges, cost.rowUnit, cost.leastTiles);
    tile::StageSymbols symbols = tile::StageSymbols::get(&getContext(), form.getNumImages());
    SmallVector<Attribute> tilings;
    for (auto [stage, ofStage] : llvm::enumerate(*stages)) {
      SmallVector<std::pair<sym::Expr, sym::Expr>> values;
      const tile::ChainStage &of = form.stages[stage];
      sym::Expr all = of.isFlat ? of.getRows() * of.getPixels() : of.getRows();
      for (sym::Expr symbol : symbols.getAll())
        values.push_back({symbol, sym::Expr::min(all, tile::getMostExtent(form, tiles, stage))});
      tile::TypicalRuns runsOfStage = runs.with(values);
      // Where a worker begins, stages before rows that are kept compute more of them: vectors run in one direction, in
      // whose order taps are summed, whatever the rows of a tile.
      bool mayVary =
          llvm::any_of(ArrayRef(cost.edges).drop_front(stage), [](tile::EdgeAttr edge) { return edge.getKept(); });
      tilings.push_back(chooseWithKernel(*ofStage.program, device, &runsOfStage, /*isChained=*/true, mayVary));
      if (!tilings.back())
        return Attribute();
    }
    return Attribute(tile::StagesAttr::get(&getContext(), tilings, cost.edges, cost.rowUnit, cost.leastTiles));
  }

  /// The tiling of a program with register blocks; null if none applies. Stages have typical runs of their own, and
  /// leave it to the chain or outer loop that there are tiles for all workers; those of chains are windows and
  /// products, whose rows may vary with the number of workers.
  Attribute chooseWithKernel(tile::ProgramOp program, const DeviceDescription &device,
                             const tile::TypicalRuns *runsOfStage, bool isChained, bool mayVary) {
    auto count = [&](StringRef what) { tile::count(getOperation(), what, 1); };
    if (tile::areConnected(program.getComputes())) {
      tile::TreeTilingAttr tree = tile::tileTree(program, device, skipMasked);
      if (tree && tile::leavesOutBlocks(tree))
        count("skipped_masks");
      return tree;
    }
    std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program);
    std::optional<tile::ConvolutionForm> convolution = tile::ConvolutionForm::get(program);
    auto widthOf = [&](Type type) { return tile::getMicroKernel(device, type).getWidth(); };
    if (convolution && convolution->hasPanels(widthOf(convolution->contraction.elementType))) {
      count("convolutions");
      if (construct)
        count("constructed");
      tile::ConvolutionTilingAttr tiling =
          tile::tileConvolution(*convolution, runsOfStage ? *runsOfStage : tile::TypicalRuns(program), device,
                                /*isStage=*/runsOfStage != nullptr, construct, skipTaps, picturesTogether, narrowPanels,
                                mayOverlap(program, device), copyAhead);
      if (tiling.getCopyAhead() > 0)
        count("copied_ahead");
      if (tiling.getOverlap())
        count("overlapped_vectors");
      if (tiling.getSkipTaps())
        count("skipped_taps");
      if (tiling.getPictures() > 1)
        count("pictures_together");
      return tiling;
    }
    bool hasDotProducts = form && dotProducts && tile::isDotProductContraction(*form, device);
    std::optional<tile::WeightGradientForm> gradient;
    if (form && weightGradients && !runsOfStage)
      gradient = tile::WeightGradientForm::get(form->compute);
    tile::WeightGradientTilingAttr ofGradient;
    if (gradient)
      ofGradient = tile::tileWeightGradient(*gradient, tile::TypicalRuns(program), device,
                                            {transform, channelsApart, bringTiles}, hasDotProducts);
    if (ofGradient) {
      count("weight_gradients");
      if (ofGradient.getOutputs())
        count("transformed");
      if (ofGradient.getApart())
        count("channels_apart");
      if (ofGradient.getBringBeyond() > 0)
        count("tiles_brought");
      return ofGradient;
    }
    std::optional<tile::WindowForm> window;
    // Words of bytes are summed several steps at a time, few channels or not.
    bool hasPairs = form && pairProducts && form->multipliesPairs();
    if (windows && !hasPairs && !(hasDotProducts && form->elementType.isInteger(32)))
      window = tile::WindowForm::get(program);
    if (window && !tile::isWindowInRegisters(*window))
      window.reset();
    std::optional<tile::SumBlocks> blocks;
    if (form && sumBlocks && !isChained && !hasDotProducts &&
        !tile::isMicroKernelContraction(*form, widthOf(form->elementType)))
      blocks = tile::SumBlocks::get(*form, window, runsOfStage ? *runsOfStage : tile::TypicalRuns(program), device);
    if (blocks) {
      count("sum_blocks");
      return blocks->getTiling(*form, device);
    }
    if (window) {
      count("windows");
      if (construct)
        count("constructed");
      tile::TypicalRuns runs = runsOfStage ? *runsOfStage : tile::TypicalRuns(program);
      tile::WindowTilingAttr tiling =
          tile::tileWindow(*window,
                           tile::getWindowProblems(*window, device, runs, mayOverlap(program, device),
                                                   windowsInPlace && isChained && window->isReadableInPlace()),
                           device, shareRows, construct, channelVectors && !mayVary,
                           /*brings=*/bringTiles && !runsOfStage);
      if (tiling.getUnroll() > 1)
        count("shared_rows");
      if (tiling.getOverlap())
        count("overlapped_vectors");
      if (tiling.getInPlace())
        count("windows_in_place");
      if (tiling.getChannelVectors())
        count("channel_vectors");
      if (tiling.getBringBeyond() > 0)
        count("tiles_brought");
      return tiling;
    }
    if (!form)
      return {};
    if (hasDotProducts) {
      count("dot_products");
      tile::TreeTilingAttr tiling =
          tile::tileDotProducts(*form, runsOfStage ? *runsOfStage : tile::TypicalRuns(program), device,
                                {strips, streamColumns, streamRows, narrowPanels, directResults});
      tile::ContractionTree tree = *tile::ContractionTree::get(tiling);
      for (auto [number, counter] : {std::pair(tree.stripDepth, "strips"),
                                     {tree.streamedRows, "streamed_columns"},
                                     {tree.streamedColumns, "streamed_rows"}})
        if (number > 0)
          count(counter);
      if (tree.multiply.getDirect())
        count("direct_results");
      return tiling;
    }
    if (!tile::isMicroKernelContraction(*form, widthOf(form->elementType))) {
      std::optional<tile::InnerProducts> inner;
      if (innerProducts)
        inner = tile::InnerProducts::get(*form, device);
      if (inner)
        count("inner_products");
      return inner ? Attribute(inner->getTiling(*form, device)) : Attribute();
    }
    count("contractions");
    if (hasPairs)
      count("pair_products");
    if (keepPacked)
      count("kept_packed");
    if (construct)
      count("constructed");
    Attribute tiling = tile::tileContraction(
        *form, runsOfStage ? *runsOfStage : tile::TypicalRuns(program), device,
        {keepPacked, packTogether, pairProducts, streamColumns, streamRows, strips, bringResults, narrowPanels,
         alternate && inLoops.contains(program.getSymNameAttr()), innerProducts && !runsOfStage && form->slices == 1,
         construct, variants && !runsOfStage});
    SmallVector<Attribute> tilings = {tiling};
    if (auto several = dyn_cast<tile::ChoiceAttr>(tiling)) {
      count("variants");
      tilings = several.getTilings();
    }
    if (llvm::any_of(tilings, llvm::IsaPred<tile::RowsTilingAttr>))
      count("inner_products");
    if (tile::ContractionTree::alternate(tiling))
      count("alternating");
    auto brings = [](Attribute each) {
      std::optional<tile::ContractionTree> contraction = tile::ContractionTree::get(each);
      return contraction && contraction->multiply.getBringBeyond() > 0;
    };
    if (llvm::any_of(tilings, brings))
      count("results_brought");
    auto anyHas = [&](int64_t tile::ContractionTree::*number) {
      return llvm::any_of(tilings, [&](Attribute each) {
        std::optional<tile::ContractionTree> contraction = tile::ContractionTree::get(each);
        return contraction && (*contraction).*number > 0;
      });
    };
    auto packsTogether = [](Attribute each) {
      std::optional<tile::ContractionTree> contraction = tile::ContractionTree::get(each);
      return contraction && contraction->packedTogether > 1;
    };
    if (llvm::any_of(tilings, packsTogether))
      count("packed_together");
    if (anyHas(&tile::ContractionTree::streamedRows))
      count("streamed_columns");
    if (anyHas(&tile::ContractionTree::streamedColumns))
      count("streamed_rows");
    if (anyHas(&tile::ContractionTree::stripDepth))
      count("strips");
    if (splitProducts && !runsOfStage)
      if (std::optional<Attribute> split =
              tile::tileSplitProducts(*form, tiling, tile::TypicalRuns(program), device, variants)) {
        count("split_products");
        return *split;
      }
    return tiling;
  }

  /// Whether the last vector of a row may compute elements of the one before again, where masks are slow: AVX2 stores
  /// masked vectors in some ten cycles on processors of AMD.
  bool mayOverlap(tile::ProgramOp program, const DeviceDescription &device) {
    return overlapVectors && device.vectorBytes < 64 && !tile::mayOverwriteAny(program);
  }

  /// The programs that loops call.
  llvm::SmallDenseSet<StringAttr> inLoops;
};

} // namespace

#include "compiler/driver/Pipelines.h"

#include "compiler/device/DeviceDescription.h"
#include "compiler/grad/Passes.h"
#include "compiler/pipe/Passes.h"
#include "compiler/simplify/Passes.h"
#include "compiler/task/Passes.h"
#include "compiler/tile/Passes.h"
#include "compiler/tile/SplitProducts.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace freestone::driver {

/// Convolutions of 8-bit integers are summed by dot products, which pack their windows as they are; on vectors without
/// the rest of a group of words.
static graph::MultiplyIntegersOptions getIntegerProducts(const Options &options) {
  graph::MultiplyIntegersOptions products{options.switches.integerProducts, /*windows=*/false};
  llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target);
  if (device) {
    products.windows = options.switches.dotProducts && device->quadUnit != WordUnit::none;
    products.fewestProducts = device->quadUnit == WordUnit::vectors ? 8 : 16;
    return products;
  }
  // An invalid target is refused where code is made for it.
  llvm::consumeError(device.takeError());
  return products;
}

void addGraphPipeline(OpPassManager &passes, const Options &options) {
  graph::addSimplifyPipeline(passes);
  passes.nest<func::FuncOp>().addPass(graph::createKeepBlockOrders({options.switches.blockOrders}));
  passes.nest<func::FuncOp>().addPass(graph::createHoistFromScans({options.switches.scanProducts}));
  passes.nest<func::FuncOp>().addPass(graph::createMultiplyIntegers(getIntegerProducts(options)));
  passes.nest<func::FuncOp>().addPass(graph::createDecompose());
  graph::addSimplifyPipeline(passes);
  passes.nest<func::FuncOp>().addPass(grad::createKeepScanValues({options.switches.keepScanValues}));
  // What gradients read decides what is kept for them.
  passes.nest<func::FuncOp>().addPass(graph::createSplitBatches({options.switches.splitBatches}));
  passes.nest<func::FuncOp>().addPass(graph::createGuardRows({options.switches.guardRows}));
  passes.nest<func::FuncOp>().addPass(graph::createReassociateSums({options.switches.reassociate}));
  passes.nest<func::FuncOp>().addPass(grad::createRematerialise());
}

void addTilePipeline(OpPassManager &passes, const Options &options) {
  const Switches &switches = options.switches;
  passes.nest<func::FuncOp>().addPass(graph::createPackBoundary());
  passes.nest<func::FuncOp>().addPass(tile::createSelectBranches({switches.selectBranches, options.target}));
  passes.addPass(tile::createLiftRegions({switches.append, switches.reverseLoops, switches.keepStates}));
  OpPassManager &functions = passes.nest<func::FuncOp>();
  tile::ChooseLayoutsOptions layouts;
  layouts.enable = switches.packWeights;
  layouts.inPlace = switches.picturesInPlace;
  layouts.strips = switches.packStrips;
  layouts.narrowPanels = switches.narrowPanels;
  layouts.inRuns = switches.packInRuns;
  layouts.inLoops = switches.packInLoops;
  layouts.transform = switches.transformFilters;
  layouts.widen = switches.widenPictures;
  tile::FuseOptions fusion;
  // An invalid target is refused where code is made for it.
  if (llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target)) {
    layouts.columns = device->getPanelWidth(32);
    layouts.pairs = switches.dotProducts && device->pairUnit != WordUnit::none;
    layouts.quads = switches.dotProducts && device->quadUnit != WordUnit::none;
    layouts.signs = device->quadUnit == WordUnit::tiles;
    layouts.streamRows =
        switches.streamRows && device->quadUnit != WordUnit::tiles && device->pairUnit != WordUnit::tiles;
    layouts.parts = switches.splitProducts && tile::mayPayToSplit(*device);
    layouts.cacheBytes = device->getL2Bytes();
    layouts.stepsOfPairs = device->getPairMultiplyAdds() / device->getMultiplyAdds(32);
    layouts.stepsPerByte = device->getMultiplyAdds(32) / device->getMemoryBandwidth();
    fusion.cacheBytes = device->getL2Bytes();
    fusion.columns = layouts.columns;
    fusion.splits = layouts.parts;
  } else {
    llvm::consumeError(device.takeError());
  }
  tile::LayOutStateOptions laidOut;
  laidOut.enable = switches.layOutState;
  laidOut.width = layouts.columns;
  fusion.epilogues = switches.fuseEpilogues;
  fusion.slices = switches.sliceEpilogues;
  fusion.rows = switches.fuseRows;
  fusion.maps = switches.fuseMaps;
  fusion.siblings = switches.fuseSiblings;
  fusion.connect = switches.connect;
  fusion.orderMaps = switches.orderMaps;
  fusion.orderProducts = switches.orderProducts;
  fusion.longRows = switches.longRows;
  tile::GraphToTileOptions lowering;
  lowering.residueClasses = switches.residueClasses;
  functions.addPass(tile::createSumIntoScatters({switches.scattersInPlace}));
  functions.addPass(tile::createUnfoldConvolutions());
  functions.addPass(tile::createGraphToTile(lowering));
  functions.addPass(createCSEPass());
  functions.addPass(tile::createLayOutState(laidOut));
  functions.addPass(tile::createInlineProducers({switches.inlineProducers, switches.fusePools, switches.factorSums}));
  functions.addPass(tile::createTabulateMaps({switches.tabulateMaps, options.target}));
  functions.addPass(tile::createRoundProducts({switches.roundProducts}));
  functions.addPass(createCSEPass());
  functions.addPass(tile::createFuse(fusion));
  passes.addPass(tile::createChooseLayouts(layouts));
  passes.addPass(tile::createBindLiveWeights());
  OpPassManager &all = passes.nest<func::FuncOp>();
  all.addPass(tile::createFusePools({switches.fusePools}));
  all.addPass(tile::createFuseChains({switches.fuseChains, switches.windows, options.target}));
  all.addPass(tile::createCoalesceLoops({switches.coalesceLoops}));
  all.addPass(createCSEPass());
  all.addPass(tile::createFuseOuterLoops({switches.fuseOuterLoops, options.target}));
  all.addPass(tile::createDropBarriers());
  all.addPass(tile::createShortenLiveRanges({switches.shortenLiveRanges}));
  all.addPass(tile::createSplitReductions({switches.splitReductions, options.target}));
  if (options.pipeline) {
    pipe::CutStagesOptions cut;
    cut.stages.assign(options.pipeline->stages.begin(), options.pipeline->stages.end());
    cut.split = options.pipeline->split;
    cut.recompute.assign(options.pipeline->recompute.begin(), options.pipeline->recompute.end());
    passes.addPass(pipe::createCutStages(cut));
  }
  // From here on values have memory: no pass may merge or reorder operations.
  passes.nest<func::FuncOp>().addPass(task::createUpdateInPlace({switches.scattersInPlace}));
  passes.addPass(task::createKeepOperands({switches.keepOperands}));
  passes.nest<func::FuncOp>().addPass(task::createCopyResults());
  passes.addPass(task::createUpdateState({switches.donateState}));
  tile::OutlineOptions outline;
  outline.share = switches.sharePrograms;
  outline.generalise = switches.generaliseSizes;
  passes.addPass(tile::createOutline(outline));
  passes.addPass(tile::createChooseTiles(
      {options.target,         switches.weightGradients, switches.transformFilters, switches.channelsApart,
       switches.skipTaps,      switches.skipMasked,      switches.picturesTogether, switches.windows,
       switches.shareRows,     switches.channelVectors,  switches.overlapVectors,   switches.windowsInPlace,
       switches.copyAhead,     switches.dotProducts,     switches.splitProducts,    switches.pairProducts,
       switches.keepPacked,    switches.packTogether,    switches.streamColumns,    switches.streamRows,
       switches.strips,        switches.bringResults,    switches.bringTiles,       switches.narrowPanels,
       switches.directResults, switches.alternate,       switches.innerProducts,    switches.sumBlocks,
       switches.construct,     switches.sideBySide,      switches.transpositions,   switches.narrowLanes,
       switches.segments,      switches.partsOfRows,     switches.rowsAcross,       switches.rowsTogether,
       switches.prefetchRows,  switches.variants}));
  if (!options.tilings.empty())
    passes.addPass(tile::createReplaceTilings({options.tilings}));
  if (options.pipeline)
    passes.addPass(pipe::createKeepStage({options.pipeline->stage}));
}

void addTaskPipeline(OpPassManager &passes, const Options &options) {
  passes.addPass(
      task::createFormPhases({options.target, options.switches.nameSizes, options.switches.overwriteOperands}));
  passes.addPass(task::createSchedulePhases({options.switches.schedulePhases, options.target}));
  passes.addPass(task::createMergePhases({options.switches.mergePhases}));
  passes.addPass(
      task::createDoubleBuffer({options.switches.doubleBuffer && options.switches.overlapIterations, options.target}));
  passes.nest<task::ProgramOp>().addPass(
      task::createOrderPhases({options.switches.elideWaits, options.switches.overlapIterations,
                               options.switches.awaitReaders, options.target}));
  passes.addPass(task::createOverwriteOperands({options.switches.overwriteOperands}));
  passes.nest<task::ProgramOp>().addPass(task::createPlanMemory({options.switches.reuseMemory}));
  passes.nest<task::ProgramOp>().addPass(task::createNarrowWaits({options.switches.narrowWaits}));
  passes.addPass(task::createClaimPhases({options.switches.claimPhases, options.target}));
}

void addOrderCheck(OpPassManager &passes, const Options &options) {
  passes.nest<task::ProgramOp>().addPass(task::createCheckOrder());
}

} // namespace freestone::driver

// Every optimization that can be switched off, so that its effect can be measured. Plain C++ without LLVM: the command
// line lists them as well.
#ifndef FREESTONE_COMPILER_DRIVER_SWITCHES_H
#define FREESTONE_COMPILER_DRIVER_SWITCHES_H

namespace freestone::driver {

struct Switches {
  bool selectBranches = true;
  bool append = true;
  bool reverseLoops = true;
  bool keepStates = true;
  bool splitBatches = true;
  bool guardRows = true;
  bool reassociate = true;
  bool inlineProducers = true;
  bool factorSums = true;
  bool tabulateMaps = true;
  bool roundProducts = true;
  bool fuseEpilogues = true;
  bool sliceEpilogues = true;
  bool fuseRows = true;
  bool orderMaps = true;
  bool orderProducts = true;
  bool longRows = true;
  bool fuseMaps = true;
  bool fuseSiblings = true;
  bool connect = true;
  bool fusePools = true;
  bool fuseChains = true;
  bool fuseOuterLoops = true;
  bool packWeights = true;
  bool packStrips = true;
  bool packInRuns = true;
  bool packInLoops = true;
  bool picturesInPlace = true;
  bool layOutState = true;
  bool transformFilters = true;
  bool widenPictures = true;
  bool coalesceLoops = true;
  bool splitReductions = true;
  bool shortenLiveRanges = true;
  bool residueClasses = true;
  bool weightGradients = true;
  bool channelsApart = true;
  bool skipTaps = true;
  bool skipMasked = true;
  bool picturesTogether = true;
  bool windows = true;
  bool shareRows = true;
  bool channelVectors = true;
  bool overlapVectors = true;
  bool windowsInPlace = true;
  bool copyAhead = true;
  bool integerProducts = true;
  bool scanProducts = true;
  bool blockOrders = true;
  bool keepScanValues = true;
  bool dotProducts = true;
  bool splitProducts = true;
  bool pairProducts = true;
  bool keepPacked = true;
  bool packTogether = true;
  bool streamColumns = true;
  bool streamRows = true;
  bool strips = true;
  bool bringResults = true;
  bool bringTiles = true;
  bool narrowPanels = true;
  bool directResults = true;
  bool alternate = true;
  bool innerProducts = true;
  bool sumBlocks = true;
  bool construct = true;
  bool sideBySide = true;
  bool transpositions = true;
  bool narrowLanes = true;
  bool segments = true;
  bool rowsAcross = true;
  bool partsOfRows = true;
  bool rowsTogether = true;
  bool prefetchRows = true;
  bool variants = true;
  bool generaliseSizes = true;
  bool sharePrograms = true;
  bool scattersInPlace = true;
  bool keepOperands = true;
  bool donateState = true;
  bool nameSizes = true;
  bool schedulePhases = true;
  bool mergePhases = true;
  bool elideWaits = true;
  bool overlapIterations = true;
  bool doubleBuffer = true;
  bool overwriteOperands = true;
  bool reuseMemory = true;
  bool narrowWaits = true;
  bool awaitReaders = true;
  bool claimPhases = true;
  bool reduceShortLoops = true;
  bool storeConstants = true;

  /// At level 0 only optimizations that reduce the number of programs, or the time that one takes to compile, are on.
  static constexpr Switches forLevel(int level) {
    Switches switches;
    if (level == 0)
      switches.append = switches.reverseLoops = switches.keepStates = switches.splitBatches = switches.guardRows = switches.reassociate = switches.inlineProducers = switches.fuseEpilogues = switches.sliceEpilogues = switches.fuseRows =
          switches.fuseMaps = switches.fuseSiblings = switches.connect = switches.fusePools = switches.packWeights =
      switches.packStrips = switches.packInRuns = switches.packInLoops = switches.transformFilters = switches.widenPictures = switches.picturesInPlace = switches.layOutState = switches.coalesceLoops =
          switches.splitReductions = switches.shortenLiveRanges = switches.residueClasses = switches.weightGradients =
          switches.channelsApart = switches.skipTaps = switches.skipMasked = switches.picturesTogether = switches.windows = switches.shareRows =
          switches.channelVectors = switches.overlapVectors = switches.windowsInPlace = switches.copyAhead = switches.dotProducts = switches.splitProducts = switches.pairProducts = switches.keepPacked =
          switches.packTogether = switches.streamColumns = switches.streamRows = switches.strips = switches.bringResults = switches.bringTiles = switches.narrowPanels = switches.directResults = switches.alternate = switches.innerProducts = switches.sumBlocks = switches.construct = switches.sideBySide =
          switches.transpositions = switches.narrowLanes = switches.segments = switches.partsOfRows = switches.rowsAcross = switches.rowsTogether =
          switches.prefetchRows = switches.variants =
          switches.scattersInPlace = switches.donateState = switches.schedulePhases = switches.mergePhases =
          switches.elideWaits = switches.overlapIterations = switches.doubleBuffer = switches.overwriteOperands =
          switches.selectBranches = switches.integerProducts = switches.scanProducts = switches.blockOrders =
          switches.keepScanValues = switches.fuseChains = switches.fuseOuterLoops = switches.narrowWaits = switches.awaitReaders =
          switches.claimPhases = switches.reuseMemory = switches.factorSums = switches.tabulateMaps = switches.roundProducts = switches.orderMaps =
          switches.orderProducts = switches.longRows = switches.keepOperands = switches.storeConstants = false;
    return switches;
  }
};

struct SwitchInfo {
  const char *name; ///< `--disable=name`
  bool Switches::*isOn;
  const char *counter; ///< how often it applied, among the counters of a compilation; 0 where it is off
  const char *effect;
};

inline constexpr SwitchInfo switchTable[] = {
    {"select-branches", &Switches::selectBranches, "selected_branches",
     "both sides of short branches are computed, and one is selected"},
    {"append", &Switches::append, "appended", "what loops carry becomes longer where it lies, instead of a copy"},
    {"reverse-loops", &Switches::reverseLoops, "reversed",
     "loops go along tensors from their end, instead of along a reversed copy"},
    {"keep-states", &Switches::keepStates, "kept_states",
     "what loops collect of carried values before each step stays where it is carried, instead of a copy"},
    {"split-batches", &Switches::splitBatches, "split_batches",
     "products of merged batches and heads have a dimension for each, as what is computed between them has"},
    {"row-guards", &Switches::guardRows, "guarded_rows",
     "what replaces rows of a softmax that are no numbers asks once a row, behind the product that reads them"},
    {"reassociate", &Switches::reassociate, "reassociated",
     "sums of a product's weighted elements are taken of the other product that these weights have made"},
    {"inline", &Switches::inlineProducers, "inlined", "computes that only map elements go into their consumers"},
    {"factor-sums", &Switches::factorSums, "factored_sums", "sums that differ by a factor are computed once"},
    {"tabulated-maps", &Switches::tabulateMaps, "tabulated_maps",
     "what takes several operations to make 8 bits of 8 other bits is looked up in a table"},
    {"rounded-products", &Switches::roundProducts, "rounded_products",
     "products by a reciprocal are rounded instead of quotients, where both give the same integers"},
    {"epilogues", &Switches::fuseEpilogues, "epilogues", "contractions carry what follows on their elements"},
    {"sliced-epilogues", &Switches::sliceEpilogues, "sliced_epilogues",
     "contractions carry what reads several slices of their columns together, such as the gates of recurrent layers"},
    {"rows", &Switches::fuseRows, "rows", "reductions over the same rows are passes of one program"},
    {"order-maps", &Switches::orderMaps, "ordered_maps",
     "maps go along the rows of the reductions whose results they read, such as those of a batch's statistics"},
    {"order-products", &Switches::orderProducts, "ordered_products",
     "products of pictures that lie channel by channel write them so: a batch's columns are those of one product"},
    {"long-rows", &Switches::longRows, "long_rows",
     "passes over rows that only short runs keep in the cache are one program where long rows lose nothing"},
    {"maps", &Switches::fuseMaps, "maps", "elementwise computes over the same loops are one program"},
    {"siblings", &Switches::fuseSiblings, "siblings", "reductions that read the same elements are one program"},
    {"connect", &Switches::connect, "connected",
     "products of products, as in attention, are one program: the first one's results stay in the cache, tile by tile"},
    {"pools", &Switches::fusePools, "pools", "convolutions pool their results before these leave the tile"},
    {"chains", &Switches::fuseChains, "chained",
     "convolutions and windows compute rows right before the next ones read them: these stay in the cache"},
    {"outer-loops", &Switches::fuseOuterLoops, "outer_loops",
     "normalizations and what goes with them channel by channel, such as depthwise windows, compute channel after channel: "
     "what lies between stays in the cache"},
    {"pack-weights", &Switches::packWeights, "packed", "weights are stored as contractions read them"},
    {"pack-strips", &Switches::packStrips, "packed_strips",
     "filters of narrow numbers are stored in the strips of words that dot products read"},
    {"pack-in-runs", &Switches::packInRuns, "packed_in_runs",
     "weights of convolutions that are inputs or trained are packed once in each run"},
    {"pack-in-loops", &Switches::packInLoops, "packed_in_loops",
     "what the iterations of a loop multiply by is packed once, before it"},
    {"winograd", &Switches::transformFilters, "transformed",
     "convolutions of 3x3 taps multiply transforms of filters and pictures, with fewer products"},
    {"widen-pictures", &Switches::widenPictures, "widened",
     "convolutions of bf16 and fp16 are multiplied in f32 where dot products are not faster, and widen pictures while copying them"},
    {"pictures-in-place", &Switches::picturesInPlace, "pictures_in_place",
     "convolutions of single taps read pictures as they are, with vectors along the channels out"},
    {"state-layouts", &Switches::layOutState, "laid_out",
     "trained weights stay in the panels that contractions read, from step to step"},
    {"coalesce", &Switches::coalesceLoops, "coalesced", "loops that run over memory without a gap become one"},
    {"split-reductions", &Switches::splitReductions, "split_reductions",
     "long reductions of few results are split into parts for all workers"},
    {"residue-classes", &Switches::residueClasses, "residue_classes",
     "transposed convolutions, and gradients of those with strides, are dense ones for each residue class of places"},
    {"weight-gradients", &Switches::weightGradients, "weight_gradients",
     "gradients of convolutions' weights read pictures as they are, without packing every window"},
    {"channels-apart", &Switches::channelsApart, "channels_apart",
     "gradients of single taps copy pictures channel by channel, which transposes nothing"},
    {"skip-taps", &Switches::skipTaps, "skipped_taps",
     "convolutions sum the taps that touch the picture, without those that read zeros beyond it"},
    {"skip-masked", &Switches::skipMasked, "skipped_masks",
     "connected products leave out blocks whose values are masked as a whole, as by causal masks and padding"},
    {"pictures-together", &Switches::picturesTogether, "pictures_together",
     "tiles of convolutions over small pictures have several of them, which read each panel of weights once"},
    {"windows", &Switches::windows, "windows",
     "pooling, and convolutions of few channels a group, copy pictures and compute blocks of pixels in registers"},
    {"channel-vectors", &Switches::channelVectors, "channel_vectors",
     "windows of pictures too narrow for vectors of pixels have vectors along the channels"},
    {"overlap-vectors", &Switches::overlapVectors, "overlapped_vectors",
     "the last pixels of rows of convolutions and windows are computed in whole vectors, which begin within those before"},
    {"windows-in-place", &Switches::windowsInPlace, "windows_in_place",
     "windows of a chain read the rows of the stage before where they lie, rather than copy them"},
    {"copy-ahead", &Switches::copyAhead, "copied_ahead",
     "convolutions prefetch rows of pictures before they copy them"},
    {"share-rows", &Switches::shareRows, "shared_rows",
     "windows of few taps load what several rows read once for all of them"},
    {"scan-products", &Switches::scanProducts, "scan_products",
     "products of all slices that a loop goes along, by what stays the same, are made at once before it"},
    {"block-orders", &Switches::blockOrders, "block_orders",
     "blocks that are put into another order, as gates of recurrent layers are, stay where they are if they are taken "
     "apart again"},
    {"scan-values", &Switches::keepScanValues, "kept_values",
     "gradients of loops find in memory what of their iterations is cheaper to keep than to compute again"},
    {"integer-products", &Switches::integerProducts, "integer_products",
     "products of numbers that stand for 8-bit integers, by a scale and a zero point, are products of the integers"},
    {"dot-products", &Switches::dotProducts, "dot_products",
     "products of bf16 and of 8-bit integers are summed two or four at a time, by the matrix unit (AMX) where there is "
     "one"},
    {"split-products", &Switches::splitProducts, "split_products",
     "matrices of f32 are multiplied by the matrix unit for bf16 (AMX), each element as three numbers of bf16"},
    {"pair-products", &Switches::pairProducts, "pair_products",
     "products of integers that fit 16 bits are summed two at a time"},
    {"keep-packed", &Switches::keepPacked, "kept_packed",
     "operands that a contraction packs for one tile serve the next ones"},
    {"pack-together", &Switches::packTogether, "packed_together",
     "several panels of a contraction's columns are packed at once where the rows of memory share a set of the caches"},
    {"stream-columns", &Switches::streamColumns, "streamed_columns",
     "few rows read the columns of a contraction in place, without packing them"},
    {"stream-rows", &Switches::streamRows, "streamed_rows",
     "few columns read the rows of a contraction in place, without packing them"},
    {"strips", &Switches::strips, "strips",
     "contractions of few steps of k compute a strip of rows for several panels at a time, and write wide pieces of few rows"},
    {"bring-results", &Switches::bringResults, "results_brought",
     "rows of results that leave L2 are prefetched while contractions compute them"},
    {"bring-tiles", &Switches::bringTiles, "tiles_brought",
     "windows and gradients of weights prefetch the next tile's elements that are in no near cache while they compute one"},
    {"narrow-panels", &Switches::narrowPanels, "narrow_panels",
     "the last panel of columns or channels is computed in as many vectors as these fit, rather than whole"},
    {"direct-results", &Switches::directResults, "direct_results",
     "dot products write results that are their sums, which nothing copies"},
    {"alternate", &Switches::alternate, "alternating",
     "loops go through packed panels of weights backwards in odd iterations, beginning with what is left in a cache"},
    {"inner-products", &Switches::innerProducts, "inner_products",
     "contractions with few rows or columns are inner products, with vectors along the sum"},
    {"sum-blocks", &Switches::sumBlocks, "sum_blocks",
     "sums over the same positions, such as gradients of depthwise filters, are computed in blocks that share what they "
     "load, with vectors along the positions"},
    {"construct", &Switches::construct, "constructed",
     "tilings of contractions, convolutions and windows are the best of many that fit the machine, as a model "
     "predicts"},
    {"side-by-side", &Switches::sideBySide, "side_by_side",
     "sums, and long chains of operations, are computed for several vectors side by side"},
    {"transpositions", &Switches::transpositions, "transpositions",
     "operands that are contiguous along another loop than the results are transposed in registers"},
    {"narrow-lanes", &Switches::narrowLanes, "narrow_lanes",
     "vectors of elements below 32 bits hold as many of them as fill a register"},
    {"segments", &Switches::segments, "segments",
     "columns are computed in segments within which no operand begins or ends"},
    {"parts-of-rows", &Switches::partsOfRows, "parts_of_rows",
     "tiles of maps are parts of rows where few elements take long, such as those of gates"},
    {"rows-across", &Switches::rowsAcross, "rows_across",
     "rows whose neighbours in memory belong to neighbouring rows are copied, transposed in registers, before passes over "
     "them"},
    {"rows-together", &Switches::rowsTogether, "rows_together",
     "short rows are computed several at a time, so that none waits for its own sums"},
    {"prefetch-rows", &Switches::prefetchRows, "rows_prefetched",
     "rows that follow are prefetched while the current ones are computed"},
    {"variants", &Switches::variants, "variants",
     "programs whose sizes ask for different tilings choose between them at run time"},
    {"shorten-live-ranges", &Switches::shortenLiveRanges, "shortened", "computes stand where what they read was made"},
    {"generalise", &Switches::generaliseSizes, "generalised", "constant sizes of contractions become symbols"},
    {"share", &Switches::sharePrograms, "duplicates", "equal programs are compiled once"},
    {"scatters-in-place", &Switches::scattersInPlace, "scatters_in_place",
     "scatters write the tensor that nothing reads any more, instead of a copy"},
    {"keep-operands", &Switches::keepOperands, "kept",
     "branches leave operands that a side returns unchanged where they lie, instead of a copy"},
    {"donate", &Switches::donateState, "donated", "new values of state are computed in place"},
    {"name-sizes", &Switches::nameSizes, "named_sizes",
     "long sizes have names, over which sizes that follow from them stay short"},
    {"schedule", &Switches::schedulePhases, "scheduled_phases",
     "operators that do not depend on each other come together, where workers would wait otherwise"},
    {"merge-phases", &Switches::mergePhases, "merged_phases", "what need not wait for each other is one phase"},
    {"elide-waits", &Switches::elideWaits, "elided", "workers go on where they read only what they wrote"},
    {"overlap-iterations", &Switches::overlapIterations, "overlapped",
     "what does not depend on a loop's last iteration begins before that has ended"},
    {"double-buffer", &Switches::doubleBuffer, "double_buffered",
     "what does not depend on a loop's last iteration writes memory that the last one does not read"},
    {"overwrite", &Switches::overwriteOperands, "overwritten",
     "results lie over operands that die where they are made"},
    {"await-readers", &Switches::awaitReaders, "awaited_readers",
     "the last readers of memory that nothing else awaits are awaited where they are done, so that it is used again"},
    {"narrow-waits", &Switches::narrowWaits, "narrowed",
     "workers wait for those alone that made the rows or images that they read"},
    {"claimed", &Switches::claimPhases, "claimed", "on a busy machine workers take tiles that others have not begun"},
    {"reuse-memory", &Switches::reuseMemory, "reused", "intermediates take the bytes of those that are done"},
    {"reduce-short-loops", &Switches::reduceShortLoops, "unreduced_loops",
     "strength is reduced in short loops alone: in long ones it keeps more values alive than registers hold, and takes "
     "long to compile"},
    {"store-constants", &Switches::storeConstants, "stored_constants",
     "loops read vectors of constants from memory where a processor has too few registers for them"},
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_SWITCHES_H

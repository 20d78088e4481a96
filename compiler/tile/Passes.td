#ifndef FREESTONE_COMPILER_TILE_PASSES_TD
#define FREESTONE_COMPILER_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

/// Passes keep counters, named in their descriptions, in the attribute `tile.counters` of the function or module.
class TilePass<string name, string anchor> : Pass<name, anchor> {
  let dependentDialects = ["::freestone::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def SelectBranches : TilePass<"tile-select-branches", "::mlir::func::FuncOp"> {
  let summary = "computes both sides of short branches, and selects";
  let description = [{
    In: `graph.if`. Out: the same without those whose sides together take less time than a worker takes to see what
    another wrote, as every branch asks it to: both are computed, beside each other and what is around, and the results
    selected. Sides have limited sizes, which are those of the results, and nothing that checks data, draws random
    numbers or determines sizes. Counts `selected_branches`.
    ```mlir
    %y = graph.if %c { graph.yield %a } else { %b = graph.unary neg %a … graph.yield %b } : !graph.tensor<[], i1> -> !graph.tensor<[4], f32>
    // →
    %b = graph.unary neg %a : !graph.tensor<[4], f32>
    %all = graph.broadcast %c dims [] : !graph.tensor<[], i1> -> !graph.tensor<[4], i1>
    %y = graph.select %all, %a, %b : …
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"target", "target", "std::string", "\"host\"", "The device: a description or a target">];
}

def LiftRegions : TilePass<"tile-lift-regions", "::mlir::ModuleOp"> {
  let summary = "lifts the regions of loops and branches to functions";
  let description = [{
    In: `graph.scan`, `graph.while`, `graph.if`. Out: `tile.loop` and `tile.branch`, whose bodies are functions, so that
    every later pass treats them as it treats an entry. What does not depend on the iteration moves out of its loop, what
    costs nothing (constants, weights, sizes) into the body, and other values from outside become arguments. Sizes that
    an iteration or a side of a branch determines are bound by opaques that copy a scalar: the number of the iteration,
    or a size that is carried or returned. Those without a limit have no `bound`. What is carried and
    becomes longer at its end is appended to where it lies (`appendCarried`; not with `append=false`). What is reversed
    for a scan is gone along from its last slice instead: `tile.reversed` on the loop numbers these tensors. What a
    scan's body does not read, such as the numbers of iterations, is left out. What a scan
    collects of carried values as its steps find them lies beside the next ones, and is returned by no step. Counts
    `bodies`, `appended`, `reversed` and `kept_states`.
    ```mlir
    %last = graph.scan carry %h over %x { ^bb0(%state, %slice): … }
    // →
    %last = tile.loop @main_body trips t carry(%h) over(%x) with(%captured) : …
    ```
  }];
  let options = [Option<"append", "append", "bool", "true", "Let what loops carry become longer where it lies">,
                 Option<"reverse", "reverse", "bool", "true", "Go along tensors from their end instead of reversing them">,
                 Option<"keepStates", "keep-states", "bool", "true",
                        "Let carried values that are collected as steps find them stay where they are carried">];
}

def GraphToTile : TilePass<"graph-to-tile", "::mlir::func::FuncOp"> {
  let summary = "lowers every operator of the graph to a compute";
  let description = [{
    In: core operators of the graph. Out: `tile.compute` and `tile.opaque`, inline; `graph.reshape` stays since it is
    free, and so do weights and constants other than splats. For an operator that can't be lowered, the pass fails with
    the reason. A convolution of a dilated operand (a transposed convolution, or the input gradient of a strided one)
    becomes dense convolutions, one for every residue class of its positions. Counts `lowered`, and these
    `residue_classes`.
    ```mlir
    %y = graph.unary exp %x : !graph.tensor<[n], f32>
    // →
    %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
    ^bb0(%a: f32):
      %e = math.exp %a : f32
      tile.yield %e : f32
    } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
    ```
  }];
  let options = [ListOption<"only", "only", "std::string", "Lower these operators alone (`graph.unary`); empty: all">,
                 Option<"residueClasses", "residue-classes", "bool", "true",
                        "Divide convolutions of dilated operands into dense ones; without it they are summed point by point">];
}

def SumIntoScatters : TilePass<"tile-sum-into-scatters", "::mlir::func::FuncOp"> {
  let summary = "adds updates to the tensor that their sum is added to";
  let description = [{
    What a gather adds to the gradient of a tied weight is a scatter into zeros, whose sum with the rest would pass over the whole
    table. The scatter takes the rest as its operand instead. Of floats narrower than f32, which would lose small updates, nothing
    changes.
    ```mlir
    %s = graph.scatter_nd add %zeros, %i, %u : …
    %y = graph.binary add %x, %s : !graph.tensor<[v, d], f32>
    // →
    %y = graph.scatter_nd add %x, %i, %u : …
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def UnfoldConvolutions : TilePass<"tile-unfold-convolutions", "::mlir::func::FuncOp"> {
  let summary = "makes convolutions of 8-bit integers products of matrices";
  let description = [{
    In: convolutions in one group. Out: the product of the filters and of the elements under each of their places, whose
    words dot products and pair products sum. Filters of a single place read pictures as they are. Those stay whose windows
    are packed to words as they are: with strides of up to 4 along rows. Counts `unfolded`.
    ```mlir
    %y = graph.convolve %x, %w strides [5, 5] … as i32 : !graph.tensor<[n, 8, h, w], ui8>, !graph.tensor<[16, 8, 3, 3], i8>
    // →
    %rows = graph.reshape … : !graph.tensor<[16, 72], i8>
    %columns = graph.concat … axis 0 : …
    %y = graph.contract %rows, %columns batch [] x [] contract [1] x [0] as i32 : …
    ```
  }];
}

def UseLibrary : TilePass<"tile-use-library", "::mlir::func::FuncOp"> {
  let summary = "replaces operators of one name by calls of a library's service";
  let description = [{
    Every such operator becomes a call of the service with the same operands and results; the service must know the
    operator's attributes. Operators may be of the graph or of the tile level. Counts `served`.
    ```mlir
    %y = graph.unary tanh %x : !graph.tensor<[n], f32>
    // → op=graph.unary service=test.tanh
    %y = tile.library "test.tanh"(%x) : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
    ```
  }];
  let options = [Option<"op", "op", "std::string", "\"\"", "The operators (`graph.unary`)">,
                 Option<"service", "service", "std::string", "\"\"", "The name of the service">,
                 Option<"version", "version", "int64_t", "1", "Its version">];
}

def LayOutState : TilePass<"tile-lay-out-state", "::mlir::func::FuncOp"> {
  let summary = "makes contractions read and write packed state in place";
  let description = [{
    A state [n/w, k, w] that is transposed and reshaped to [n, k] is that matrix in packed panels: contractions read it
    directly. A contraction whose result is reshaped and transposed to [n/w, k, w], such as the gradient of a packed
    state, writes panels. Counts these operands and results as `laid_out`.
    ```mlir
    %t = … transposed %p : !graph.tensor<[36, 384, 32], f32> -> !graph.tensor<[36, 32, 384], f32>
    %w = graph.reshape %t : !graph.tensor<[36, 32, 384], f32> -> !graph.tensor<[1152, 384], f32>
    // →
    %w = tile.view %p : !graph.tensor<[36, 384, 32], f32> -> !graph.tensor<[1152, 384], f32, #tile.panels<axis = 0, width = 32>>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"width", "width", "int64_t", "32", "Width of panels of the vector operand">];
}

def InlineProducers : TilePass<"tile-inline-producers", "::mlir::func::FuncOp"> {
  let summary = "inlines maps (copies and elementwise computes) into their consumers";
  let description = [{
    Computes that only move elements (broadcast, transpose, slice; seen through reshapes) become index maps of every
    consumer. Elementwise computes are inlined into a single consumer if this recomputes nothing, or into all consumers
    if they read one tensor that is in memory anyway. Epilogues stay with their contraction, except between a
    convolution and the pooling of its pixels. Contractions accept only index maps that stay linear: a transposition of
    their result permutes their loops, a constant factor of an operand moves to the result. So does a factor that is
    equal for all elements of a sum, if these are summed without it as well. Reductions and gathers of rows are not
    permuted if their reads would become strided: then their results are transposed. Counts `inlined`, `permuted`,
    `factored`, `factored_sums`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"pools", "pools", "bool", "true", "What pools a convolution takes what comes between">,
                 Option<"factorSums", "factor-sums", "bool", "true", "Multiply sums rather than their elements">];
}

def Fuse : TilePass<"tile-fuse", "::mlir::func::FuncOp"> {
  let summary = "fuses computes, so that intermediates need not go through memory";
  let description = [{
    Fuses a contraction or window with its epilogue; reductions with all computes over the same rows, including further
    reductions (softmax, norms); elementwise computes over the same loops; and reductions of the same elements. Edges
    are fused in the order of saved bytes, unless this makes a cycle, a row exceeds the cache, or much work would be
    left to a single tile. Then groups of contractions over the same rows and columns and of those that sum their results
    are connected by tiles (attention). Where results are also read behind the sums, as by gradients, these readers are
    connected as well, and compute them again. A map of elements and of what reductions over rows of them gave, such as
    a normalization by the statistics of a batch, first takes the order of the reductions' loops, so that both are passes
    over the same rows; what is computed again goes along what was kept. Operations stay in their order where groups move. Products that read the pictures of a batch channel by channel, as such maps leave them, write them
    so as well where panels of each picture's columns would not be full: the columns of all pictures are those of one
    product. What reads several equal slices of a contraction's columns together, such as the gates of a recurrent layer,
    is its epilogue as well, where slices are whole panels: counted by contraction as `sliced_epilogues`. Rows whose length only a run tells are assumed to be short where being long costs nothing. Counts
    edges by kind, `epilogues`, `rows`, `maps` and `siblings`, connections as `connected`, and `groups`; maps in another
    order as `ordered_maps`, products as `ordered_products`, and edges of rows that are short in some runs alone as `long_rows`.
  }];
  let options = [Option<"epilogues", "epilogues", "bool", "true", "Fuse contractions with the computes that follow on their elements">,
                 Option<"slices", "slices", "bool", "true", "Fuse contractions with computes that read slices of their columns together">,
                 Option<"rows", "rows", "bool", "true", "Fuse computes over the same rows as a reduction">,
                 Option<"maps", "maps", "bool", "true", "Fuse elementwise computes over the same loops">,
                 Option<"siblings", "siblings", "bool", "true", "Fuse reductions that read the same elements">,
                 Option<"connect", "connect", "bool", "true", "Connect contractions by tiles">,
                 Option<"orderMaps", "order-maps", "bool", "true", "Permute maps as the reductions that they read">,
                 Option<"orderProducts", "order-products", "bool", "true", "Permute products of pictures that lie channel by channel">,
                 Option<"longRows", "long-rows", "bool", "true", "Assume that rows are short whose length a run tells">,
                 Option<"columns", "columns", "int64_t", "32", "Width of a panel">,
                 Option<"cacheBytes", "cache-bytes", "int64_t", "1048576", "Size of a worker's cache (L2)">,
                 Option<"splits", "splits", "bool", "false", "Long products of f32 are split into parts">];
}

def FusePools : TilePass<"tile-fuse-pools", "::mlir::func::FuncOp"> {
  let summary = "fuses convolutions with the pooling of their results";
  let description = [{
    If the only reader of a convolution with packed weights pools adjacent, disjoint rectangles of pixels, possibly
    after a map of each pixel (bias, normalization, activation), both are fused, and pixels never leave the tile.
    Elementwise computes after the pooling are fused as well. Counts `pools`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def FuseChains : TilePass<"tile-fuse-chains", "::mlir::func::FuncOp"> {
  let summary = "fuses convolutions, products and windows that read rows of each other's results";
  let description = [{
    Where the only reader of a picture that a convolution, a product with weights or a window computes (with what follows
    on its elements) is another of them, both may be stages of one group: the rows of the first are computed tile by
    tile, as windows of the second need them, and stay in a cache (Shi et al., "Welder", OSDI 2023). Lines of such
    operators are cut into chains of up to four stages where that saves most: the transfers of intermediates, less rows
    that are kept or computed again, operands that each tile reads, and calls. Counts edges within chains as `chained`.
    ```mlir
    %h = tile.compute [n, 96, h, w, 16] … ins(%x, %k)
    %y = tile.compute [n, 96, 1, h, w, 1, 3, 3] … ins(%h, %d)
    // →
    %y = tile.group { … }
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"windows", "windows", "bool", "true", "Windows of few channels may be stages">,
                 Option<"target", "target", "std::string", "\"host\"", "The device: a description or a target">];
}

def FuseOuterLoops : TilePass<"tile-fuse-outer-loops", "::mlir::func::FuncOp"> {
  let summary = "fuses programs that read each other's results at the same points of an outer loop";
  let description = [{
    A program that reduces all elements of each point of a loop, such as a normalization of channels, is fused with those
    that make or read its elements channel by channel: other passes over rows, maps, and windows of single channels,
    forward or backward (tile connection; Shi et al., "Welder", OSDI 2023). They remain stages, each with its own
    plan, and a block of channels goes through all of them: what lies between is in a cache, and in memory only where
    others read it as well. Products that pack an operand for all channels stay apart, and so do those whose tensors fit
    L2. Counts edges as `outer_loops`.
    ```mlir
    %y = tile.group { … tile.compute [c, n, h, w] … }                      // normalizes %x
    %z = tile.compute [c, n, h, w, 3, 3] … ins(%y, %k)                     // depthwise
    // →
    %z = tile.group { … {tile.stage = #tile.stage<number = 0, loop = 0>} …
                      … {tile.stage = #tile.stage<number = 1, loop = 0>} }
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"target", "target", "std::string", "\"host\"", "The device: a description or a target">];
}

def CoalesceLoops : TilePass<"tile-coalesce-loops", "::mlir::func::FuncOp"> {
  let summary = "merges neighbouring loops that run over memory without a gap in every operand";
  let description = [{
    [b, s, 384] over [b, s] rows becomes [b*s, 384]; reshapes, which are free, stand around the computes. So does
    [h, w, 2] whose operand is [h, w], repeated up to four times along the last loop: it is read at `w floordiv 2`.
    Counts pairs of loops `coalesced`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def SplitReductions : TilePass<"tile-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "splits long reductions of few results into parts";
  let description = [{
    Where the results of a contraction or a reduction would be fewer tiles than a machine has workers, the longest
    reduction loop is split into parts of equal length, each with a partial result, and partial results are combined in
    their order. The number of parts follows from sizes and the device alone: results have the same bits for every
    number of workers. The remainder, where the length is no multiple of the number of parts, is reduced beside the
    combination. A group is split at its reductions, unless it keeps elements of a row in the cache. Counts
    `split_reductions`.
    ```mlir
    %r = tile.compute [] [reduction [4000000]] …(%x) : (!graph.tensor<[4000000], f32>) -> !graph.tensor<[], f32>
    // →
    %v = graph.reshape %x : !graph.tensor<[4000000], f32> -> !graph.tensor<[32, 125000], f32>
    %p = tile.compute [32, 125000] [parallel, reduction] ins(%v) … -> !graph.tensor<[32], f32>
    %r = tile.compute [32] [reduction] ins(%p) … -> !graph.tensor<[], f32>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"target", "target", "std::string", "\"host\"",
                        "The device: host, x86-64-v3, x86-64-v4, or its description as JSON">];
}

def TabulateMaps : TilePass<"tile-tabulate-maps", "::mlir::func::FuncOp"> {
  let summary = "looks functions of 8 bits up in tables";
  let description = [{
    Where operations of a body make 8 bits of nothing but 8 other bits and constants, as quantised activations do, all 256
    results are computed at once, and one is looked up for each element: in four registers, where the device permutes their
    bytes, else in sixteen parts of a table. Short chains of operations stay. Counts `tabulated_maps`.
    ```mlir
    %0 = arith.uitofp %x : i8 to f32
    %1 = math.exp %0 : f32
    …
    %y = arith.fptoui %9 : f32 to i8
    // →
    %y = tile.lookup %x in [0, 0, 1, …] : i8
    ```
  }];
  let options = [
    Option<"enable", "enable", "bool", /*default=*/"true", "whether the pass does anything">,
    Option<"target", "target", "std::string", "\"host\"", "The device: a description or a target">
  ];
}

def RoundProducts : TilePass<"tile-round-products", "::mlir::func::FuncOp"> {
  let summary = "rounds products instead of quotients";
  let description = [{
    Where a quotient by a constant is rounded to few integers, as in QuantizeLinear, two multiplications by the parts of
    the divisor's reciprocal take its place (Brisebarre, Muller and Raina, Accelerating Correctly Rounded Floating-Point
    Division when the Divisor Is Known in Advance, IEEE TC 2004): a division takes as long as eight of them. Results are
    the same: every number near the middle of two of these integers is tried, and if one of them rounds otherwise, the
    division stays. Counts `rounded_products`.
    ```mlir
    %q = arith.divf %x, %scale : f32
    %r = math.roundeven %q : f32     // between 0 and 255
    // →
    %b = …                           // %x between 0 and 255 * scale
    %l = arith.mulf %b, %low : f32
    %p = math.fma %b, %high, %l : f32
    %r = math.roundeven %p : f32
    ```
  }];
  let options = [
    Option<"enable", "enable", "bool", /*default=*/"true", "whether the pass does anything">
  ];
}

def DropBarriers : TilePass<"tile-drop-barriers", "::mlir::func::FuncOp"> {
  let summary = "removes barriers, once no later pass merges computes";
  let description = [{
    `graph.barrier %x` becomes `%x`: from here on the order of computes, which becomes that of phases, keeps
    them apart.
  }];
}

def ShortenLiveRanges : TilePass<"tile-shorten-live-ranges", "::mlir::func::FuncOp"> {
  let summary = "moves computes up to their operands where this frees more memory than it takes";
  let description = [{
    A compute that is the last reader of more bytes than it writes, such as a sum over a gradient for the global norm at
    the end of a step, extends the live ranges of its operands. It moves right behind the last of its operands. So does
    what only adds to a state, such as a gradient to the sum over micro-batches, which takes no memory of its own.
    Counts computes `shortened`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def ChooseLayouts : TilePass<"tile-choose-layouts", "::mlir::ModuleOp"> {
  let summary = "packs weights for contractions, and hoists all work on weights to @init";
  let description = [{
    A weight that is the vector operand of a contraction is packed into panels along its columns, that of a convolution
    along its output channels. All that depends on weights alone (packing, casts, folded scales) is computed by @init,
    whose arguments are the plain weights and whose results are arguments of @main; `graph.weight` names both. Weights
    of convolutions of many pixels that are arguments are packed in the run, counted as `packed_in_runs`; so are filters
    that dot products of bf16 read, in strips, or would gather, which are put in order. What a loop captures and its body
    multiplies many rows by is packed once, before the loop, counted as `packed_in_loops`, and where a matrix unit multiplies it in parts
    of bf16, so are these, in runs with rows enough, counted as `parts_in_loops`. Filters of 3 x 3 taps are transformed where
    that saves time, which is counted as `transformed`. Convolutions of narrow floating-point numbers are multiplied in
    f32 where no dot products take less time, counted as `widened`: weights are widened when packed, pictures by each
    tile. Narrow weights that dot products read are packed in their words, counted
    as `packed_words`, those of rows, such as filters, as `packed_strips`. Counts operands `packed`, those of convolutions of single taps as
    `pictures_in_place`, and values `hoisted`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Pack weights; without it they are read as they are">,
                 Option<"columns", "columns", "int64_t", "32", "Width of panels of the vector operand">,
                 Option<"convolutions", "convolutions", "bool", "true",
                        "Pack the weights of convolutions, whose vectors then lie along the channels out">,
                 Option<"inPlace", "in-place", "bool", "true",
                        "Convolutions of single taps, and products with a weight on the left, are such convolutions too">,
                 Option<"narrowPanels", "narrow-panels", "bool", "true",
                        "The last panel of channels is computed in as many vectors as they fit">,
                 Option<"inRuns", "in-runs", "bool", "true",
                        "Convolutions' weights that a run brings are packed before their use">,
                 Option<"pairs", "pairs", "bool", "false", "Words of two bf16 are summed by dot products">,
                 Option<"quads", "quads", "bool", "false", "Words of four 8-bit integers are summed by dot products">,
                 Option<"signs", "signs", "bool", "false", "Dot products of integers multiply any signs">,
                 Option<"streamRows", "stream-rows", "bool", "false",
                        "Few columns of dot products read rows in place, and are no words">,
                 Option<"strips", "strips", "bool", "true", "Rows of narrow weights are packed in strips of words">,
                 Option<"fewestPixels", "fewest-pixels", "int64_t", "128",
                        "Pixels of a convolution, at typical sizes, that packing its weights in each run is worth">,
                 Option<"inLoops", "in-loops", "bool", "true",
                        "What the iterations of a loop multiply by is packed before it">,
                 Option<"fewestRows", "fewest-rows", "int64_t", "16",
                        "Rows of such a product, at typical sizes, below which it reads its columns in place">,
                 Option<"parts", "parts", "bool", "false",
                        "What many rows multiply by in a loop is packed in parts of bf16 as well">,
                 Option<"transform", "transform", "bool", "true",
                        "Transform filters of 3 x 3 taps where that saves time">,
                 Option<"cacheBytes", "cache-bytes", "int64_t", "1048576",
                        "Bytes of the cache that a worker has for itself">,
                 Option<"widen", "widen", "bool", "true",
                        "Multiply convolutions of narrow floating-point numbers in f32 where that saves time">,
                 Option<"stepsOfPairs", "steps-of-pairs", "double", "2",
                        "Multiply-adds of dot products of pairs in the time of one of f32">,
                 Option<"stepsPerByte", "steps-per-byte", "double", "8",
                        "Multiply-adds in the time of a byte from beyond that cache">,
                 Option<"rows", "rows", "int64_t", "0",
                        "Width of panels of the broadcast operand; 0: it stays row-major, and emitters pack it">];
}

def BindLiveWeights : TilePass<"tile-bind-live-weights", "::mlir::ModuleOp"> {
  let summary = "makes live weights inputs, and what is made of them states";
  let description = [{
    What @init makes of live weights becomes the states that @pack writes, whose inputs are those weights; other
    functions read them. Live weights that functions read as they are become their last inputs. Counts states as
    `kept_weights`.
    ```mlir
    func.func @init(%w: … {graph.name = "w"}) -> (… {graph.weight = "w:packed"})
    func.func @main(%x: … {graph.name = "x"}, %p: … {graph.weight = "w:packed"})
    // →
    func.func @pack(%w: … {graph.name = "w"}) -> (… {graph.state = "w:packed"})
    func.func @main(%x: … {graph.name = "x"}, %p: … {graph.state = "w:packed"})
    ```
  }];
}

def Outline : TilePass<"tile-outline", "::mlir::ModuleOp"> {
  let summary = "outlines groups and computes as programs, shared where equal";
  let description = [{
    Sizes become symbols s0, s1, … of the program; in contractions constant sizes as well, so that one program serves
    all layers. Counts `programs`, `duplicates` of other programs, and constant sizes `generalised`.
  }];
  let options = [Option<"share", "share", "bool", "true", "Share equal programs">,
                 Option<"generalise", "generalise", "bool", "true", "Make constant sizes of contractions symbols">];
}

def ChooseTiles : TilePass<"tile-choose-tiles", "::mlir::ModuleOp"> {
  let summary = "chooses the tiling of every program, and writes its plan";
  let description = [{
    The form of a program decides its kind of tiling; the device's capacities, and sizes where known, decide the
    numbers. Code depends on nothing but the plan; emitters decide nothing. Counts programs that are `contractions`,
    those among them, convolutions and windows whose tiling is `constructed`, with `pair_products` of integers, as `inner_products` or with packed
    operands `kept_packed` for later tiles, those whose runs of few steps of k go in `strips`, those with `results_brought` while they are computed, where these leave L2, those and convolutions with `narrow_panels` of fewer vectors behind their whole ones, those in loops that are `alternating`, contractions of bf16 and of 8-bit integers with `dot_products`, `convolutions`, those among them with `skipped_taps`, and those with `pictures_together` in a tile, `weight_gradients` of convolutions, those among them that
    are `transformed` or of single taps with `channels_apart`, sums
    in `sum_blocks`, reductions of `windows`, those among them with `shared_rows`, those with `channel_vectors` for narrow pictures, passes over rows and maps that compute several vectors `side_by_side`, passes over rows that are copied from `rows_across`, those whose short `rows_together` are computed and those that have rows `rows_prefetched`, maps that are `transpositions`,
    maps of `narrow_lanes`, maps in `segments` of columns, maps with `parts_of_rows` as tiles, and programs with `variants` for different sizes.
    ```mlir
    tile.program @p0 symbols [s0, s1] (…) -> (…) {…}
    // →
    tile.program @p0 symbols [s0, s1] (…) -> (…) attributes {plan = #tile.plan<
      #tile.map<rows = max(1, 4096 floordiv s1), columns = s1, lanes = 16, vectors = 1>,
      tiles = s0 ceildiv max(1, 4096 floordiv s1), scratch = 0, reads = […], writes = […]>} {…}
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"host\"",
                        "The device: host, x86-64-v3, x86-64-v4, or its description as JSON">,
                 Option<"weightGradients", "weight-gradients", "bool", "true",
                        "Copy pictures for the gradients of weights, rather than pack all of their windows">,
                 Option<"transform", "transform", "bool", "true",
                        "Transform gradients of 3 x 3 taps where that saves time">,
                 Option<"channelsApart", "channels-apart", "bool", "true",
                        "Copy pictures for gradients of single taps channel by channel">,
                 Option<"skipTaps", "skip-taps", "bool", "true",
                        "Sum the taps of a convolution that touch the picture, without those that read zeros beyond it">,
                 Option<"skipMasked", "skip-masked", "bool", "true",
                        "Leave out blocks of connected products whose values are masked as a whole">,
                 Option<"picturesTogether", "pictures-together", "bool", "true",
                        "Let tiles of convolutions have several pictures, which read weights once for all of them">,
                 Option<"windows", "windows", "bool", "true",
                        "Copy what windows see, and compute blocks of pixels in registers">,
                 Option<"shareRows", "share-rows", "bool", "true",
                        "Compute all taps of a window at a time, so that rows share what they load">,
                 Option<"channelVectors", "channel-vectors", "bool", "true",
                        "Compute windows of narrow pictures with vectors along the channels">,
                 Option<"overlapVectors", "overlap-vectors", "bool", "true",
                        "Let the last vector of a row of pixels begin within the one before where masks are slow">,
                 Option<"windowsInPlace", "windows-in-place", "bool", "true",
                        "Let windows of a chain read the rows of the stage before in place, without copying them">,
                 Option<"copyAhead", "copy-ahead", "bool", "true",
                        "Prefetch rows of pictures before convolutions copy them">,
                 Option<"dotProducts", "dot-products", "bool", "true",
                        "Sum products of bf16 and of 8-bit integers as dot products of words, where the device can">,
                 Option<"splitProducts", "split-products", "bool", "true",
                        "Multiply matrices of f32 by a matrix unit for bf16, as three parts each, where that is faster">,
                 Option<"pairProducts", "pair-products", "bool", "true",
                        "Multiply integers of 16 bits in pairs">,
                 Option<"keepPacked", "keep-packed", "bool", "true",
                        "Keep what contractions pack for the tiles that follow, where scratch holds it">,
                 Option<"packTogether", "pack-together", "bool", "true",
                        "Pack several panels of columns at once where steps of k are whole pages apart in memory">,
                 Option<"streamColumns", "stream-columns", "bool", "true",
                        "Let few rows read the columns of a contraction in place, without packing them">,
                 Option<"streamRows", "stream-rows", "bool", "true",
                        "Let few columns read the rows of a contraction in place, without packing them">,
                 Option<"strips", "strips", "bool", "true",
                        "Compute strips of rows of several panels at a time where contractions have few steps of k">,
                 Option<"bringResults", "bring-results", "bool", "true",
                        "Prefetch rows of results that leave L2 while contractions compute them">,
                 Option<"bringTiles", "bring-tiles", "bool", "true",
                        "Prefetch the next tile of windows and of weight gradients while one is computed">,
                 Option<"narrowPanels", "narrow-panels", "bool", "true",
                        "Compute the last panel of columns in as many vectors as they fit">,
                 Option<"directResults", "direct-results", "bool", "true",
                        "Let dot products write results that are their sums">,
                 Option<"alternate", "alternate", "bool", "true",
                        "Go through stored panels backwards in odd iterations of loops">,
                 Option<"innerProducts", "inner-products", "bool", "true",
                        "Let contractions with few rows or columns be inner products, with vectors along the sum">,
                 Option<"sumBlocks", "sum-blocks", "bool", "true",
                        "Compute sums of products over the same positions in blocks, with vectors along these">,
                 Option<"construct", "construct", "bool", "true",
                        "Take the best of all tilings of a contraction, convolution or window that can be constructed, rather than a plain one">,
                 Option<"sideBySide", "side-by-side", "bool", "true",
                        "Compute several vectors side by side where one would wait for its own results">,
                 Option<"transpositions", "transpositions", "bool", "true",
                        "Transpose in registers where operands are contiguous along another loop than results">,
                 Option<"narrowLanes", "narrow-lanes", "bool", "true",
                        "Let vectors of maps hold as many elements as fill a register in memory's width">,
                 Option<"segments", "segments", "bool", "true",
                        "Compute columns in segments within which no operand begins or ends">,
                 Option<"partsOfRows", "parts-of-rows", "bool", "true",
                        "Let tiles of maps be parts of rows, where few elements take long">,
                 Option<"rowsAcross", "rows-across", "bool", "true",
                        "Copy rows, transposed in registers, whose neighbours in memory belong to neighbouring rows">,
                 Option<"rowsTogether", "rows-together", "bool", "true",
                        "Compute several short rows at a time, so that none waits for its own sums">,
                 Option<"prefetchRows", "prefetch-rows", "bool", "true",
                        "Prefetch the rows that follow while the current ones are computed">,
                 Option<"variants", "variants", "bool", "true",
                        "Choose between tilings of a program at run time, where sizes ask for different ones">];
}

def ReplaceTilings : TilePass<"tile-replace-tilings", "::mlir::ModuleOp"> {
  let summary = "tiles programs as a file says, for measurements";
  let description = [{
    Every line of the file names a program and its tiling, from which a plan follows:
    ```
    p0 #tile.map<rows = 1, columns = 4096, lanes = 16, vectors = 1>
    ```
    Empty lines, and those that begin with `//`, say nothing. Other programs keep their plans.
  }];
  let options = [Option<"tilings", "tilings", "std::string", "", "The file">];
}

#endif // FREESTONE_COMPILER_TILE_PASSES_TD

#ifndef FREESTONE_COMPILER_TILE_PASSES_TD
#define FREESTONE_COMPILER_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

/// Passes count what they do, under the names that their descriptions give, in the attribute `tile.counters` of the
/// function or module.
class TilePass<string name, string anchor> : Pass<name, anchor> {
  let dependentDialects = ["::freestone::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def GraphToTile : TilePass<"graph-to-tile", "::mlir::func::FuncOp"> {
  let summary = "makes every operator of the graph a compute";
  let description = [{
    In: core operators of the graph. Out: `tile.compute` and `tile.opaque`, inline; `graph.reshape` stays, it is free,
    and so do weights and constants that are no splat. Where an operator can't be lowered, the pass fails with the
    reason. A convolution of a dilated operand (a transposed convolution, or the gradient of one with strides) becomes a dense one for
    every residue class of its places. Counts `lowered`, and such `residue_classes`.
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

def UseLibrary : TilePass<"tile-use-library", "::mlir::func::FuncOp"> {
  let summary = "lets a service of a library compute operators of one name";
  let description = [{
    Every such operator becomes a call of the service over the same operands and results; what its attributes said, the
    service must know. Operators may be of the graph or of the tile level. Counts `served`.
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
  let summary = "has contractions read and write state in the panels that it is stored in";
  let description = [{
    A state [n/w, k, w] that is transposed and reshaped to [n, k] is that matrix in panels: contractions take it as it is. A
    contraction whose result is reshaped and transposed to [n/w, k, w], as the gradient of such a state is, writes panels. Counts
    these operands and results `laid_out`.
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
  let summary = "puts computes that only map elements into the bodies of their consumers";
  let description = [{
    What moves elements (broadcast, transpose, slice, looked at through reshapes) becomes an index map of every
    consumer; what is elementwise is put into its one consumer, where no element is then computed twice, or, where it is
    made of one tensor that is in memory anyway, into all of them; what follows a contraction stays with it, unless it
    comes between a convolution and the pooling of its pixels. Contractions take index maps alone, as long as they
    stay linear: a transposition of their result becomes the order of their loops, a constant factor of an operand one of
    the result. Counts `inlined`, `permuted`, `factored`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"pools", "pools", "bool", "true", "What pools a convolution takes what comes between">];
}

def Fuse : TilePass<"tile-fuse", "::mlir::func::FuncOp"> {
  let summary = "groups computes whose intermediates need not go through memory";
  let description = [{
    A contraction or window with the elementwise computes over its result; reductions with all computes over the same
    rows, among them further reductions (softmax, norms); elementwise computes over the same loops; reductions that read
    the same elements. Edges are fused in the order of the bytes that they save, unless a cycle arises, a row is too
    large to stay in the cache, or one tile would be all that is left of much work. Counts edges by kind, `epilogues`,
    `rows`, `maps` and `siblings`, and `groups`.
  }];
  let options = [Option<"epilogues", "epilogues", "bool", "true", "Fuse contractions with the computes that follow on their elements">,
                 Option<"rows", "rows", "bool", "true", "Fuse computes over the same rows as a reduction">,
                 Option<"maps", "maps", "bool", "true", "Fuse elementwise computes over the same loops">,
                 Option<"siblings", "siblings", "bool", "true", "Fuse reductions that read the same elements">,
                 Option<"cacheBytes", "cache-bytes", "int64_t", "1048576", "What a worker's cache (L2) holds">];
}

def FusePools : TilePass<"tile-fuse-pools", "::mlir::func::FuncOp"> {
  let summary = "groups convolutions with the pooling of their results";
  let description = [{
    Where nothing else reads the result of a convolution with packed weights, and what does reduces rectangles of pixels
    that lie next to each other, with whatever it computes of each pixel (bias, normalisation, activation), the pixels
    never leave the tile. What follows element by element comes along. Counts `pools`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def CoalesceLoops : TilePass<"tile-coalesce-loops", "::mlir::func::FuncOp"> {
  let summary = "merges neighbouring loops that run over memory without a gap in every operand";
  let description = [{
    [b, s, 384] over [b, s] rows becomes [b*s, 384]; reshapes, which are free, stand around the computes.
    Counts pairs of loops `coalesced`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def DropBarriers : TilePass<"tile-drop-barriers", "::mlir::func::FuncOp"> {
  let summary = "forgets barriers, when nothing follows that merges computes";
  let description = [{
    `graph.barrier %x after %g` becomes `%x`: the order of the computes, which is that of the phases, keeps them apart from here on.
  }];
}

def ShortenLiveRanges : TilePass<"tile-shorten-live-ranges", "::mlir::func::FuncOp"> {
  let summary = "moves computes up to where their operands are made, where that frees more memory than it takes";
  let description = [{
    A compute that is the last to read more bytes than it writes, such as a sum over a gradient that joins the norm of all gradients at
    the end of a step, keeps what it reads alive until it is there. It moves right behind the last of its operands. Counts computes
    `shortened`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def ChooseLayouts : TilePass<"tile-choose-layouts", "::mlir::ModuleOp"> {
  let summary = "gives weights the layouts that contractions read fastest, and moves all work on weights to @init";
  let description = [{
    A weight that is the vector operand of a contraction is packed into panels along its columns, that of a convolution
    along its channels out. What depends on weights alone (packing, casts, folded scales) is
    computed by @init, whose arguments are the plain weights and whose results are arguments of @main; `graph.weight`
    names both. Counts operands `packed` and values `hoisted`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Pack weights; without it they are read as they are">,
                 Option<"columns", "columns", "int64_t", "32", "Width of panels of the vector operand">,
                 Option<"convolutions", "convolutions", "bool", "true",
                        "Pack the weights of convolutions, whose vectors then lie along the channels out">,
                 Option<"rows", "rows", "int64_t", "0",
                        "Width of panels of the broadcast operand; 0: it stays row-major, and emitters pack it">];
}

def Outline : TilePass<"tile-outline", "::mlir::ModuleOp"> {
  let summary = "makes programs of groups and computes, equal ones once";
  let description = [{
    Sizes become symbols s0, s1, … of the program; of contractions also those that are constant, so that one program
    serves all layers. Counts `programs`, `duplicates` that were the same as another, and constant sizes `generalised`.
  }];
  let options = [Option<"share", "share", "bool", "true", "Let equal programs be one">,
                 Option<"generalise", "generalise", "bool", "true", "Make constant sizes of contractions symbols">];
}

def ChooseTiles : TilePass<"tile-choose-tiles", "::mlir::ModuleOp"> {
  let summary = "tiling: writes the plan of every program";
  let description = [{
    The form of a program decides its kind of tiling; what the device holds, and the sizes where they are known, decide the numbers.
    The plan says all that code depends on; emitters decide nothing. Counts programs that are `contractions`, those of them whose
    packed operands are `kept_packed` for the tiles that follow, contractions of bf16 summed as `dot_products`, `convolutions`,
    `weight_gradients` of convolutions, and maps that are `transpositions`.
    ```mlir
    tile.program @p0 symbols [s0, s1] (…) -> (…) {…}
    // →
    tile.program @p0 symbols [s0, s1] (…) -> (…) attributes {plan = #tile.plan<
      #tile.map<rows = max(1, 4096 floordiv s1), columns = s1, lanes = 16, vectors = 1>,
      tiles = s0 ceildiv max(1, 4096 floordiv s1), scratch = 0, reads = […], writes = […]>} {…}
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"host\"", "The device: host, x86-64-v3 or x86-64-v4">,
                 Option<"weightGradients", "weight-gradients", "bool", "true",
                        "Copy pictures for the gradients of weights, rather than pack all of their windows">,
                 Option<"dotProducts", "dot-products", "bool", "true",
                        "Sum products of bf16 in pairs, where the device can">,
                 Option<"keepPacked", "keep-packed", "bool", "true",
                        "Keep what contractions pack for the tiles that follow, where scratch holds it">,
                 Option<"transpositions", "transpositions", "bool", "true",
                        "Transpose in registers where operands lie along another loop than results">];
}

#endif // FREESTONE_COMPILER_TILE_PASSES_TD

#ifndef FREESTONE_COMPILER_DIALECT_TILE_TILEPLANS_TD
#define FREESTONE_COMPILER_DIALECT_TILE_TILEPLANS_TD

include "compiler/dialect/tile/TileDialect.td"
include "mlir/IR/EnumAttr.td"

/// A part of a plan. Sizes are elements unless they say bytes; expressions are over the symbols of the program.
class Tile_PlanPart<string name, string partMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = partMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_MicroKernelAttr : Tile_PlanPart<"MicroKernel", "micro_kernel"> {
  let summary = "the block of sums that a micro-kernel keeps in registers";
  let description = [{
    At most `rows` rows of `vectors` vectors of `lanes` elements; `unroll` steps of k a turn of its loop. A packed panel of the vector
    operand is `vectors * lanes` columns wide.
    ```mlir
    #tile.micro_kernel<rows = 14, vectors = 2, lanes = 16, unroll = 2>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$vectors, "int64_t":$lanes, "int64_t":$unroll);
  let extraClassDeclaration = [{
    /// Columns of a panel.
    int64_t getWidth() const { return getVectors() * getLanes(); }
  }];
}

def Tile_ContractionTilingAttr : Tile_PlanPart<"ContractionTiling", "contraction"> {
  let summary = "how a contraction is tiled: outer loops, then rows, columns, steps of k, panels, the micro-kernel";
  let description = [{
    A tile has at most `rows` rows of A, a multiple of the kernel's, and `panels` panels of B: fewer where that makes `least_tiles`
    tiles, or where rows are fewer than twice the panels. Blocks of one extent are of about equal size. It sums at most `depth` steps of k at a time, a multiple of `depth_unit`. Where k has at most `kept_depths`
    blocks, what is packed for a tile stays packed for the ones that follow: rows of A, and panels of B that take at most
    `kept_columns` elements. An epilogue prefetches its operands `prefetch_rows` rows ahead.
  }];
  let parameters = (ins "MicroKernelAttr":$kernel, "int64_t":$rows, "int64_t":$panels, "int64_t":$least_tiles,
                        "int64_t":$depth, "int64_t":$depth_unit, "int64_t":$kept_depths, "int64_t":$kept_columns, "int64_t":$prefetch_rows);
}

def Tile_DotProductUnit : I32EnumAttr<"DotProductUnit", "what sums products of pairs of bf16", [
    I32EnumAttrCase<"vectors", 0>, I32EnumAttrCase<"tiles", 1>]> {
  let cppNamespace = "::freestone::tile";
}

def Tile_DotProductTilingAttr : Tile_PlanPart<"DotProductTiling", "dot_products"> {
  let summary = "how a contraction of bf16 is tiled whose products are summed in pairs of steps of k";
  let description = [{
    As a contraction, in whole units of 32 rows, columns and steps. A kernel sums at most `groups` units of k at a time; panels of B
    stay packed where they take at most `kept_columns` elements.
  }];
  let parameters = (ins EnumParameter<Tile_DotProductUnit>:$unit, "int64_t":$rows, "int64_t":$columns, "int64_t":$depth,
                        "int64_t":$groups, "int64_t":$kept_columns, "int64_t":$prefetch_rows);
}

def Tile_ConvolutionTilingAttr : Tile_PlanPart<"ConvolutionTiling", "convolution"> {
  let summary = "how a convolution is tiled: outer loops, then channels out, rows, pixels, channels in, panels, rows, the micro-kernel";
  let description = [{
    A tile is a rectangle of at most `area` pixels, `pixels` of them in a row, for at most `panels` panels of channels out; it sums at
    most `channels` channels of the picture at a time, whose windows it copies first.
  }];
  let parameters = (ins "MicroKernelAttr":$kernel, "int64_t":$pixels, "int64_t":$area, "int64_t":$panels,
                        "int64_t":$channels);
}

def Tile_WeightGradientTilingAttr : Tile_PlanPart<"WeightGradientTiling", "weight_gradient"> {
  let summary = "how the gradient of a convolution's weights is tiled: outer loops, then a panel of the gradient's channels, images, rows";
  let description = [{
    A tile sums rows of places of an image, so many at a time as a panel of the gradient has at most `places` places, and the copied
    picture `plane` elements; at least one. The micro-kernel's rows are the channels and taps of the picture.
  }];
  let parameters = (ins "MicroKernelAttr":$kernel, "int64_t":$places, "int64_t":$plane);
}

def Tile_RowsTilingAttr : Tile_PlanPart<"RowsTiling", "rows"> {
  let summary = "how reductions along rows in memory are tiled: rows, then passes over a row";
  let description = [{
    The first `row_loops` loops count rows, `rows` of them a tile. Pass p over a row has `run_loops[p]` loops (1: all elements are one
    run), the innermost one in vectors of `lanes[p]` elements (1: element by element).
  }];
  let parameters = (ins "int64_t":$row_loops, "::freestone::sym::Expr":$rows, ArrayRefParameter<"int64_t">:$run_loops,
                        ArrayRefParameter<"int64_t">:$lanes);
  let assemblyFormat = [{
    `<` `row_loops` `=` $row_loops `,` `rows` `=` $rows `,` `run_loops` `=` `[` $run_loops `]` `,` `lanes` `=` `[` $lanes `]` `>`
  }];
}

def Tile_MapTilingAttr : Tile_PlanPart<"MapTiling", "map"> {
  let summary = "how computes over the same parallel loops are tiled: rows, then columns";
  let description = [{
    The innermost parallel loop counts columns, the others rows. A tile has `rows` rows and `columns` columns, computed in vectors of
    `lanes` elements (1: element by element), `vectors` of them side by side.
  }];
  let parameters = (ins "::freestone::sym::Expr":$rows, "::freestone::sym::Expr":$columns, "int64_t":$lanes,
                        "int64_t":$vectors);
}

def Tile_TranspositionTilingAttr : Tile_PlanPart<"TranspositionTiling", "transposition"> {
  let summary = "how computes are tiled that read along one loop and write along another: the other loops, then rows, then columns";
  let description = [{
    The innermost parallel loop counts columns, loop `across` rows: neighbouring rows are neighbours in memory for some operand,
    neighbouring columns for the results. A tile has at most `rows` rows and `columns` columns, computed in blocks of `lanes` rows and
    `width` columns. A block of `lanes` columns reads such operands along rows and transposes them in registers; its lanes are
    columns. A narrower block is all columns there are, and `across` the loop before them; its lanes are rows, and results are
    interleaved before they are stored.
    ```mlir
    #tile.transposition<across = 0, rows = 64, columns = 64, width = 16, lanes = 16>
    ```
  }];
  let parameters = (ins "int64_t":$across, "int64_t":$rows, "int64_t":$columns, "int64_t":$width, "int64_t":$lanes);
  let extraClassDeclaration = [{
    /// Whether lanes are rows.
    bool interleaves() const { return getWidth() < getLanes(); }
  }];
}

def Tile_OpaqueTilingAttr : AttrDef<Tile_Dialect, "OpaqueTiling"> {
  let mnemonic = "written_out";
  let summary = "the tiles that a `tile.opaque` writes out itself";
}

def Tile_PlanAttr : Tile_PlanPart<"Plan", "plan"> {
  let summary = "how the code of a program is made, and what the task level knows of its tiles";
  let description = [{
    `tiling` decides every size that the code depends on. What follows from it stands beside it for the task level: the number of
    tiles, the bytes of scratch of a worker, and how many consecutive elements tile t touches of every argument (`reads`) and result
    (`writes`), or unit where that is not known.
    ```mlir
    #tile.plan<#tile.map<rows = 1, columns = 4096, lanes = 16, vectors = 1>, tiles = s0 ceildiv 4096, scratch = 0,
               reads = [#sym.expr<4096>], writes = [#sym.expr<4096>]>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$tiling, "::freestone::sym::Expr":$tiles, "::freestone::sym::Expr":$scratch,
                        "::mlir::ArrayAttr":$reads, "::mlir::ArrayAttr":$writes);
  let assemblyFormat = [{
    `<` $tiling `,` `tiles` `=` $tiles `,` `scratch` `=` $scratch `,` `reads` `=` $reads `,` `writes` `=` $writes `>`
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_TILE_TILEPLANS_TD

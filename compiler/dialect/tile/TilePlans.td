#ifndef FREESTONE_COMPILER_DIALECT_TILE_TILEPLANS_TD
#define FREESTONE_COMPILER_DIALECT_TILE_TILEPLANS_TD

include "compiler/dialect/tile/TileDialect.td"
include "mlir/IR/EnumAttr.td"

/// A part of a plan. Sizes count elements unless they say bytes; expressions use the symbols of the program.
class Tile_PlanPart<string name, string partMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = partMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_MicroKernelAttr : Tile_PlanPart<"MicroKernel", "micro_kernel"> {
  let summary = "the block of accumulators that a micro-kernel keeps in registers";
  let description = [{
    At most `rows` rows of `vectors` vectors of `lanes` elements; its loop is unrolled by `unroll` steps of k. A packed
    panel of the vector operand is `vectors * lanes` columns wide. A last panel whose columns fit `last_vectors` vectors is
    computed in so many; 0: in all.

    Blocks of few rows sum steps of k in several sets of accumulators, which hide the latency of the units; with `in_order`
    in the one that others have, so that bits do not depend on where blocks begin.
    ```mlir
    #tile.micro_kernel<rows = 14, vectors = 2, lanes = 16, unroll = 2, last_vectors = 1>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$vectors, "int64_t":$lanes, "int64_t":$unroll,
                        DefaultValuedParameter<"int64_t", "0">:$last_vectors,
                        DefaultValuedParameter<"bool", "false">:$in_order);
  let extraClassDeclaration = [{
    /// The columns of a packed panel.
    int64_t getWidth() const { return getVectors() * getLanes(); }
  }];
}

def Tile_DotProductUnit : I32EnumAttr<"DotProductUnit", "what sums dot products of words", [
    I32EnumAttrCase<"vectors", 0>, I32EnumAttrCase<"tiles", 1>]> {
  let cppNamespace = "::freestone::tile";
}

def Tile_DotProductKernelAttr : Tile_PlanPart<"DotProductKernel", "dot_product_kernel"> {
  let summary = "what sums dot products of bf16 or 8-bit integers: words of neighbouring steps of k";
  let description = [{
    Blocks of 32 rows and 32 columns, of packed strips of rows and panels of columns. A call sums at most `groups` groups
    of k, of 16 words each: 32 steps of bf16, 64 of 8-bit integers. With `parts = 3`, operands are of f32, each element of
    which is packed as three of bf16. On vectors, with `last_vectors = 1`, a panel of at most 16 columns is one vector.
    ```mlir
    #tile.dot_product_kernel<unit = tiles, groups = 10>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_DotProductUnit>:$unit, "int64_t":$groups,
                        DefaultValuedParameter<"int64_t", "1">:$parts,
                        DefaultValuedParameter<"int64_t", "0">:$last_vectors);
}

/// `#tile.micro_kernel`, written as `<…>`, or another kernel.
def Tile_KernelParameter : AttrParameter<"::mlir::Attribute", "the micro-kernel of a tree"> {
  let parser = "parseKernel($_parser)";
  let printer = "printKernel($_printer, $_self)";
}

def Tile_ConvolutionTilingAttr : Tile_PlanPart<"ConvolutionTiling", "convolution"> {
  let summary = "how a convolution is tiled: outer loops, then output channels, rows, pixels, input channels, panels, rows, the micro-kernel";
  let description = [{
    A tile is a rectangle of at most `area` pixels, `pixels` of them in a row, for at most `panels` panels of output
    channels: fewer where that yields `least_tiles` tiles. Where one picture leaves room in the area, up to `pictures` go
    together: their pixels at the same place are neighbours in the copy, and rows of the micro-kernel. It sums at most `channels` input channels at a time, whose
    part of the picture is copied first, unless windows are of one element and so many channels lie within `in_place`
    elements: these are then read in place. An epilogue prefetches its
    operands `prefetch_channels` channels ahead. Where filters are transformed (`#tile.winograd`), the transformed picture
    of a tile has at most `transformed` elements, instead of `area` pixels, or as many squares as the micro-kernel rows.
    With `skip_taps`, rows of pixels sum the taps that touch the picture; those that read its border alone add zeros.
    With `overlap`, the last vector of a row of results that fills one begins within the one before, and has no mask.
    While a row of the picture is copied, the one `copy_ahead` rows behind is prefetched; with 0 none is.
  }];
  let parameters = (ins "MicroKernelAttr":$kernel, "int64_t":$pixels, "int64_t":$area, "int64_t":$panels,
                        "int64_t":$channels, "int64_t":$least_tiles, "int64_t":$prefetch_channels, "int64_t":$in_place,
                        DefaultValuedParameter<"int64_t", "0">:$transformed,
                        DefaultValuedParameter<"bool", "false">:$skip_taps,
                        DefaultValuedParameter<"int64_t", "1">:$pictures,
                        DefaultValuedParameter<"bool", "false">:$overlap,
                        DefaultValuedParameter<"int64_t", "0">:$copy_ahead);
}

def Tile_WeightGradientTilingAttr : Tile_PlanPart<"WeightGradientTiling", "weight_gradient"> {
  let summary = "how a convolution's weight gradient is tiled: outer loops, then a panel of output-gradient channels, images, rows";
  let description = [{
    A tile sums over rows of one image at a time: as many rows as keep a panel of the output gradient within `places`
    positions and the packed input within `plane` elements, at least one. The micro-kernel's rows are the channels and
    taps of the input. It has as many panels as keep their sums within `sums` elements, fewer where that yields
    `least_tiles` tiles, but at least one: they share the packed input.

    With `outputs`, taps are 3 x 3, and sums those of the values of Winograd's transforms, over squares of `outputs` x
    `outputs` positions. A tile has at most `channels` input channels then, and as many rows of squares of an image, or
    images, at a time as keep the transformed input within `transformed` elements. Where `apart`, there is a single tap,
    and the packed input has its channels as rows. Where both operands together have more than `bring_beyond` elements,
    what is packed next is prefetched meanwhile; with 0 it never is.
  }];
  let parameters = (ins "MicroKernelAttr":$kernel, "int64_t":$places, "int64_t":$plane, "int64_t":$sums,
                        "int64_t":$least_tiles, DefaultValuedParameter<"int64_t", "0">:$outputs,
                        DefaultValuedParameter<"int64_t", "0">:$channels,
                        DefaultValuedParameter<"int64_t", "0">:$transformed,
                        DefaultValuedParameter<"bool", "false">:$apart,
                        DefaultValuedParameter<"int64_t", "0">:$bring_beyond);
}

def Tile_WindowTilingAttr : Tile_PlanPart<"WindowTiling", "window"> {
  let summary = "how reductions of windows are tiled: outer loops, then rows, pixels, the copied picture, blocks of registers";
  let description = [{
    A tile has at most `pixels` pixels in a row, and so many rows as a copy of what its windows see has at most `copy` elements; at least
    `rows`. It is computed in blocks of `channels` channels out, `rows` rows, and `vectors` vectors of `lanes` pixels, all in registers.
    `unroll` taps are computed at a time, one or all: with all of them, the rows of a block share what they load.

    Where a tile is a whole picture whose windows see at most `channel_vectors` positions, its border among them, vectors
    run along channels instead: tiles of `lanes` neighbouring channels are computed together.

    Where the picture and the result together have more than `bring_beyond` elements, what the next tile reads and
    writes is prefetched while one is computed; with 0 it never is.

    With `overlap`, the last vector of a row that fills one begins within the one before: pixels are computed again, and
    have no mask.

    With `in_place`, windows read the rows that a stage before holds, rather than a copy of them: elements beside a row
    are masked, and zeros stand for rows beyond the picture.
    ```mlir
    #tile.window<channels = 1, rows = 4, vectors = 2, lanes = 8, pixels = 512, copy = 4096, unroll = 9>
    ```
  }];
  let parameters = (ins "int64_t":$channels, "int64_t":$rows, "int64_t":$vectors, "int64_t":$lanes, "int64_t":$pixels,
                        "int64_t":$copy, DefaultValuedParameter<"int64_t", "1">:$unroll,
                        DefaultValuedParameter<"int64_t", "0">:$channel_vectors,
                        DefaultValuedParameter<"int64_t", "0">:$bring_beyond,
                        DefaultValuedParameter<"bool", "false">:$overlap,
                        DefaultValuedParameter<"bool", "false">:$in_place);
}

def Tile_RowsTilingAttr : Tile_PlanPart<"RowsTiling", "rows"> {
  let summary = "how reductions along rows in memory are tiled: rows, then passes over a row";
  let description = [{
    The first `row_loops` loops count rows, `rows` of them a tile. Pass p over a row has `run_loops[p]` inner loops (1:
    all elements are contiguous), vectorized by `lanes[p]` elements (1: scalar) and unrolled by `accumulators[p]` vectors,
    each with accumulators of its own, which are combined in order at the end of the run.

    With `block_rows` or `block_columns` above 1, neighbouring results of the last two row loops, a reduction and what
    follows from it, are computed together and share what they load: blocks of so many rows and columns, `rows` of them a
    tile, and single rows or columns at the ends. The operand `packed` of the reduction, if not -1, does not depend on
    the rows; its columns are copied so that the elements of a reduction are neighbours, unless they are in a run.
    Without blocks, `packed` is an argument that is contiguous across rows: as many rows as a vector has lanes are copied,
    transposed.

    Rows of at most `short_row` elements go `together`, so many neighbours along the last row loop at a time: each turn of a
    pass has a vector of each, and values of whole rows stand in one vector, a row a lane.

    Pass `prefetching`, if not -1, prefetches what the first pass reads of the rows that follow.
    ```mlir
    #tile.rows<row_loops = 2, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 4, block_columns = 4>
    ```
  }];
  let parameters = (ins "int64_t":$row_loops, "::freestone::sym::Expr":$rows, ArrayRefParameter<"int64_t">:$run_loops,
                        ArrayRefParameter<"int64_t">:$lanes, ArrayRefParameter<"int64_t">:$accumulators,
                        DefaultValuedParameter<"int64_t", "1">:$block_rows,
                        DefaultValuedParameter<"int64_t", "1">:$block_columns,
                        DefaultValuedParameter<"int64_t", "-1">:$packed,
                        DefaultValuedParameter<"int64_t", "1">:$together,
                        DefaultValuedParameter<"int64_t", "0">:$short_row,
                        DefaultValuedParameter<"int64_t", "-1">:$prefetching);
  let assemblyFormat = [{
    `<` `row_loops` `=` $row_loops `,` `rows` `=` $rows `,` `run_loops` `=` `[` $run_loops `]` `,` `lanes` `=` `[` $lanes `]` `,`
    `accumulators` `=` `[` $accumulators `]` (`,` struct($block_rows, $block_columns, $packed, $together, $short_row, $prefetching)^)? `>`
  }];
  let extraClassDeclaration = [{
    /// Whether neighbouring results are computed together.
    bool hasBlocks() const { return getBlockRows() > 1 || getBlockColumns() > 1; }
  }];
}

def Tile_MapTilingAttr : Tile_PlanPart<"MapTiling", "map"> {
  let summary = "how elementwise computes over the same parallel loops are tiled: rows, then columns";
  let description = [{
    The innermost parallel loop counts columns, the others rows. A tile has `rows` rows and `columns` columns, computed
    in vectors of `lanes` elements (1: scalar), `vectors` of them interleaved. At each column of `ends`, in ascending
    order, a segment of the columns ends: within a segment, bodies need not compare columns with its ends.
    ```mlir
    #tile.map<rows = 35, columns = 114, lanes = 16, vectors = 1, ends = [1, 113]>
    ```
  }];
  let parameters = (ins "::freestone::sym::Expr":$rows, "::freestone::sym::Expr":$columns, "int64_t":$lanes,
                        "int64_t":$vectors, OptionalArrayRefParameter<"::freestone::sym::Expr">:$ends);
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `columns` `=` $columns `,` `lanes` `=` $lanes `,` `vectors` `=` $vectors
    (`,` `ends` `=` `[` $ends^ `]`)? `>`
  }];
}

def Tile_TranspositionTilingAttr : Tile_PlanPart<"TranspositionTiling", "transposition"> {
  let summary = "how transpositions (and maps fused with them) are tiled: the other loops, then rows, then columns";
  let description = [{
    The innermost parallel loop counts columns, loop `across` rows: some operands are contiguous along the rows, results
    along the columns. A tile has at most `rows` rows and `columns` columns, computed in blocks of `lanes` rows and
    `width` columns. With `width` = `lanes`, a block loads such operands along the rows and transposes them in registers;
    its lanes are columns. With a smaller `width`, a block has all columns, and `across` is the loop next to them; its
    lanes are rows, and results are interleaved before they are stored.
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
  let summary = "the tiles of a `tile.opaque`, and the node that computes one, by the loops of its body";
}

def Tile_SharedBlockAttr : Tile_PlanPart<"SharedBlock", "shared_block"> {
  let summary = "a block of consecutive elements that neighbouring tiles touch";
  let description = [{
    Of an operand: tile t touches nothing outside of block b = t floordiv `tiles`, the elements from b * `elements` up to
    (b + 1) * `elements`. Tiles of one block write different elements of it.
    ```mlir
    #tile.shared_block<elements = 48*s1, tiles = s2 ceildiv 32>
    ```
  }];
  let parameters = (ins "::freestone::sym::Expr":$elements, "::freestone::sym::Expr":$tiles);
  let extraClassDeclaration = [{
    /// The number of elements alone where no tiles share a block, unit where a size is invalid.
    static ::mlir::Attribute getAccess(::freestone::sym::Expr elements, ::freestone::sym::Expr tiles);
  }];
}

def Tile_PlanAttr : Tile_PlanPart<"Plan", "plan"> {
  let summary = "how the code of a program is made, and what the task level knows of its tiles";
  let description = [{
    `tiling` is the root of a tree of tiles (`TileTrees.td`), which decides every size that the code depends on. The other
    members follow from it, for the task level: the number of tiles, a worker's scratch in bytes, and the number of consecutive elements of every argument (`reads`) and
    result (`writes`) that tile t touches, the block that it shares with its neighbours, or unit where unknown.
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

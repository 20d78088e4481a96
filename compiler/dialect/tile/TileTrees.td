#ifndef FREESTONE_COMPILER_DIALECT_TILE_TILETREES_TD
#define FREESTONE_COMPILER_DIALECT_TILE_TILETREES_TD

include "compiler/dialect/tile/TilePlans.td"

/// A node of a tree of tiles, whose root is a program's plan. Axes are numbered as `plan/Axes.h` numbers them, those of
/// a single contraction as `plan/ContractionTree.h` does, those of forms as `plan/FormTrees.h`; computes in the
/// program's order. Forms (`TilePlans.td`) stand for bodies of nodes, or are leaves that one emitter computes whole.
class Tile_TreeNode<string name, string nodeMnemonic> : Tile_PlanPart<name, nodeMnemonic>;

def Tile_VariantAttr : Tile_PlanPart<"Variant", "variant"> {
  let summary = "the node for the runs in which a size is at most a number";
  let description = [{
    ```mlir
    #tile.variant<size = s0, most = 16, tiling = #tile.tree<…>>
    ```
  }];
  let parameters = (ins Sym_ExprParameter:$size, "int64_t":$most, "::mlir::Attribute":$tiling);
}

def Tile_ChoiceAttr : Tile_TreeNode<"Choice", "choice"> {
  let summary = "nodes that compute the same for different sizes, chosen at run time";
  let description = [{
    The first of `variants` whose condition holds computes a run, or `otherwise` where none does. Each has tiles and
    scratch of its own: a choice stands above blocks that are dealt. Contractions among its variants that differ in
    sizes alone share their code.
    ```mlir
    #tile.choice<[<size = s0, most = 16, tiling = #tile.tree<…>>], otherwise = #tile.tree<…>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"VariantAttr">:$variants, "::mlir::Attribute":$otherwise);
  let assemblyFormat = "`<` `[` $variants `]` `,` `otherwise` `=` $otherwise `>`";
  let extraClassDeclaration = [{
    /// All nodes, in the order in which their conditions are looked at.
    ::llvm::SmallVector<::mlir::Attribute> getTilings() const;
  }];
}

def Tile_EdgeAttr : Tile_PlanPart<"Edge", "edge"> {
  let summary = "where the results of a stage are until the next stage reads them";
  let description = [{
    In scratch, of which a tile has at most `elements`, beside one unit of rows and the border of its windows: they stay in memory
    level `level` (1: L1). Rows that the next tile of a worker reads as well are `kept`, else computed again.
  }];
  let parameters = (ins "int64_t":$level, "int64_t":$elements, "bool":$kept);
}

def Tile_StagesAttr : Tile_TreeNode<"Stages", "stages"> {
  let summary = "nodes that read windows of each other's results, for each tile: pictures, then rows of the last results";
  let description = [{
    A tile has as many rows of the last stage's results as its edges allow, a multiple of `row_unit`, fewer where tiles
    would be fewer than `least_tiles`. It computes each stage's rows under the windows of the next, by the stage's own
    node: a contraction, a convolution, a window, or a choice of these by the sizes of the tile's part.
    ```mlir
    #tile.stages<stages = [#tile.convolution<…>, #tile.window<…>], edges = [<level = 2, elements = 131072, kept = true>],
                 row_unit = 8, least_tiles = 16>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$stages, ArrayRefParameter<"EdgeAttr">:$edges,
                        "int64_t":$row_unit, "int64_t":$least_tiles);
  let assemblyFormat = [{
    `<` `stages` `=` `[` $stages `]` `,` `edges` `=` `[` $edges `]` `,` `row_unit` `=` $row_unit `,`
    `least_tiles` `=` $least_tiles `>`
  }];
}

def Tile_StageAttr : Tile_PlanPart<"Stage", "stage"> {
  let summary = "the stage of a compute under an outer loop that it shares with others";
  let description = [{
    The attribute `tile.stage` of computes of one group or program: the number of the program that they would be apart,
    and which of the compute's loops is the outer loop.
  }];
  let parameters = (ins "int64_t":$number, "int64_t":$loop);
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral getAttributeName() { return "tile.stage"; }
  }];
}

def Tile_OuterLoopAttr : Tile_TreeNode<"OuterLoop", "outer_loop"> {
  let summary = "nodes under an outer loop, for each tile: a block of the loop's points";
  let description = [{
    Each stage computes the points of a tile, and reads what belongs to them of earlier stages, by a node of its own. A
    tile has at most `elements` of a stage's results beside those of one point, and fewer points where tiles would be fewer
    than `least_tiles`. Results that the program does not return are in scratch.
    ```mlir
    #tile.outer_loop<stages = [#tile.rows<…>, #tile.window<…>], elements = 65536, least_tiles = 8>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$stages, "int64_t":$elements, "int64_t":$least_tiles);
  let assemblyFormat = [{
    `<` `stages` `=` `[` $stages `]` `,` `elements` `=` $elements `,` `least_tiles` `=` $least_tiles `>`
  }];
}

def Tile_ShareAttr : Tile_PlanPart<"Share", "share"> {
  let summary = "how many rows of a contraction are in a block, at any sizes";
  let description = [{
    The most whole steps whose elements, of one block of the reduced axis and of the sums of a panel, take `elements`: one
    step more, rounded up. But about `most_rows` rows at most where each has a page of results, and fewer where tiles would
    be fewer than `least_tiles`.
  }];
  let parameters = (ins "int64_t":$elements, "int64_t":$most_rows, "int64_t":$least_tiles);
}

def Tile_BlocksAttr : Tile_TreeNode<"Blocks", "blocks"> {
  let summary = "a loop over blocks of an axis";
  let description = [{
    The nodes of `body` are executed in order, for each block of at most `step` elements of the current range of `axis`.
    Blocks that are `dealt` are the tiles of the program: they stand outermost. A pack beside dealt blocks serves all of
    them that the worker computes one after the other. Up to `together` neighbouring tiles of a worker are one block of the
    innermost dealt axis. With a `share`, blocks have as many whole steps as it says.

    Blocks of one range that are not dealt, or of several units, have about equal sizes, whole multiples of `unit`.
    Blocks in which positions or an operand mask all values of compute `masked_by` are left out: of a maximum, except
    within the first block of the axis that it reduces; or of a map that is 0 there.

    Blocks of columns with `most_depth` are those of strips, which have blocks of the micro-kernel's rows within, and
    panels within these: what a strip writes is wide pieces of few rows of memory. So go runs with one block of at most so
    many steps, and more rows than read columns in place; others have one panel and all rows instead.

    Dealt columns that `alternate` go backwards in odd iterations of a loop around the program: each begins with the panels
    that the one before has left in a cache.
    ```mlir
    #tile.blocks<axis = 2, step = 32, dealt = true, body = [#tile.multiply<compute = 0, columns = 2>]>
    ```
  }];
  let parameters = (ins "int64_t":$axis, "::freestone::sym::Expr":$step, DefaultValuedParameter<"int64_t", "1">:$unit,
                        "bool":$dealt, DefaultValuedParameter<"int64_t", "1">:$together,
                        OptionalParameter<"ShareAttr">:$share, DefaultValuedParameter<"int64_t", "0">:$most_depth,
                        "::mlir::ArrayAttr":$body, DefaultValuedParameter<"int64_t", "-1">:$masked_by,
                        DefaultValuedParameter<"bool", "false">:$alternate);
}

def Tile_VectorsAttr : Tile_TreeNode<"Vectors", "vectors"> {
  let summary = "a loop over vectors of an axis";
  let description = [{
    The nodes of `body` are executed in order, for each `lanes` neighbouring positions of the current range of `axis`
    (1: scalars): for `together` vectors at a time, then for those that are left, the last of which is masked. Vectors
    that have accumulators in registers are single ones then, else half as many each time. Accumulators of computes that
    reduce along the axis are those of a lane and of a vector that is together, and are combined in order behind.

    Of sums in a panel, vectors that are together are one longer one, and all behind them are masked.

    At each position of `ends`, in ascending order, a segment ends, and vectors begin anew: within a segment, bodies need
    not compare positions with its ends. Segments that are known to have few positions have scalars.
    ```mlir
    #tile.vectors<axis = 1, lanes = 16, together = 4, body = [#tile.evaluate<computes = [0], lanes = 1, along = 0>]>
    ```
  }];
  let parameters = (ins "int64_t":$axis, "int64_t":$lanes, "int64_t":$together, "::mlir::ArrayAttr":$body,
                        OptionalArrayRefParameter<"::freestone::sym::Expr">:$ends);
  let assemblyFormat = [{
    `<` `axis` `=` $axis `,` `lanes` `=` $lanes `,` `together` `=` $together `,` `body` `=` $body
    (`,` `ends` `=` `[` $ends^ `]`)? `>`
  }];
}

def Tile_PackedAttr : Tile_TreeNode<"Packed", "packed"> {
  let summary = "a packed copy of the current ranges of an operand";
  let description = [{
    The operand `input` of `compute`, in scratch: of a contraction, as its micro-kernel reads it, in panels if it is the
    vector operand, else in blocks of rows; of an evaluated compute, transposed to the order of its vectors. Copies of
    all blocks are kept for all tiles of the `kept` innermost dealt axes, where these are several; else each takes the
    place of the one before. With `most`, copies are kept that have at most so many elements in all; those of an axis that
    is one of these are kept in groups of so many, and tiles are dealt group by group, unless they are kept `whole`: all of
    them, or none.

    Of a single contraction, columns that stand within blocks of columns are packed panel by panel, right before these are
    multiplied; those that stand before them, all panels of the tiles that are together. Contiguous columns whose steps of k
    are whole pages apart in memory, and share a set of a cache, are packed `together` panels at a time. Where there are at
    most `in_place` rows in all, too few to repay packing, whole panels of contiguous columns are read in place, and columns
    that lie along k as rows do, where k has ten steps for each row. Dot products read all columns so. Rows that lie along k
    are read so where there are at most `in_place` columns, too few to repay packing, by dot products where k has two words
    for each. Contiguous columns of more than `far` elements come from memory: what shares a set of a cache is packed
    together, by few rows too, or prefetched.

    Of a convolution, a picture is read in place where the channels of a block lie within `in_place` elements of it. Of a
    weight gradient, the channels of a picture that is copied `apart` are the rows of the micro-kernel; else its pixels
    have all channels next to each other.
  }];
  let parameters = (ins "int64_t":$compute, "int64_t":$input, DefaultValuedParameter<"int64_t", "0">:$kept,
                        DefaultValuedParameter<"int64_t", "0">:$most,
                        DefaultValuedParameter<"bool", "false">:$whole,
                        DefaultValuedParameter<"int64_t", "0">:$in_place,
                        DefaultValuedParameter<"bool", "false">:$apart,
                        DefaultValuedParameter<"int64_t", "1">:$together,
                        DefaultValuedParameter<"int64_t", "0">:$far);
}

def Tile_MultiplyAttr : Tile_TreeNode<"Multiply", "multiply"> {
  let summary = "micro-kernels that compute a contraction over the current ranges";
  let description = [{
    Vectors run along axis `columns`, a free axis of contraction `compute`; the other free axis counts rows. Blocks of the
    reduced axis are added up, in the program's result where nothing evaluates them.

    With `word_steps = 2`, packed words have two steps of k each, for pair products of integers; a step of the micro-kernel
    and of blocks is then a word. With `skip_taps`, rows of a convolution's pixels leave out the steps of taps that read
    the picture's border alone.

    Of a single contraction, rows of the program's first result are prefetched, to be written, while the micro-kernel
    computes their sums, where the result has more than `bring_beyond` elements; with 0 they never are.

    With `direct`, dot products on vectors write the result themselves behind the last block of the reduced axis, unless
    few rows read columns in place: the sums of these alone are evaluated.
  }];
  let parameters = (ins "int64_t":$compute, "int64_t":$columns, DefaultValuedParameter<"int64_t", "1">:$word_steps,
                        DefaultValuedParameter<"bool", "false">:$skip_taps,
                        DefaultValuedParameter<"int64_t", "0">:$bring_beyond,
                        DefaultValuedParameter<"bool", "false">:$direct);
}

def Tile_EvaluateAttr : Tile_TreeNode<"Evaluate", "evaluate"> {
  let summary = "computes without contractions, over the current ranges, in vectors";
  let description = [{
    Vectors run along axis `lanes`. Computes run in passes over axis `along`, as far as they have it: a reduction of it
    ends a pass. Blocks of `along` are added up; what depended on a maximum that grew is scaled.

    Of a single contraction, it stands beside the product, in vectors of single rows, and follows its last block of the
    reduced axis: what computes read of the sums, which are stored themselves where there are none. Operands are prefetched `ahead` rows before.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$computes, "int64_t":$lanes, "int64_t":$along,
                        DefaultValuedParameter<"int64_t", "0">:$ahead);
  let assemblyFormat = [{
    `<` (`computes` `=` `[` $computes^ `]` `,` ` `)? `lanes` `=` $lanes `,` `along` `=` $along (`,` `ahead` `=` $ahead^)? `>`
  }];
}

def Tile_TreeTilingAttr : Tile_PlanPart<"TreeTiling", "tree"> {
  let summary = "how a contraction, or several and what stands between them, are tiled: a tree of tiles";
  let description = [{
    Intermediates live in scratch, for the ranges of the innermost blocks that enclose their computation and all uses.
    Of a single contraction and its epilogue, a tile is a panel of columns for a block of rows; up to `together` of them
    are computed block by block of the reduced axis, so that packed rows serve all of them while they are in cache. Its
    `kernel` multiplies and adds vectors, or sums dot products.
    ```mlir
    #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [#tile.blocks<axis = 0, …>]>
    ```
  }];
  let parameters = (ins Tile_KernelParameter:$kernel, "::mlir::ArrayAttr":$body);
  let extraClassDeclaration = [{
    /// That of multiply-adds; null if the kernel is another one.
    MicroKernelAttr getMicroKernel() const { return ::llvm::dyn_cast<MicroKernelAttr>(getKernel()); }
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_TILE_TILETREES_TD

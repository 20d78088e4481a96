#ifndef FREESTONE_COMPILER_DIALECT_TILE_TILEDIALECT_TD
#define FREESTONE_COMPILER_DIALECT_TILE_TILEDIALECT_TD

include "compiler/dialect/sym/SymDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let summary = "tensor programs: loops over sizes that are expressions, with a scalar body";
  let description = [{
    `tile.compute` is one operator's computation: loops, index maps, a body of scalars. Computes stand inline in a
    function among operators of the graph, are fused into a `tile.group`, and outlined as a `tile.program` that
    `tile.call` calls. Each of these can be lowered alone. The kind of a program (elementwise, reduction, contraction,
    …) is read off its loops, never declared.
  }];
  let cppNamespace = "::freestone::tile";
  let dependentDialects = ["::freestone::sym::SymDialect", "::freestone::graph::GraphDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def Tile_PanelsAttr : AttrDef<Tile_Dialect, "Panels"> {
  let mnemonic = "panels";
  let summary = "a tensor packed into panels along one axis";
  let description = [{
    The logical shape stays; stored is `[batch dims…][ceil(extent(axis) / width)][other dims…][width]`, the last panel
    padded with zeros. `batch` counts the leading dimensions that stay in front.
    ```mlir
    !graph.tensor<[384, 1152], f32, #tile.panels<axis = 1, width = 32>>  // stored [36][384][32]
    ```
  }];
  let parameters = (ins "int64_t":$axis, "int64_t":$width, DefaultValuedParameter<"int64_t", "0">:$batch);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Dimensions of the storage, padding included.
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageShape(::llvm::ArrayRef<::freestone::sym::Expr> shape) const;
    /// Position in the storage of the element at `indices`, in the storage's dimensions.
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageIndex(::llvm::ArrayRef<::freestone::sym::Expr> indices) const;
  }];
}

def Tile_WinogradAttr : AttrDef<Tile_Dialect, "Winograd"> {
  let mnemonic = "winograd";
  let summary = "filters of 3 x 3 taps by the values of their Winograd transform, in panels of output channels";
  let description = [{
    The logical shape, `[channels in…, 3, 3, channels out]`, stays, in which taps along a depth count as channels; stored
    is `[ceil(channels out / width)][points][points][channels in…][width]`, with `outputs` + 2 points, for convolutions
    that compute squares of `outputs` pixels; the last panel is padded with zeros. Single elements are not in memory.
    ```mlir
    !graph.tensor<[64, 3, 3, 64], f32, #tile.winograd<outputs = 4, width = 32>>  // stored [2][6][6][64][32]
    ```
  }];
  let parameters = (ins "int64_t":$outputs, "int64_t":$width);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getPoints() const { return getOutputs() + 2; }
    /// Dimensions of the storage, padding included.
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageShape(::llvm::ArrayRef<::freestone::sym::Expr> shape) const;
  }];
}

def Tile_PartsAttr : AttrDef<Tile_Dialect, "Parts"> {
  let mnemonic = "parts";
  let summary = "a matrix of f32 whose elements are sums of numbers of bf16, in panels as dot products read them";
  let description = [{
    The logical shape, `[steps, columns]`, stays; stored is `[ceil(columns / 32)][ceil(steps / 32)][count][16][32]`: in
    groups of 32 steps, part by part, words of two bf16, of steps that are 16 apart; the ends are padded with zeros.
    Single elements are not in memory. Runs in which fewer than `fewest_rows` rows are multiplied by it have none of it.
    ```mlir
    !graph.tensor<[256, 1024], f32, #tile.parts<count = 3, fewest_rows = 12>>  // stored [32][8][3][16][32]
    ```
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$fewest_rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Columns of a panel, and words of a group's step of a part.
    static constexpr int64_t width = 32, words = 16, stepsOfGroup = 2 * words;
    /// Dimensions of the storage, padding included, in words of 32 bits.
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageShape(::llvm::ArrayRef<::freestone::sym::Expr> shape) const;
  }];
}

def Tile_WordsAttr : AttrDef<Tile_Dialect, "Words"> {
  let mnemonic = "words";
  let summary = "a matrix of narrow numbers in panels of words of 32 bits, as dot products read them";
  let description = [{
    The logical shape, `[steps, columns]`, stays; stored is `[ceil(columns / 32)][ceil(steps / (16 * of))][16][32][of]`:
    in groups of 16 words of `of` neighbouring steps, whose ends are padded with zeros.
    ```mlir
    !graph.tensor<[384, 1000], i8, #tile.words<of = 4>>  // stored [32][6][16][32][4]
    ```
  }];
  let parameters = (ins "int64_t":$of);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Columns of a panel, and words of a group.
    static constexpr int64_t width = 32, words = 16;
    /// Dimensions of the storage, padding included, and the place of an element in them.
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageShape(::llvm::ArrayRef<::freestone::sym::Expr> shape) const;
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageIndex(::llvm::ArrayRef<::freestone::sym::Expr> indices) const;
  }];
}

def Tile_StripsAttr : AttrDef<Tile_Dialect, "Strips"> {
  let mnemonic = "strips";
  let summary = "rows of narrow numbers in strips of words of 32 bits, as dot products read them";
  let description = [{
    The logical shape, `[rows, steps…]`, stays; its steps are numbered row-major. Stored is
    `[ceil(rows / 32)][ceil(steps / (16 * of))][32][16 * of]`: in groups of 16 words of `of` neighbouring steps, whose ends
    are padded with zeros.
    ```mlir
    !graph.tensor<[40, 16, 3, 3], i8, #tile.strips<of = 4>>  // stored [2][3][32][64]
    ```
  }];
  let parameters = (ins "int64_t":$of);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Rows of a strip, and words of a group.
    static constexpr int64_t height = 32, words = 16;
    int64_t getStepsOfGroup() const { return words * getOf(); }
    /// Dimensions of the storage, padding included, and the place of an element of such a shape in them.
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageShape(::llvm::ArrayRef<::freestone::sym::Expr> shape) const;
    ::llvm::SmallVector<::freestone::sym::Expr> getStorageIndex(::llvm::ArrayRef<::freestone::sym::Expr> shape,
                                                                ::llvm::ArrayRef<::freestone::sym::Expr> indices) const;
  }];
}

def Tile_BoxAttr : AttrDef<Tile_Dialect, "Box"> {
  let mnemonic = "box";
  let summary = "a tensor that is a box of a larger one";
  let description = [{
    The larger tensor has `shape` and is row-major; the box begins at its element `first`.
    ```mlir
    !graph.tensor<[1, 96, 4, 112], f32, #tile.box<first = [0, 0, 2, 0], shape = [1, 96, 6, 112]>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::freestone::sym::Expr">:$first,
                        ArrayRefParameter<"::freestone::sym::Expr">:$shape);
  let assemblyFormat = "`<` `first` `=` `[` $first `]` `,` `shape` `=` `[` $shape `]` `>`";
}

#endif // FREESTONE_COMPILER_DIALECT_TILE_TILEDIALECT_TD

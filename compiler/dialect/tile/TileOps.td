#ifndef FREESTONE_COMPILER_DIALECT_TILE_TILEOPS_TD
#define FREESTONE_COMPILER_DIALECT_TILE_TILEOPS_TD

include "compiler/dialect/graph/GraphDialect.td"
include "compiler/dialect/tile/TileDialect.td"
include "compiler/dialect/tile/TileTrees.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_ComputeOp : Tile_Op<"compute", [AttrSizedOperandSegments, IsolatedFromAbove, Pure, SingleBlock]> {
  let summary = "one scalar body over a space of loops";
  let description = [{
    The loops have the sizes `extents`, parallel loops first, then reduction loops. The dimensions of every result are
    the parallel loops in order. `ins` are read once per point through an affine map from loops to coordinates;
    `symbols` are the sizes that the maps' symbols stand for. An out-of-bounds read gives the operand's `fill`; without
    one all reads are in bounds. `reads` are tensors that the body reads at data-dependent indices.

    Arguments of the body: a scalar per operand of `ins`; where loops reduce, an accumulator per result, which begins as
    its `init`; a tensor per operand of `reads`. It yields a scalar per result: the value, or the next accumulator. The
    order of reduction is free. Scalars of unsigned tensors are signless, of bool tensors i1.
    ```mlir
    %r = tile.compute [m, n, k] [parallel, parallel, reduction]
         ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tile.yield %s : f32
    } : (!graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>) -> !graph.tensor<[m, n], f32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, Variadic<Graph_Tensor>:$reads, ArrayAttr:$loop_extents,
                       I64Attr:$num_parallel, AffineMapArrayAttr:$index_maps, ArrayAttr:$map_symbols,
                       ArrayAttr:$fill_values, ArrayAttr:$init_values);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Makes the body block with its arguments and leaves it empty: `yield` it. `fills` and `inits` may be empty.
    OpBuilder<(ins "::mlir::TypeRange":$results, "::llvm::ArrayRef<::freestone::sym::Expr>":$extents,
                   "int64_t":$numParallel, "::mlir::ValueRange":$inputs, "::llvm::ArrayRef<::mlir::AffineMap>":$maps,
                   "::llvm::ArrayRef<::freestone::sym::Expr>":$symbols, "::llvm::ArrayRef<::mlir::Attribute>":$fills,
                   "::llvm::ArrayRef<::mlir::Attribute>":$inits, "::mlir::ValueRange":$reads)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::freestone::sym::Expr> getExtents();
    unsigned getNumLoops() { return getLoopExtents().size(); }
    bool isParallel(unsigned loop) { return loop < getNumParallel(); }
    unsigned getNumReductions() { return getNumLoops() - getNumParallel(); }
    /// The sizes of the symbols of all maps.
    ::llvm::SmallVector<::freestone::sym::Expr> getSymbolSizes();
    ::mlir::AffineMap getMap(unsigned input) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexMaps()[input]).getValue();
    }
    ::llvm::SmallVector<::mlir::AffineMap> getMaps();
    /// The value of an out-of-bounds read; null where all reads are in bounds.
    ::mlir::TypedAttr getFill(unsigned input) { return ::llvm::dyn_cast<::mlir::TypedAttr>(getFillValues()[input]); }
    /// The initial value of a result's accumulator; only with reduction loops.
    ::mlir::TypedAttr getInit(unsigned result) { return ::llvm::cast<::mlir::TypedAttr>(getInitValues()[result]); }
    ::mlir::Block *getBody() { return &getRegion().front(); }
    ::mlir::Block::BlockArgListType getInputArgs() { return getBody()->getArguments().take_front(getInputs().size()); }
    ::mlir::Block::BlockArgListType getAccumulators() {
      return getBody()->getArguments().slice(getInputs().size(), getNumReductions() ? getNumResults() : 0);
    }
    /// The tensors of the body, one per operand of `reads`.
    ::mlir::Block::BlockArgListType getReadArgs() { return getBody()->getArguments().take_back(getReads().size()); }
    ::freestone::graph::TensorType getInputType(unsigned input) {
      return ::llvm::cast<::freestone::graph::TensorType>(getInputs()[input].getType());
    }
    ::freestone::graph::TensorType getResultType(unsigned result) {
      return ::llvm::cast<::freestone::graph::TensorType>(getResults()[result].getType());
    }
  }];
}

def Tile_OpaqueOp : Tile_Op<"opaque", [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                       IsolatedFromAbove, SingleBlock]> {
  let summary = "tiles as explicit loops, for computations that are no affine loop nest";
  let description = [{
    The body computes one tile: `%t` is its number, followed by every operand and result as a flat, row-major buffer
    (bool as i8, unsigned as signless). Tiles may run in any order and concurrently, so each writes its own elements. A
    result without uses is scratch memory. An attribute `binds = "n"` makes the single i64 element of the first result
    the value of the symbol n from then on, which counts as a write: it stays where nothing reads the result. So does
    `asserts = [#sym.expr<n>, #sym.expr<k>, "text"]` of an opaque whose first result is these two sizes: where they differ
    the run ends with the text and both. What uses symbols that are bound or compared, behind that, stays behind it. An attribute
    `updates` makes it an in-place update (see `task-update-in-place`): the first result's buffer starts with the
    elements of the first operand, and the body does not use the operand's own buffer.
    ```mlir
    %r = tile.opaque [rows] ins(%x) {
    ^bb0(%t: index, %in: memref<?xf32>, %out: memref<?xf32>):
      …
      tile.yield
    } : (!graph.tensor<[rows, n], f32>) -> !graph.tensor<[rows, n], f32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, Sym_ExprAttr:$tile_count);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Makes the body block with its arguments and leaves it empty.
    OpBuilder<(ins "::mlir::TypeRange":$results, "::freestone::sym::Expr":$tiles, "::mlir::ValueRange":$inputs)>];
  let extraClassDeclaration = [{
    ::freestone::sym::Expr getTiles() { return getTileCount().getExpr(); }
    ::mlir::Block *getBody() { return &getRegion().front(); }
    ::mlir::BlockArgument getTileNumber() { return getBody()->getArgument(0); }
    ::mlir::Block::BlockArgListType getInputBuffers() {
      return getBody()->getArguments().slice(1, getInputs().size());
    }
    ::mlir::Block::BlockArgListType getResultBuffers() { return getBody()->getArguments().take_back(getNumResults()); }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "the values of a body or of a group";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_IndexOp : Tile_Op<"index", [Pure]> {
  let summary = "the position of a loop of the enclosing compute";
  let arguments = (ins I64Attr:$loop);
  let results = (outs Index:$position);
  let assemblyFormat = "$loop attr-dict `:` type($position)";
  let builders = [OpBuilder<(ins "unsigned":$loop), [{
    build($_builder, $_state, $_builder.getIndexType(), $_builder.getI64IntegerAttr(loop));
  }]>];
}

def Tile_SizeOp : Tile_Op<"size", [Pure]> {
  let summary = "the value of a size expression";
  let arguments = (ins Sym_ExprAttr:$size);
  let results = (outs Index:$value);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::freestone::sym::Expr":$size), [{
    build($_builder, $_state, $_builder.getIndexType(), size.attr());
  }]>];
}

def Tile_ReadOp : Tile_Op<"read", [Pure]> {
  let summary = "an element at data-dependent indices";
  let description = [{
    The tensor is an argument of the compute's body, which stands for an operand of its `reads`. Out-of-bounds indices
    (in an empty dimension: all) access no memory and give 0.
  }];
  let arguments = (ins Graph_Tensor:$tensor, Variadic<Index>:$indices);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$tensor `[` $indices `]` attr-dict `:` type($tensor) `->` type($element)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$tensor, "::mlir::ValueRange":$indices)>];
  let extraClassDeclaration = [{
    /// The number of the operand among the compute's `reads`.
    unsigned getReadNumber();
  }];
}

def Tile_RandomBitsOp : Tile_Op<"random_bits", [Pure]> {
  let summary = "the random bits of one element, by its row-major index: see `graph.random_bits`";
  let description = [{
    Operands: the four words of the key, then the index. Adjacent points that read adjacent elements share blocks.
    ```mlir
    %r = tile.random_bits[%k0, %k1, %k2, %k3] at %i : i32
    ```
  }];
  let arguments = (ins Variadic<I32>:$key, Index:$index);
  let results = (outs AnyTypeOf<[I32, I64]>:$bits);
  let assemblyFormat = "`[` $key `]` `at` $index attr-dict `:` type($bits)";
  let hasVerifier = 1;
}

def Tile_LookupOp : Tile_Op<"lookup", [Pure, SameOperandsAndResultType]> {
  let summary = "the number of a table at the position that 8 bits, without a sign, stand for";
  let description = [{
    ```mlir
    %y = tile.lookup %x in [7, 9, …] : i8     // 256 numbers
    ```
  }];
  let arguments = (ins AnyTypeOf<[I8, VectorOfRankAndType<[1], [I8]>]>:$position, DenseI8ArrayAttr:$table);
  let results = (outs AnyTypeOf<[I8, VectorOfRankAndType<[1], [I8]>]>:$number);
  let assemblyFormat = "$position `in` $table attr-dict `:` type($number)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t numbers = 256;
  }];
}

def Tile_CheckOp : Tile_Op<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "ends the run with a message where data make a result undefined";
  let description = [{
    The message names the node of the location, then `message`. Execution continues; nothing that follows may trap or
    leave a buffer because the condition is false: `tile.read` ensures this itself, the body of a `tile.opaque` must.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

def Tile_GroupOp : Tile_Op<"group", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "computes fused into one program";
  let description = [{
    Holds computes in order. A value without uses outside the group is not yielded and never becomes a buffer.
    ```mlir
    %h = tile.group {
      %c = tile.compute … ins(%x : …, %w : …)
      %r = tile.compute … ins(%c : …, %bias : …)
      tile.yield %r : !graph.tensor<[n, 1024], f32>
    } : !graph.tensor<[n, 1024], f32>
    ```
  }];
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "$region attr-dict (`:` type($results)^)?";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBody() { return &getRegion().front(); }
  }];
}

def Tile_PackOp : Tile_Op<"pack", [Pure]> {
  let summary = "the same tensor in another layout";
  let description = [{
    ```mlir
    %p = tile.pack %w : !graph.tensor<[k, n], f32> -> !graph.tensor<[k, n], f32, #tile.panels<axis = 1, width = 32>>
    ```
  }];
  let arguments = (ins Graph_Tensor:$tensor);
  let results = (outs Graph_Tensor:$packed);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) `->` type($packed)";
  let hasVerifier = 1;
}

def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "an alias: the same memory with or without a layout";
  let description = [{
    Free, as a reshape is. One side has a layout, the other side is row-major in the shape of its storage; that of packed
    elements are bytes, ui8, in any shape.
    ```mlir
    %w = tile.view %s : !graph.tensor<[36, 384, 32], f32> -> !graph.tensor<[1152, 384], f32, #tile.panels<axis = 0, width = 32>>
    ```
  }];
  let arguments = (ins Graph_Tensor:$tensor);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ProgramOp : Tile_Op<"program", [IsolatedFromAbove, SingleBlock, Symbol]> {
  let summary = "a tensor program over canonical symbols";
  let description = [{
    The caller binds the symbols, from which all sizes of the program are made. `plan` decides how code is made for it
    (see `tile-choose-tiles`).
    ```mlir
    tile.program @p0 symbols [s0, s1] (%x: !graph.tensor<[s0, s1], f32>) -> (!graph.tensor<[s0, s1], f32>) {
      %r = tile.compute …
      tile.return %r : !graph.tensor<[s0, s1], f32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, StrArrayAttr:$symbol_names,
                       TypeAttrOf<FunctionType>:$function_type, OptionalAttr<Tile_PlanAttr>:$plan);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Makes the body block with its arguments and leaves it empty.
    OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<::mlir::StringAttr>":$symbols,
                   "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBody() { return &getRegion().front(); }
    ::llvm::SmallVector<::mlir::StringAttr> getSymbols();
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::llvm::SmallVector<ComputeOp> getComputes();

    /// The tiling of the plan; null if there is no plan or it is of another kind.
    template <typename Tiling> Tiling getTiling() {
      return getPlan() ? ::llvm::dyn_cast<Tiling>(getPlan()->getTiling()) : Tiling();
    }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [HasParent<"ProgramOp">, Pure, ReturnLike, Terminator]> {
  let summary = "the results of a program";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_CallOp : Tile_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Pure]> {
  let summary = "calls a program with sizes";
  let description = [{
    ```mlir
    %r = tile.call @p0(%x) [s0 = b*s, s1 = 384] : (!graph.tensor<[b*s, 384], f32>) -> !graph.tensor<[b*s, 384], f32>
    ```
    Types are those of the program with these sizes substituted for its symbols.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Tensor>:$inputs, ArrayAttr:$symbol_sizes);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The values of the program's symbols, in their order.
    ::llvm::SmallVector<::freestone::sym::Expr> getSizes();
  }];
}

def Tile_LibraryOp : Tile_Op<"library", [Pure]> {
  let summary = "calls a service of a library";
  let description = [{
    The caller allocates the results, the service fills them. `name` and `version` identify a function that the
    application offers to an instance of the artifact; an instance without it is refused. Operands and results are
    row-major.
    ```mlir
    %r = tile.library "onednn.matmul" version 2 (%x, %w) : (!graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>) -> !graph.tensor<[m, n], f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, DefaultValuedAttr<I64Attr, "1">:$version, Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = [{
    $name (`version` $version^)? `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def Tile_LoopOp : Tile_Op<"loop", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>, Pure]> {
  let summary = "calls a function, the body, again and again";
  let description = [{
    Iteration t passes the carried values, slice t of each scanned tensor along its first dimension, and the captured
    values. The body returns the next carried values, then values to collect. Results: the last carried values, then
    every collected value along a new first dimension. `trips` is the number of iterations; with a condition, a bool of
    rank 0, they end earlier where it is false, and the body returns the next condition first. What is scanned or
    collected has `trips` slices; those of iterations that were left out are undefined. `collected_as` gives, for each carried value, the number of the
    collected value that it is, or -1; the body returns these once, as collected. `collected_before` gives, for each
    collected value, the number of the carried value that it is as each iteration finds it, or -1; the body does not
    return these.
    ```mlir
    %last, %all = tile.loop @body trips t carry(%h) as [0] over(%x) with(%w)
        : (!graph.tensor<[8], f32>, !graph.tensor<[t, 8], f32>, !graph.tensor<[8, 8], f32>)
        -> (!graph.tensor<[8], f32>, !graph.tensor<[t, 8], f32>)
    ```
    The body uses the symbols of the caller. Sizes of carried values may follow the iterations: in the body they depend
    on a symbol that it binds. Without `trips`, which needs a condition, nothing is scanned, and `slices` is the number
    of slices, by symbols that the body binds, for which what is collected needs memory before each iteration ends.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, OptionalAttr<Sym_ExprAttr>:$trips,
                       OptionalAttr<Sym_ExprAttr>:$slices, Optional<Graph_Tensor>:$condition,
                       Variadic<Graph_Tensor>:$carried, Variadic<Graph_Tensor>:$scanned,
                       Variadic<Graph_Tensor>:$captured, DenseI64ArrayAttr:$collected_as,
                       OptionalAttr<DenseI64ArrayAttr>:$collected_before);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = [{
    $body (`trips` custom<Trips>($trips)^)? (`slices` custom<Trips>($slices)^)? (`while` $condition^)?
    (`carry` `(` $carried^ `)` `as` $collected_as (`before` $collected_before^)?)?
    (`over` `(` $scanned^ `)`)? (`with` `(` $captured^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    unsigned getNumCollected() { return getNumResults() - getCarried().size(); }
    /// The collected value that a carried one is.
    std::optional<unsigned> getCollectedAs(unsigned carried) {
      int64_t number = getCollectedAs()[carried];
      return number < 0 ? std::nullopt : std::optional<unsigned>(number);
    }
    /// The carried value that a collected one is as each iteration finds it.
    std::optional<unsigned> getCarriedBefore(unsigned collected) {
      int64_t number = getCollectedBefore() ? (*getCollectedBefore())[collected] : -1;
      return number < 0 ? std::nullopt : std::optional<unsigned>(number);
    }
    /// The collected value that a carried one is as each iteration finds it.
    std::optional<unsigned> getCollectedBeforeAs(unsigned carried);
    /// The slices that what is collected needs memory for.
    ::freestone::sym::Expr getMostCollected() { return (getTrips() ? *getTrips() : *getSlices()).getExpr(); }
    /// The result of the body that is the next carried value, or what is collected, if the body returns that.
    unsigned getNextCarried(unsigned carried);
    unsigned getCollectedResult(unsigned collected);
  }];
}

def Tile_BranchOp : Tile_Op<"branch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Pure]> {
  let summary = "calls one of two functions, by a bool of rank 0";
  let description = [{
    ```mlir
    %y = tile.branch %c then @left else @right(%x)
        : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
    ```
    Both take the captured values, return the results, and use the symbols of the caller.
  }];
  let arguments = (ins Graph_Tensor:$condition, FlatSymbolRefAttr:$then_body, FlatSymbolRefAttr:$else_body,
                       Variadic<Graph_Tensor>:$captured);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = [{
    $condition `then` $then_body `else` $else_body `(` $captured `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_TILE_TILEOPS_TD

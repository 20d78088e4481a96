#ifndef FREESTONE_COMPILER_SIMPLIFY_PASSES_TD
#define FREESTONE_COMPILER_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def Decompose : Pass<"graph-decompose", "::mlir::func::FuncOp"> {
  let summary = "decomposes composites into core operators";
  let description = [{
    In: any graph. Out: the same graph without operators of `CompositeOpInterface`, except those named in `keep`.
    ```mlir
    %y = graph.softmax %x axis 1 : !graph.tensor<[m, n], f32>
    ```
    becomes
    ```mlir
    %0 = graph.reduce max %x axes [1] : !graph.tensor<[m, n], f32>
    %1 = graph.broadcast %0 dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, n], f32>
    %2 = graph.binary sub %x, %1 : !graph.tensor<[m, n], f32>
    %3 = graph.unary exp %2 : !graph.tensor<[m, n], f32>
    %4 = graph.reduce add %3 axes [1] : !graph.tensor<[m, n], f32>
    %5 = graph.broadcast %4 dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, n], f32>
    %y = graph.binary div %3, %5 : !graph.tensor<[m, n], f32>
    ```
  }];
  let options = [ListOption<"keep", "keep", "std::string", "Composites that stay, such as graph.attention">];
  let statistics = [Statistic<"numDecomposed", "decomposed", "Composites that were decomposed">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def FoldConstants : Pass<"graph-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "folds operators of small constants, through the interpreter";
  let description = [{
    In: any graph. Out: the same graph without operators whose operands are all constants and whose results are
    constants again (at most 64 elements, or a splat). Every result is rounded to its element type, as at run time.
    ```mlir
    %d = graph.constant dense<64.0> : tensor<f32> -> !graph.tensor<[b, h], f32>
    %r = graph.unary sqrt %d : !graph.tensor<[b, h], f32>
    ```
    becomes
    ```mlir
    %r = graph.constant dense<8.0> : tensor<f32> -> !graph.tensor<[b, h], f32>
    ```
  }];
  let statistics = [Statistic<"numFolded", "folded", "Operators that became constants">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def MultiplyIntegers : Pass<"graph-multiply-integers", "::mlir::func::FuncOp"> {
  let summary = "multiplies the integers that factors stand for, instead of their numbers";
  let description = [{
    In: contractions, and convolutions in one group or of each channel by itself, in f32, of `(integers - zero point) *
    scale` with integers of 8 bits. The scale and the zero point of a factor are the same all along what is summed over.
    Out: products of the integers, summed in i32, corrected for the zero points by the sums over each factor, and scaled
    at the end. The sums are exact: those that could leave i32 stay as they are. Channels by themselves are summed in
    f32, which holds their sums; windows of few products stay as well. What is quantised behind a product, of any kind,
    is multiplied by the scale's reciprocal. Maxima of windows are taken of the integers, and those that are dequantised
    and quantised again by the same numbers remain. `graph.integer_products` counts them.
    ```mlir
    %a = graph.cast %x to f32 : !graph.tensor<[m, 64], ui8>
    %b = graph.binary mul %a, %s : !graph.tensor<[m, 64], f32>
    %c = graph.cast %w to f32 : !graph.tensor<[64, n], i8>
    %d = graph.binary mul %c, %t : !graph.tensor<[64, n], f32>
    %y = graph.contract %b, %d batch [] x [] contract [1] x [0] : !graph.tensor<[m, 64], f32>, !graph.tensor<[64, n], f32>
    ```
    becomes
    ```mlir
    %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] as i32 : !graph.tensor<[m, 64], ui8>, !graph.tensor<[64, n], i8>
    %1 = graph.cast %0 to f32 : !graph.tensor<[m, n], i32>
    %y = graph.binary mul %1, %st : !graph.tensor<[m, n], f32>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"windows", "windows", "bool", "true",
                        "Also for convolutions whose filters have several places; without dot products of bytes, those in f32 are faster">,
                 Option<"fewestProducts", "fewest-products", "int64_t", "16",
                        "Products of such a filter below which it stays in f32: windows are packed as words">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def KeepBlockOrders : Pass<"graph-keep-block-orders", "::mlir::func::FuncOp"> {
  let summary = "leaves blocks in their order where all that is made of them is taken apart into blocks again";
  let description = [{
    In: any graph. Out: the same graph without those concatenations of all blocks of one tensor, in another order, after
    which contractions, elementwise operators, those that change shapes, and scans keep the blocks apart, until slices
    take one of them each: these take it from where it was. `graph.block_orders` counts what is left out.
    ```mlir
    %0 = graph.slice %w starts [0, 0] sizes [4, 8] steps [1, 1] : <[8, 8], f32>
    %1 = graph.slice %w starts [4, 0] sizes [4, 8] steps [1, 1] : <[8, 8], f32>
    %2 = graph.concat %1, %0 axis 0 : !graph.tensor<[4, 8], f32>, !graph.tensor<[4, 8], f32>
    %3 = graph.contract %x, %2 batch [] x [] contract [1] x [1] : <[b, 8], f32>, <[8, 8], f32>
    %y = graph.slice %3 starts [0, 0] sizes [b, 4] steps [1, 1] : <[b, 8], f32>
    ```
    becomes
    ```mlir
    %0 = graph.contract %x, %w batch [] x [] contract [1] x [1] : <[b, 8], f32>, <[8, 8], f32>
    %y = graph.slice %0 starts [0, 4] sizes [b, 4] steps [1, 1] : <[b, 8], f32>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def HoistFromScans : Pass<"graph-hoist-from-scans", "::mlir::func::FuncOp"> {
  let summary = "multiplies the slices of a scan by what stays the same before it, all at once";
  let description = [{
    In: any graph. Out: the same graph, in which contractions of slices and of values from outside of the scan, and of
    what elementwise operators and those that change shapes make of these, come before it: one product of all slices,
    which it goes along. `graph.scan_products` counts them. Functions that are asked to compute values again
    (`graph.recompute`) stay as they are.
    ```mlir
    %last = graph.scan carry %h : !graph.tensor<[b, 8], f32> over %x : !graph.tensor<[t, b, 4], f32> {
    ^bb0(%state: !graph.tensor<[b, 8], f32>, %slice: !graph.tensor<[b, 4], f32>):
      %0 = graph.contract %slice, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 4], f32>, !graph.tensor<[4, 8], f32>
      %next = graph.binary add %state, %0 : !graph.tensor<[b, 8], f32>
      graph.yield %next : !graph.tensor<[b, 8], f32>
    } -> !graph.tensor<[b, 8], f32>
    ```
    becomes
    ```mlir
    %0 = graph.contract %x, %w batch [] x [] contract [2] x [0] : !graph.tensor<[t, b, 4], f32>, !graph.tensor<[4, 8], f32>
    %last = graph.scan carry %h : !graph.tensor<[b, 8], f32> over %0 : !graph.tensor<[t, b, 8], f32> {
    ^bb0(%state: !graph.tensor<[b, 8], f32>, %product: !graph.tensor<[b, 8], f32>):
      %next = graph.binary add %state, %product : !graph.tensor<[b, 8], f32>
      graph.yield %next : !graph.tensor<[b, 8], f32>
    } -> !graph.tensor<[b, 8], f32>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def PackBoundary : Pass<"graph-pack-boundary", "::mlir::func::FuncOp"> {
  let summary = "lets elements of 2 or 4 bits share bytes outside of the program";
  let description = [{
    Arguments, results and weights of a function that the runtime calls get the layout `packed`. Within the program each
    element is a byte; loops that read packed elements unpack them on the way.
    ```mlir
    func.func @main(%x: !graph.tensor<[n], i4>) -> !graph.tensor<[n], i4>
    ```
    becomes
    ```mlir
    func.func @main(%0: !graph.tensor<[n], i4, #graph.packed>) -> !graph.tensor<[n], i4, #graph.packed> {
      %x = graph.unpack %0 : !graph.tensor<[n], i4, #graph.packed>
      …
    ```
  }];
  let statistics = [Statistic<"numPacked", "packed", "Arguments, results and weights that are packed">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def PruneBinders : Pass<"graph-prune-binders", "::mlir::func::FuncOp"> {
  let summary = "removes dead operators with data-dependent sizes";
  let description = [{
    In: any graph. Out: the same graph without those `nonzero`, `compress` and `unique` whose results are unused and
    whose sizes appear in no other type or attribute. (Ordinary dead code elimination keeps them because they bind a
    symbol.)
    ```mlir
    %i = graph.nonzero %x : !graph.tensor<[m], f32> -> !graph.tensor<[1, n], i64>   // removed where n is used nowhere
    ```
  }];
  let statistics = [Statistic<"numRemoved", "removed", "Operators that were removed">];
}

def BindSymbols : Pass<"graph-bind-symbols", "::mlir::func::FuncOp"> {
  let summary = "replaces symbols of a single possible value by it";
  let description = [{
    In: any graph. Out: the same graph, with a constant in place of each symbol whose bounds in `graph.symbols` are a
    single value.
    ```mlir
    func.func @main(%x: !graph.tensor<[b, s], f32>) attributes {graph.symbols = {b = #sym.bounds<[8, 8]>}}
    ```
    becomes
    ```mlir
    func.func @main(%x: !graph.tensor<[8, s], f32>) attributes {graph.symbols = {}}
    ```
  }];
}

def GuardRows : Pass<"graph-guard-rows", "::mlir::func::FuncOp"> {
  let summary = "selects by a row's sum, instead of by each of its shares, whether softmax has given a number";
  let description = [{
    In: any graph without composites. Out: the same graph, where what replaces the NaNs of a softmax, whose rows may be
    hidden as a whole, asks the sum of the row: a share is NaN if the sum is, and then all of them are. A condition of
    rows can follow the product of shares and values (`tile-fuse`), one of elements has to precede it.
    `graph.guarded_rows` counts them.
    ```mlir
    %sum = graph.reduce add %power axes [1] : <[m, n], f32>
    %inverse = graph.unary reciprocal %sum : <[m], f32>
    …
    %share = graph.binary mul %power, %repeated : <[m, n], f32>
    %none = graph.unary isnan %share : <[m, n], f32>
    %safe = graph.select %none, %zero, %share : …
    // →
    %whole = graph.compare ge %sum, %half : <[m], f32>
    %hidden = graph.unary not %whole : <[m], i1>
    %none = graph.broadcast %hidden dims [0] : <[m], i1> -> <[m, n], i1>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def SplitBatches : Pass<"graph-split-batches", "::mlir::func::FuncOp"> {
  let summary = "products of merged batches and heads have a dimension for each, as softmax between them has";
  let description = [{
    In: any graph without composites. Out: the same graph, where contractions have the batch dimensions into which their
    result is split before it is reduced (the scores of an attention, which are masked for each text), or from which an
    operand is merged (its weights). So computes between two contractions have loops of the same kind, and are connected
    (`tile-fuse`). `graph.split_batches` counts them.
    ```mlir
    %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : <[4*b, m, d], f32>, <[4*b, n, d], f32>
    %t = graph.reshape %s : <[4*b, m, n], f32> -> <[b, 4, m, n], f32>
    %most = graph.reduce max %t axes [3] : <[b, 4, m, n], f32>
    // →
    %q4 = graph.reshape %q : <[4*b, m, d], f32> -> <[b, 4, m, d], f32>
    %k4 = graph.reshape %k : <[4*b, n, d], f32> -> <[b, 4, n, d], f32>
    %t = graph.contract %q4, %k4 batch [0, 1] x [0, 1] contract [3] x [3] : …
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def ReassociateSums : Pass<"graph-reassociate-sums", "::mlir::func::FuncOp"> {
  let summary = "sums products of a contraction over its other factor, where that has been summed already";
  let description = [{
    In: any graph without composites. Out: the same graph, where the sum over n of W[m, n] * (sum over e of A[m, e] * V[n, e])
    is the sum over e of A[m, e] * O[m, e], if a contraction has computed O[m, e], the sum over n of W[m, n] * V[n, e]. So the
    gradient of softmax within an attention reads rows of the attention's result rather than of its scores (Dao et al.,
    "FlashAttention"). `graph.reassociated` counts them.
    ```mlir
    %o = graph.contract %w, %v batch [] x [] contract [1] x [0] : <[m, n], f32>, <[n, e], f32>
    %g = graph.contract %a, %v batch [] x [] contract [1] x [1] : <[m, e], f32>, <[n, e], f32>
    %p = graph.binary mul %g, %w : <[m, n], f32>
    %d = graph.reduce add %p axes [1] : <[m, n], f32>
    // →
    %p = graph.binary mul %a, %o : <[m, e], f32>       // 0 where %a is 0 and %o NaN
    %d = graph.reduce add %p axes [1] : <[m, e], f32>
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

#endif // FREESTONE_COMPILER_SIMPLIFY_PASSES_TD

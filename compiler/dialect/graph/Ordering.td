#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_ORDERING_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_ORDERING_TD

include "compiler/dialect/graph/GraphBase.td"
include "compiler/dialect/graph/GraphInterfaces.td"

/// Two results, the ordered elements and their i64 positions, deduced as in `Graph_DeducedOp`.
class Graph_OrderingOp<string mnemonic> : Graph_Op<mnemonic, [Pure, InferTypeOpAdaptor]> {
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let hasVerifier = 1;
}

def Graph_TopKOp : Graph_OrderingOp<"top_k"> {
  let summary = "the k largest (or smallest) elements along an axis in order, and their positions";
  let description = [{
    Ties keep the order of their positions; NaN counts as larger than every number.
    ```mlir
    %v, %i = graph.top_k %x axis 1 k <4> : !graph.tensor<[b, n], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis, Sym_ExprAttr:$k, UnitAttr:$smallest);
  let assemblyFormat = "$operand `axis` $axis `k` $k (`smallest` $smallest^)? attr-dict `:` type($operand)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$axis, "::freestone::sym::Expr":$k,
                                 CArg<"bool", "false">:$smallest)>];
}

def Graph_SortOp : Graph_OrderingOp<"sort"> {
  let summary = [{
    the elements along an axis in ascending or `descending` order, and their positions; equals keep their order
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis, UnitAttr:$descending);
  let assemblyFormat = "$operand `axis` $axis (`descending` $descending^)? attr-dict `:` type($operand)";
}

def Graph_SuppressOp : Graph_DeducedOp<"suppress"> {
  let summary = "the boxes of each class that no better one overlaps, best first";
  let description = [{
    Boxes are f32 [b, n, 4]: the least coordinates along two axes, then the greatest; scores are f32 [b, c, n]. The
    result, i32 [b, c, n], has the positions of the kept boxes, then -1. Those with scores above `threshold` are looked
    at, in descending order, equals in that of their positions; one is left out if its intersection with a kept one,
    over their union, is above `overlap`. At most `limit` (i64) are kept for each batch and class; the three are of
    rank 0.
    ```mlir
    %kept = graph.suppress %boxes, %scores, %limit, %overlap, %threshold : !graph.tensor<[b, n, 4], f32>, …
    ```
  }];
  let arguments = (ins Graph_Tensor:$boxes, Graph_Tensor:$scores, Graph_Tensor:$limit, Graph_Tensor:$overlap,
                       Graph_Tensor:$threshold);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $limit `,` $overlap `,` $threshold attr-dict `:` type($boxes) `,` type($scores) `,`
    type($limit) `,` type($overlap) `,` type($threshold)
  }];
}

/// An operator with a data-dependent size, which it binds to a symbol. It is not removed while the symbol has uses.
class Graph_BinderOp<string mnemonic> : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<Graph_SymbolBinderInterface>]> {
  let hasVerifier = 1;
}

def Graph_NonZeroOp : Graph_BinderOp<"nonzero"> {
  let summary = "the i64 coordinates [rank, n] of the elements that are not 0, in row-major order; n is bound";
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::freestone::sym::Expr":$count)>];
}

def Graph_CountToOp : Graph_BinderOp<"count_to"> {
  let summary = "the i64 numbers [n] from 0 on, as many as an i64 scalar says; n is bound";
  let description = "A negative number ends the run with a message, `complaint`.";
  let arguments = (ins Graph_Tensor:$number, DefaultValuedStrAttr<StrAttr, "a size is negative">:$complaint);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$number attr-dict `:` type($number) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$number, "::freestone::sym::Expr":$count,
                                 CArg<"::llvm::StringRef", "{}">:$complaint)>];
}

def Graph_CompressOp : Graph_BinderOp<"compress"> {
  let summary = "the slices along an axis for which a condition holds; their number is bound";
  let description = "The condition has rank 1; slices beyond its end are not taken.";
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$condition, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $condition `axis` $axis attr-dict `:` type($operand) `,` type($condition) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$condition, "int64_t":$axis,
                                 "::freestone::sym::Expr":$count)>];
}

def Graph_UniqueOp : Graph_BinderOp<"unique"> {
  let summary = "the different slices along an axis; their number u is bound";
  let description = [{
    In ascending (lexicographic) order if `sorted`, else in the order of first occurrence. Further results, i64: the
    position of each first occurrence [u], the index of every operand slice among the results [n], the counts [u].
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis, UnitAttr:$sorted);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$first, Graph_Tensor:$inverse, Graph_Tensor:$counts);
  let assemblyFormat = [{
    $operand `axis` $axis (`sorted` $sorted^)? attr-dict `:` type($operand) `->` type($values) `,` type($first) `,`
    type($inverse) `,` type($counts)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$axis, "bool":$sorted,
                                 "::freestone::sym::Expr":$count)>];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_ORDERING_TD

#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_SHAPE_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_SHAPE_TD

include "compiler/dialect/graph/GraphBase.td"
include "compiler/dialect/graph/GraphInterfaces.td"

def Graph_BroadcastOp : Graph_TypedOp<"broadcast", [Pure]> {
  let summary = "repeats elements along new dimensions, and along those of size 1";
  let description = [{
    Dimension j of the operand is dimension `dims[j]` of the result, ascending; it has the same size there, or is
    statically 1.
    ```mlir
    %y = graph.broadcast %x dims [1] : !graph.tensor<[n], f32> -> !graph.tensor<[m, n], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$operand `dims` $dims attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::llvm::ArrayRef<::freestone::sym::Expr>":$shape,
                                 "::llvm::ArrayRef<int64_t>":$dims)>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_ReshapeOp : Graph_TypedOp<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape; free";
  let description = [{
    The numbers of elements must be provably equal; `graph.match_shape` asserts sizes for which there is no proof.
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::llvm::ArrayRef<::freestone::sym::Expr>":$shape)>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_PackOp : Graph_DeducedOp<"pack"> {
  let summary = "elements of 2 or 4 bits in the layout `packed`, as outside of programs";
  let description = [{
    ```mlir
    %y = graph.pack %x : !graph.tensor<[n], i4>   // !graph.tensor<[n], i4, #graph.packed>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Graph_UnpackOp : Graph_DeducedOp<"unpack"> {
  let summary = "packed elements, each in a byte of its own";
  let arguments = (ins Graph_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Graph_TransposeOp : Graph_DeducedOp<"transpose"> {
  let summary = "permutes dimensions: dimension i of the result is dimension `permutation[i]` of the operand";
  let description = [{
    ```mlir
    %y = graph.transpose %x [1, 0] : !graph.tensor<[m, n], f32>   // !graph.tensor<[n, m], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_SliceOp : Graph_DeducedOp<"slice"> {
  let summary = "every step-th element from a start, along each dimension";
  let description = [{
    `starts` are the first elements taken (not negative), `sizes` the numbers of elements taken; `steps` differ from 0
    and may be negative. The slice lies within the operand.
    ```mlir
    %y = graph.slice %x starts [0, n - 1] sizes [b, n] steps [1, -1] : !graph.tensor<[b, n], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_ExprsAttr:$starts, Graph_ExprsAttr:$sizes,
                       DenseI64ArrayAttr:$steps);
  let assemblyFormat = [{
    $operand `starts` custom<Exprs>($starts) `sizes` custom<Exprs>($sizes) `steps` $steps attr-dict `:` type($operand)
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_PadOp : Graph_DeducedOp<"pad"> {
  let summary = "inserts a value before, after and between the elements; negative amounts before and after crop";
  let description = [{
    `interior` elements are inserted between neighbours, before `low` and `high` are added or cropped.
    ```mlir
    %y = graph.pad %x, %zero low [0, 1] high [0, -1] interior [0, 0]
         : !graph.tensor<[b, s], f32>, !graph.tensor<[], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$value, Graph_ExprsAttr:$low, Graph_ExprsAttr:$high,
                       DenseI64ArrayAttr:$interior);
  let assemblyFormat = [{
    $operand `,` $value `low` custom<Exprs>($low) `high` custom<Exprs>($high) `interior` $interior attr-dict `:`
    type($operand) `,` type($value)
  }];
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_DeducedOp<"concat"> {
  let summary = "concatenates tensors along an axis";
  let arguments = (ins Variadic<Graph_Tensor>:$operands, I64Attr:$axis);
  let assemblyFormat = "$operands `axis` $axis attr-dict `:` type($operands)";
  let hasFolder = 1;
}

def Graph_MatchShapeOp : Graph_TypedOp<"match_shape", [DeclareOpInterfaceMethods<Graph_SymbolBinderInterface>]> {
  let summary = "asserts sizes, and binds the symbols among them that are new";
  let description = [{
    A mismatch ends the run with a message that names the value (`label`), the expected and the actual size. A result
    dimension that is a symbol not bound before is bound here. Compiled programs have it in gradients of branches alone,
    where sizes of a result are those of the side that is taken, and check nothing.
    ```mlir
    %y = graph.match_shape %x label "mask" : !graph.tensor<[n, k], f32> -> !graph.tensor<[n, 2*m], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$operand (`label` $label^)? attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::llvm::ArrayRef<::freestone::sym::Expr>":$shape,
                                 CArg<"::llvm::StringRef", "{}">:$label)>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_AssertSizesOp : Graph_Op<"assert_sizes", [MemoryEffects<[MemWrite]>]> {
  let summary = "asserts within a branch or a loop that two sizes are equal, each time that it runs";
  let description = [{
    A mismatch ends the run with a message: `text`, and both sizes. What uses their symbols behind it comes after it, and
    stays in its region. Sizes that must be equal whenever the program runs are `graph.assertions` of the function.
    ```mlir
    graph.assert_sizes <n> equals <2*k> "at node 'add': the sizes of a sum must be equal"
    ```
  }];
  let arguments = (ins Sym_ExprAttr:$actual, Sym_ExprAttr:$expected, StrAttr:$text);
  let assemblyFormat = "$actual `equals` $expected $text attr-dict";
  let extraClassDeclaration = [{
    /// The symbols of both sizes.
    ::llvm::SmallVector<::mlir::StringAttr> getSymbols();
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_SHAPE_TD

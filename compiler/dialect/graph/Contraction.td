#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_CONTRACTION_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_CONTRACTION_TD

include "compiler/dialect/graph/GraphBase.td"
include "compiler/dialect/graph/Reduction.td"

def Graph_ContractOp : Graph_DeducedOp<"contract"> {
  let summary = "sums products over common dimensions";
  let description = [{
    The dimensions of the result are the batch dimensions, then the left operand's free dimensions, then the right
    operand's. Products and sums are of `element_type` (i32 or f32 for i8 operands, whose types may then differ);
    without it, of the operands' type.
    ```mlir
    %z = graph.contract %x, %y batch [0] x [0] contract [2] x [1]
         : !graph.tensor<[b, m, k], f32>, !graph.tensor<[b, k, n], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract,
                       OptionalAttr<TypeAttr>:$element_type);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `contract` $lhs_contract `x` $rhs_contract (`as` $element_type^)?
    attr-dict `:` type($lhs) `,` type($rhs)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$lhsBatch,
                                 "::llvm::ArrayRef<int64_t>":$rhsBatch, "::llvm::ArrayRef<int64_t>":$lhsContract,
                                 "::llvm::ArrayRef<int64_t>":$rhsContract), [{
    build($_builder, $_state, lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract, ::mlir::TypeAttr());
  }]>];
  let declarations = [{
    /// The dimensions of an operand that are neither batch nor contracted, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

def Graph_ConvolveOp : Graph_DeducedOp<"convolve"> {
  let summary = "sums products over channels and windows";
  let description = [{
    Operand [N, C, spatial…], kernel [O, C / groups, spatial…], result [N, O, spatial…]. `operand_dilation` d puts d - 1
    zeros between the operand's elements, which makes a transposed convolution; then `low` and `high` add zeros, or crop
    where negative. The spatial sizes of the result are `(padded - ((k - 1)*dilation + 1)) floordiv stride + 1`.
    `element_type` as in `graph.contract`.
    ```mlir
    %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
         : !graph.tensor<[n, 3, h, w], f32>, !graph.tensor<[8, 3, 3, 3], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$operand_dilation, Graph_ExprsAttr:$low,
                       Graph_ExprsAttr:$high, I64Attr:$groups, OptionalAttr<TypeAttr>:$element_type);
  let assemblyFormat = [{
    $operand `,` $kernel `strides` $strides `dilations` $dilations `operand_dilation` $operand_dilation `low`
    custom<Exprs>($low) `high` custom<Exprs>($high) `groups` $groups (`as` $element_type^)? attr-dict `:` type($operand)
    `,` type($kernel)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$kernel,
                                 "::llvm::ArrayRef<int64_t>":$strides, "::llvm::ArrayRef<int64_t>":$dilations,
                                 "::llvm::ArrayRef<int64_t>":$operandDilation,
                                 "::llvm::ArrayRef<::freestone::sym::Expr>":$low,
                                 "::llvm::ArrayRef<::freestone::sym::Expr>":$high, "int64_t":$groups), [{
    build($_builder, $_state, operand, kernel, strides, dilations, operandDilation, low, high, groups,
          ::mlir::TypeAttr());
  }]>];
}

def Graph_WindowOp : Graph_DeducedOp<"window"> {
  let summary = "combines the elements of windows over the trailing dimensions; padding counts as the identity";
  let description = [{
    Windows span the last dimensions, one for each of `sizes`. The spatial sizes of the result are as in
    `graph.convolve`.
    ```mlir
    %y = graph.window max %x sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0]
         : !graph.tensor<[n, c, h, w], f32>
    ```
  }];
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, Graph_ExprsAttr:$low,
                       Graph_ExprsAttr:$high);
  let assemblyFormat = [{
    `` $kind $operand `sizes` $sizes `strides` $strides `dilations` $dilations `low` custom<Exprs>($low) `high`
    custom<Exprs>($high) attr-dict `:` type($operand)
  }];
}

def Graph_WindowArgmaxOp : Graph_DeducedOp<"window_argmax"> {
  let summary = [{
    argmax of each window: the i64 row-major index within the trailing dimensions, the first of equals
  }];
  let description = "Windows as in `graph.window max`; the index counts in the operand without padding.";
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, Graph_ExprsAttr:$low, Graph_ExprsAttr:$high);
  let assemblyFormat = [{
    $operand `sizes` $sizes `strides` $strides `dilations` $dilations `low` custom<Exprs>($low) `high`
    custom<Exprs>($high) attr-dict `:` type($operand)
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_CONTRACTION_TD

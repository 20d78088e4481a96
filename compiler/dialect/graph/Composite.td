#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_COMPOSITE_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_COMPOSITE_TD

include "compiler/dialect/graph/GraphBase.td"
include "compiler/dialect/graph/GraphInterfaces.td"

/// Operators worth keeping whole for fusion and gradients. All compute f16 and bf16 in f32 and round once; softmax of
/// f16 also rounds in between.
class Graph_CompositeOp<string mnemonic>
    : Graph_DeducedOp<mnemonic, [Graph_CompositeOpInterface]>;

def Graph_GeluKind : Graph_Enum<"GeluKind", "exact, or approximated by tanh", ["exact", "tanh"]>;
def Graph_GeluKindAttr : EnumAttr<Graph_Dialect, Graph_GeluKind, "gelu">;

def Graph_SoftmaxOp : Graph_CompositeOp<"softmax"> {
  let summary = "exp(x - max) / sum(exp(x - max)) along an axis";
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` type($operand)";
}

def Graph_LogSoftmaxOp : Graph_CompositeOp<"log_softmax"> {
  let summary = "(x - max) - log(sum(exp(x - max))) along an axis";
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` type($operand)";
}

def Graph_LayerNormOp : Graph_CompositeOp<"layer_norm"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) over the dimensions from `axis` on";
  let description = "Scale and shift are operators of their own.";
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis, F64Attr:$epsilon);
  let assemblyFormat = "$operand `axis` $axis `epsilon` $epsilon attr-dict `:` type($operand)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$axis, "double":$epsilon), [{
    build($_builder, $_state, operand, axis, ::llvm::APFloat(epsilon));
  }]>];
}

def Graph_RmsNormOp : Graph_CompositeOp<"rms_norm"> {
  let summary = "x / sqrt(mean of squares + epsilon) over the dimensions from `axis` on";
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$axis, F64Attr:$epsilon);
  let assemblyFormat = "$operand `axis` $axis `epsilon` $epsilon attr-dict `:` type($operand)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$axis, "double":$epsilon), [{
    build($_builder, $_state, operand, axis, ::llvm::APFloat(epsilon));
  }]>];
}

def Graph_GeluOp : Graph_CompositeOp<"gelu"> {
  let summary = "x * Φ(x), Φ the normal distribution";
  let arguments = (ins Graph_GeluKindAttr:$kind, Graph_Tensor:$operand);
  let assemblyFormat = "`` $kind $operand attr-dict `:` type($operand)";
}

def Graph_AttentionOp : Graph_CompositeOp<"attention"> {
  let summary = "softmax(scale * query keyᵀ + mask) value";
  let description = [{
    Query [batch…, s, d], key [batch…, t, d], value [batch…, t, e], result [batch…, s, e]. A mask [batch…, s, t] of the
    element type is added to the scores; a bool mask hides scores where it is false. With `causal` o, row i sees columns
    j ≤ i + o. `softcap` c > 0 turns scores into c * tanh(score / c) before the mask. A fully masked row (all scores
    -inf) gives 0 and has a gradient of 0.
    ```mlir
    %y = graph.attention %q, %k, %v scale 0.125 causal <0> : !graph.tensor<[b, h, s, 64], f32>, …
    ```
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, OptionalAttr<Sym_ExprAttr>:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^ `:` type($mask) `,`)? `scale` $scale (`causal` $causal^)? attr-dict `:`
    type($query) `,` type($key) `,` type($value)
  }];
  let builders = [
    /// `mask` and `causal` may be null.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value, "::mlir::Value":$mask,
                   "double":$scale, CArg<"::freestone::sym::Expr", "{}">:$causal, CArg<"double", "0">:$softcap)>];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_COMPOSITE_TD

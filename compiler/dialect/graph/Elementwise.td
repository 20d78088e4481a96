#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_ELEMENTWISE_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_ELEMENTWISE_TD

include "compiler/dialect/graph/GraphBase.td"

def Graph_UnaryKind : Graph_Enum<"UnaryKind", "functions of one number", [
  "abs", "neg", "exp", "exp2", "log", "log1p", "expm1", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "asin",
  "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "floor", "ceil", "round", "trunc", "sign",
  "not", "isnan", "isinf_pos", "isinf_neg"]>;
def Graph_BinaryKind : Graph_Enum<"BinaryKind", "functions of two numbers", [
  "add", "sub", "mul", "div", "rem", "mod", "pow", "max", "min", "and", "or", "xor", "shl", "shr", "atan2"]>;
def Graph_CompareKind : Graph_Enum<"CompareKind", "relations", ["eq", "ne", "lt", "le", "gt", "ge"]>;
def Graph_RoundMode : Graph_Enum<"RoundMode", "to which power of two others are rounded", ["nearest", "up", "down"]>;

def Graph_UnaryKindAttr : EnumAttr<Graph_Dialect, Graph_UnaryKind, "unary">;
def Graph_BinaryKindAttr : EnumAttr<Graph_Dialect, Graph_BinaryKind, "binary">;
def Graph_CompareKindAttr : EnumAttr<Graph_Dialect, Graph_CompareKind, "compare">;

def Graph_RoundModeAttr : EnumAttr<Graph_Dialect, Graph_RoundMode, "round">;

def Graph_UnaryOp : Graph_DeducedOp<"unary"> {
  let summary = "a function of every element";
  let description = [{
    `round` rounds halves to even; `not` is logical on bool, bitwise on integers; `isnan` and `isinf_*` give bool;
    `sign` of NaN is NaN. Integers have `abs`, `neg`, `sign`, `not`; bool has `not` alone.
    ```mlir
    %y = graph.unary exp %x : !graph.tensor<[n], f32>
    ```
  }];
  let arguments = (ins Graph_UnaryKindAttr:$kind, Graph_Tensor:$operand);
  let assemblyFormat = "`` $kind $operand attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Graph_BinaryOp : Graph_DeducedOp<"binary"> {
  let summary = "a function of two elements at the same place";
  let description = [{
    Both operands have the type of the result. Integer `div` truncates and `rem` has the sign of the dividend (as in C);
    `mod` has the sign of the divisor; integer quotients and remainders by 0 are 0. `max` and `min` propagate NaN. `shr`
    is arithmetic for signed, logical for unsigned integers; a shift by at least the width is as many shifts by one bit.
    Integers wrap around. Bool has `and`, `or`, `xor` alone.
    ```mlir
    %z = graph.binary add %x, %y : !graph.tensor<[n], f32>
    ```
  }];
  let arguments = (ins Graph_BinaryKindAttr:$kind, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs))";
  let hasFolder = 1;
}

def Graph_CompareOp : Graph_DeducedOp<"compare"> {
  let summary = "whether a relation holds, as bool; with NaN only `ne` does";
  let arguments = (ins Graph_CompareKindAttr:$kind, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs))";
}

def Graph_SelectOp : Graph_DeducedOp<"select"> {
  let summary = "`on_true` where the condition holds, else `on_false`";
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` custom<SameTypes>(type($on_true),
    type($on_false))
  }];
  let hasFolder = 1;
}

def Graph_CastOp : Graph_DeducedOp<"cast"> {
  let summary = "the value in another element type";
  let description = [{
    To a float: rounded to nearest even. Float to integer: truncated toward zero; outside of the range unspecified, but
    with `saturate` the nearest end, and 0 for NaN. Integer to a narrower integer keeps the low bits, or saturates. To
    bool: whether it differs from 0.

    To float8 by way of f32: above the largest number infinity, or NaN where there is none, but with `saturate` the
    largest number, for infinities too. float4 always saturates. f8E8M0FNU holds the magnitude's power of two, rounded by
    `round`; infinities become NaN.
    ```mlir
    %y = graph.cast %x to f16 : !graph.tensor<[n], f32>
    %z = graph.cast %x to f8E8M0FNU saturate round up : !graph.tensor<[n], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, TypeAttr:$element_type, UnitAttr:$saturate,
                       DefaultValuedAttr<Graph_RoundModeAttr, "::freestone::graph::RoundMode::nearest">:$round);
  let assemblyFormat = [{
    $operand `to` $element_type (`saturate` $saturate^)? (`round` $round^)? attr-dict `:` type($operand)
  }];
  let hasFolder = 1;
}

def Graph_BitcastOp : Graph_DeducedOp<"bitcast"> {
  let summary = "the same bits in another element type of as many bits; bool is a byte";
  let description = [{
    ```mlir
    %y = graph.bitcast %x to ui32 : !graph.tensor<[n], f32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, TypeAttr:$element_type);
  let assemblyFormat = "$operand `to` $element_type attr-dict `:` type($operand)";
  let hasFolder = 1;
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_ELEMENTWISE_TD

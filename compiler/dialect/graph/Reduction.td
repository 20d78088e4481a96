#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_REDUCTION_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_REDUCTION_TD

include "compiler/dialect/graph/GraphBase.td"

def Graph_ReduceKind : Graph_Enum<"ReduceKind", "how elements are combined", ["add", "mul", "max", "min", "and", "or"]>;
def Graph_ArgKind : Graph_Enum<"ArgKind", "which extremum", ["max", "min"]>;
def Graph_ReduceKindAttr : EnumAttr<Graph_Dialect, Graph_ReduceKind, "reduction">;
def Graph_ArgKindAttr : EnumAttr<Graph_Dialect, Graph_ArgKind, "extremum">;

def Graph_ReduceOp : Graph_DeducedOp<"reduce"> {
  let summary = "reduces along axes, which are dropped";
  let description = [{
    An empty reduction gives the identity (of `max` and `min`: the infinity or the end of the type's range). `max` and
    `min` of floats propagate NaN. Bool has `and` and `or`, with `max` and `min` as their synonyms.
    ```mlir
    %y = graph.reduce add %x axes [1] : !graph.tensor<[m, n], f32>   // !graph.tensor<[m], f32>
    ```
  }];
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, DenseI64ArrayAttr:$axes);
  let assemblyFormat = "`` $kind $operand `axes` $axes attr-dict `:` type($operand)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_ArgReduceOp : Graph_DeducedOp<"arg_reduce"> {
  let summary = "the i64 position of the extremum along an axis, which is dropped";
  let description = "The first of equals, or the last with `last`; the first NaN where there is one.";
  let arguments = (ins Graph_ArgKindAttr:$kind, Graph_Tensor:$operand, I64Attr:$axis, UnitAttr:$last_index);
  let assemblyFormat = "`` $kind $operand `axis` $axis (`last` $last_index^)? attr-dict `:` type($operand)";
}

def Graph_CumulateOp : Graph_DeducedOp<"cumulate"> {
  let summary = "the running reduction (prefix scan) along an axis";
  let description = "Element i combines elements 0…i, without i if `exclusive`; from the end if `reverse`.";
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, I64Attr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let assemblyFormat = [{
    `` $kind $operand `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($operand)
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_REDUCTION_TD

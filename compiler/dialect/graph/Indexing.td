#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_INDEXING_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_INDEXING_TD

include "compiler/dialect/graph/GraphBase.td"

def Graph_ScatterKind : Graph_Enum<"ScatterKind", "what happens to the element that is there", [
  "none", "add", "mul", "max", "min"]>;
def Graph_ScatterKindAttr : EnumAttr<Graph_Dialect, Graph_ScatterKind, "scatter">;

// Indices are i32 or i64; negative ones count from the end; one out of range ends the run with a message.

def Graph_GatherOp : Graph_DeducedOp<"gather"> {
  let summary = "takes slices along one axis by index";
  let description = [{
    The shape of the result is `operand[:axis] ++ indices[batch_dims:] ++ operand[axis + 1:]`; the first `batch_dims`
    dimensions of both go together.
    ```mlir
    %y = graph.gather %x, %i axis 0 batch_dims 0 : !graph.tensor<[v, d], f32>, !graph.tensor<[b, s], i64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$indices, I64Attr:$axis, DefaultValuedAttr<I64Attr,
                       "0">:$batch_dims);
  let assemblyFormat = [{
    $operand `,` $indices `axis` $axis `batch_dims` $batch_dims attr-dict `:` type($operand) `,` type($indices)
  }];
}

def Graph_GatherElementsOp : Graph_DeducedOp<"gather_elements"> {
  let summary = "element [.., i, ..] of the result is operand[.., indices[.., i, ..], ..] at `axis`";
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$indices, I64Attr:$axis);
  let assemblyFormat = "$operand `,` $indices `axis` $axis attr-dict `:` type($operand) `,` type($indices)";
}

def Graph_GatherNdOp : Graph_DeducedOp<"gather_nd"> {
  let summary = "takes slices by vectors of indices, which stand along the last dimension of `indices`";
  let description = [{
    The shape of the result is `indices[:-1] ++ operand[batch_dims + n:]`, n the size of that last dimension.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let assemblyFormat = "$operand `,` $indices `batch_dims` $batch_dims attr-dict `:` type($operand) `,` type($indices)";
}

def Graph_ScatterElementsOp : Graph_DeducedOp<"scatter_elements"> {
  let summary = "a copy of the operand with elements replaced by, or combined with, updates at indices along an axis";
  let description = "Updates have the shape of the indices and are applied in row-major order.";
  let arguments = (ins Graph_ScatterKindAttr:$kind, Graph_Tensor:$operand, Graph_Tensor:$indices, Graph_Tensor:$updates,
                       I64Attr:$axis);
  let assemblyFormat = [{
    `` $kind $operand `,` $indices `,` $updates `axis` $axis attr-dict `:` type($operand) `,` type($indices) `,`
    type($updates)
  }];
}

def Graph_ScatterNdOp : Graph_DeducedOp<"scatter_nd"> {
  let summary = "a copy of the operand with slices replaced by, or combined with, updates at vectors of indices";
  let description = [{
    The shape of the updates is `indices[:-1] ++ operand[n:]`, n the size of the last dimension of `indices`.
  }];
  let arguments = (ins Graph_ScatterKindAttr:$kind, Graph_Tensor:$operand, Graph_Tensor:$indices,
                       Graph_Tensor:$updates);
  let assemblyFormat = [{
    `` $kind $operand `,` $indices `,` $updates attr-dict `:` type($operand) `,` type($indices) `,` type($updates)
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_INDEXING_TD

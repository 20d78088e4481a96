#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_SOURCES_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_SOURCES_TD

include "compiler/dialect/graph/GraphBase.td"

def Graph_ConstantOp : Graph_TypedOp<"constant", [Pure, ConstantLike]> {
  let summary = "a constant: few elements, or a splat";
  let description = [{
    A splat may have symbolic sizes.
    ```mlir
    %c = graph.constant dense<[1, 2]> : tensor<2xi64> -> !graph.tensor<[2], i64>
    %z = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, s], f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [
    /// A constant of the static type of `value`.
    OpBuilder<(ins "::mlir::DenseElementsAttr":$value)>,
    /// A splat, rounded to the element type; integers up to 2^53.
    OpBuilder<(ins "::freestone::graph::TensorType":$type, "double":$value)>,
    OpBuilder<(ins "::freestone::graph::TensorType":$type, "int64_t":$value)>,
    OpBuilder<(ins "::freestone::graph::TensorType":$type, "int":$value), [{
      build($_builder, $_state, type, static_cast<int64_t>(value));
    }]>];
  let extraClassDeclaration = [{
    static constexpr int64_t maxElements = 64;
    /// Vectors of integers may be longer: gathers read such indices at compile time.
    static constexpr int64_t maxIndices = 1024;
    /// The most elements of a constant of this rank and element type, unless all are equal.
    static int64_t getMaxElements(int64_t rank, ::mlir::Type elementType) {
      return rank == 1 && elementType.isSignlessInteger(64) ? maxIndices : maxElements;
    }
    /// Whether all elements are equal and stored once.
    bool isSplat() { return ::llvm::cast<::mlir::DenseElementsAttr>(getValue()).isSplat(); }
  }];
}

def Graph_WeightOp : Graph_TypedOp<"weight", [Pure]> {
  let summary = "a tensor of the model by name; its elements are in a `WeightStore`";
  let description = [{
    The elements of a `live` weight are the application's, which gives them to runs and seldom changes them.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$live);
  let assemblyFormat = "$name (`live` $live^)? attr-dict `:` type($result)";
}

def Graph_SizesOp : Graph_DeducedOp<"sizes"> {
  let summary = "sizes as the i64 elements of a vector, or with `scalar` as a single one of rank 0";
  let description = [{
    ```mlir
    %s = graph.sizes [b, 4*s]   // !graph.tensor<[2], i64>
    ```
  }];
  let arguments = (ins Graph_ExprsAttr:$sizes, UnitAttr:$scalar);
  let assemblyFormat = "custom<Exprs>($sizes) (`scalar` $scalar^)? attr-dict";
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_TypedOp<"iota", [Pure]> {
  let summary = "every element is its coordinate along one dimension";
  let description = [{
    ```mlir
    %i = graph.iota 1 : !graph.tensor<[b, s], i64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_RandomBitsOp : Graph_TypedOp<"random_bits", [Pure]> {
  let summary = "independent random bits from a key: Philox4x32-10";
  let description = [{
    The key is [4] x ui32: the generator's two key words, then the two upper words of its counter, whose lower 64 bits
    count blocks of four words. With i the row-major index of the element, ui32 elements are word i % 4 of block i / 4,
    ui64 elements words 2 * (i % 2) (low) and 2 * (i % 2) + 1 (high) of block i / 2.
    ```mlir
    %r = graph.random_bits %key : !graph.tensor<[4], ui32> -> !graph.tensor<[b, s], ui32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$key);
  let assemblyFormat = "$key attr-dict `:` type($key) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_BarrierOp : Graph_DeducedOp<"barrier"> {
  let summary = "the identity; an optimization barrier against folding and sharing with earlier operators";
  let arguments = (ins Graph_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_SOURCES_TD

#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHDIALECT_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHDIALECT_TD

include "compiler/dialect/sym/SymDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let summary = "tensor operators over symbolic sizes";
  let description = [{
    A small core of operators with explicit broadcasts, from which everything else is built. Shapes follow forward: the
    type of a result is deduced from operands and attributes.

    Attributes of a function: `graph.symbols = {b = #sym.bounds<…>}` bounds its symbols;
    `graph.value_symbols = {n = [1, 0]}` binds n to element 0 of argument 1 (of floats in units of 2^-32); `graph.definitions = [["r", #sym.expr<n ceildiv 8>]]` defines r by symbols
    bound or defined before it; every other symbol is bound by the first argument dimension that is exactly this symbol.
    `graph.name` of an argument or result is its name in the model. `graph.state` of an argument (old value) and of a
    result (new value) names state that persists from run to run, shared by all functions of a module. `graph.initial`
    of such an argument names the weight that holds its first value, else zeros.
  }];
  let cppNamespace = "::freestone::graph";
  let dependentDialects = ["::freestone::sym::SymDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerOperations();";
}

def Graph_TensorType : TypeDef<Graph_Dialect, "Tensor"> {
  let mnemonic = "tensor";
  let summary = "a tensor whose sizes are expressions";
  let description = [{
    Element types: f16 bf16 f32 f64, i1, i8 i16 i32 i64 (signed), ui8 ui16 ui32 ui64; and those that are only stored,
    moved and cast: f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU, f4E2M1FN, i4 i2 ui4 ui2. `layout` says how the
    elements lie in memory; without one, row-major and contiguous, each in bytes of its own.
    ```mlir
    !graph.tensor<[b, 4*s + 1, 768], f32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::freestone::sym::Expr">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Attribute">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<::freestone::sym::Expr>":$shape,
                                                      "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType, ::mlir::Attribute());
  }]>];
  let extraClassDeclaration = [{
    /// A type of constant sizes.
    static TensorType getStatic(::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType);

    int64_t getRank() const { return getShape().size(); }
    ::freestone::sym::Expr getDim(int64_t dim) const { return getShape()[dim]; }
    /// The product of the sizes.
    ::freestone::sym::Expr getNumElements() const;
    /// The sizes if all are constant.
    std::optional<::llvm::SmallVector<int64_t>> getStaticShape() const;
    TensorType withShape(::llvm::ArrayRef<::freestone::sym::Expr> shape) const { return get(shape, getElementType()); }
    TensorType withElementType(::mlir::Type type) const { return get(getShape(), type); }
  }];
}

def Graph_Tensor : Type<CPred<"::llvm::isa<::freestone::graph::TensorType>($_self)">, "tensor",
                        "::freestone::graph::TensorType">;

def Graph_PackedAttr : AttrDef<Graph_Dialect, "Packed"> {
  let mnemonic = "packed";
  let summary = "the layout of elements of 2 or 4 bits outside of programs: row-major, several to a byte";
  let description = [{
    As ONNX stores them: the first element in the lowest bits, the last byte padded.
    ```mlir
    !graph.tensor<[3, 5], i4, #graph.packed>  // 8 bytes
    ```
  }];
  let extraClassDeclaration = [{
    static int64_t getElementsPerByte(::mlir::Type elementType) { return 8 / elementType.getIntOrFloatBitWidth(); }
    /// The number of bytes.
    static ::freestone::sym::Expr getStorageSize(TensorType type);
  }];
}

def Graph_ExprsAttr : AttrDef<Graph_Dialect, "Exprs"> {
  let mnemonic = "exprs";
  let summary = "a list of size expressions";
  let description = "Printed `[0, n - 1]` within operators, `#graph.exprs<[0, n - 1]>` elsewhere.";
  let parameters = (ins ArrayRefParameter<"::freestone::sym::Expr">:$value);
  let hasCustomAssemblyFormat = 1;
  let returnType = "::llvm::ArrayRef<::freestone::sym::Expr>";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::freestone::graph::ExprsAttr::get($_builder.getContext(), $0)";
}

/// `names` are the cases as they are written; those that are words of C++ end in `_` there.
class Graph_Enum<string name, string summary, list<string> names> : I32EnumAttr<name, summary,
    !foreach(i, !range(!size(names)), I32EnumAttrCase<
      !if(!or(!eq(names[i], "not"), !eq(names[i], "and"), !eq(names[i], "or"), !eq(names[i], "xor")),
          names[i] # "_", names[i]),
      i, names[i]>)> {
  let cppNamespace = "::freestone::graph";
  let genSpecializedAttr = 0;
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHDIALECT_TD

#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHBASE_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHBASE_TD

include "compiler/dialect/graph/GraphDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;

/// An operator with one result, whose type is inferred from operands and attributes: builders need none. `deduce` is
/// the shape rule and the verifier in one. Where it refuses, builders make an operator that does not verify (its type
/// is that of `getTypeOfRefused`), so that an invalid model ends in a diagnostic.
class Graph_DeducedOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat(traits, [Pure, InferTypeOpAdaptor])> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
  code declarations = "";
  let extraClassDeclaration = [{
    static ::llvm::FailureOr<::freestone::graph::TensorType> deduce(Adaptor op, ::freestone::graph::Refusal refuse);
  }] # declarations;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location>,
                                                      Adaptor op, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      auto type = deduce(op, ::freestone::graph::Refusal());
      types.push_back(succeeded(type) ? *type : ::freestone::graph::getTypeOfRefused(context, op.getOperands()));
      return ::llvm::success();
    }
    ::llvm::LogicalResult $cppClass::verify() {
      return deduce(Adaptor(*this), ::freestone::graph::Refusal(*this));
    }
  }];
}

/// An operator with one result of a given type.
class Graph_TypedOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHBASE_TD

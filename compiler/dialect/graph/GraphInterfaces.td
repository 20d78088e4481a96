#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHINTERFACES_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def Graph_CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let description = "An operator that is made of others: `compiler/expressions` says of which.";
  let cppNamespace = "::freestone::graph";
}

def Graph_SymbolBinderInterface : OpInterface<"SymbolBinderInterface"> {
  let description = "An operator that gives symbols their values where it runs: sizes that depend on data.";
  let cppNamespace = "::freestone::graph";
  let methods = [InterfaceMethod<[{
      Adds the expressions whose values the operator determines at run time; a bare, new symbol is bound by it.
    }],
    "void", "collectBound", (ins "::llvm::SmallVectorImpl<::freestone::sym::Expr> &":$bound)>];
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHINTERFACES_TD

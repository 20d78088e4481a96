#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_CONTROLFLOW_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_CONTROLFLOW_TD

include "compiler/dialect/graph/GraphBase.td"
include "compiler/dialect/graph/GraphInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

// Regions see the values around them. A size unknown before a join (it differs between branches or iterations) is a
// fresh symbol of the result or of the region's argument, bound where the value is passed.

class Graph_RegionOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat(traits, [RecursiveMemoryEffects, SingleBlock,
                                              DeclareOpInterfaceMethods<Graph_SymbolBinderInterface>])> {
  let results = (outs Variadic<Graph_Tensor>:$results);
  let hasRegionVerifier = 1;
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "the values of a region";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Graph_IfOp : Graph_RegionOp<"if"> {
  let summary = "one of two regions, by a bool of rank 0";
  let description = [{
    ```mlir
    %r = graph.if %c {
      graph.yield %x : !graph.tensor<[n], f32>
    } else {
      graph.yield %y : !graph.tensor<[2*n], f32>
    } : !graph.tensor<[], i1> -> !graph.tensor<[m], f32>    // m is bound by what runs
    ```
  }];
  let arguments = (ins Graph_Tensor:$condition);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = [{
    $condition $then_region `else` $else_region attr-dict `:` type($condition) (`->` type($results)^)?
  }];
}

def Graph_WhileOp : Graph_RegionOp<"while", [AttrSizedOperandSegments]> {
  let summary = "repeats a region while a condition holds, at most `max_trip` times";
  let description = [{
    Arguments of the body: the iteration number (i64 of rank 0), the carried values. It yields the continuation
    condition (bool of rank 0), the carried values, then values to collect. Results: the last carried values, then every
    collected value stacked along a new first dimension. Without `max_trip` there is no limit; without `condition` the
    first iteration always runs.

    Sizes may follow the iterations: within the body, `trip` is the symbol of the iteration's number. A carried value of
    size f(trip) there begins with f(0), is passed on with f(trip + 1), and ends with f(`trips`), the number of
    iterations that ran: a symbol that the loop binds, or what is known of it.
    ```mlir
    %y = graph.while max %m : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
    ^bb0(%number: !graph.tensor<[], i64>, %s: !graph.tensor<[n + i], f32>):
      …
      graph.yield %go, %longer : !graph.tensor<[], i1>, !graph.tensor<[n + i + 1], f32>
    } {trip = #sym.expr<i>, trips = #sym.expr<r>} -> !graph.tensor<[n + r], f32>
    ```
  }];
  let arguments = (ins Optional<Graph_Tensor>:$max_trip, Optional<Graph_Tensor>:$condition,
                       Variadic<Graph_Tensor>:$carried, OptionalAttr<Sym_ExprAttr>:$trip,
                       OptionalAttr<Sym_ExprAttr>:$trips);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`max` $max_trip^ `:` type($max_trip))? (`if` $condition^ `:` type($condition))? (`carry` $carried^ `:`
    type($carried))? $body attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getCarriedArgs() { return getBody().getArguments().drop_front(1); }
    unsigned getNumCollected() { return getNumResults() - getCarried().size(); }
    /// The limit, where it is a constant or a size; at least 0.
    ::std::optional<::freestone::sym::Expr> getLimit();
    /// The type of a carried value of the body with another number of iterations.
    ::mlir::Type getTypeAt(::mlir::Type carried, ::freestone::sym::Expr trip);
  }];
}

def Graph_ScanOp : Graph_RegionOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "a region for every slice of tensors along their first dimension";
  let description = [{
    Arguments of the body: the carried values, a slice of each scanned tensor. It yields the carried values, then values
    to collect. Results: the last carried values, then every collected value along a new first dimension.
    ```mlir
    %last, %all = graph.scan carry %h : !graph.tensor<[8], f32> over %x : !graph.tensor<[t, 8], f32> {
    ^bb0(%state: !graph.tensor<[8], f32>, %slice: !graph.tensor<[8], f32>):
      %next = graph.binary add %state, %slice : !graph.tensor<[8], f32>
      graph.yield %next, %next : !graph.tensor<[8], f32>, !graph.tensor<[8], f32>
    } -> !graph.tensor<[8], f32>, !graph.tensor<[t, 8], f32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$carried, Variadic<Graph_Tensor>:$scanned);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`carry` $carried^ `:` type($carried))? (`over` $scanned^ `:` type($scanned))? $body attr-dict (`->`
    type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getCarriedArgs() {
      return getBody().getArguments().take_front(getCarried().size());
    }
    ::mlir::Block::BlockArgListType getSliceArgs() { return getBody().getArguments().drop_front(getCarried().size()); }
    unsigned getNumCollected() { return getNumResults() - getCarried().size(); }
  }];
}

def Graph_CallOp : Graph_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                     DeclareOpInterfaceMethods<Graph_SymbolBinderInterface>]> {
  let summary = [{
    calls a function; its symbols are unified with the sizes of the operands and substituted in the results
  }];
  let description = [{
    A symbol of the results that no argument binds depends on data: the callee binds it, and it is a symbol of the
    caller here.
    ```mlir
    %y = graph.call @f(%x) : (!graph.tensor<[4*b, 8], f32>) -> !graph.tensor<[4*b], f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Tensor>:$operands);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_CONTROLFLOW_TD

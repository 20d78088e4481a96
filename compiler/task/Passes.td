#ifndef FREESTONE_COMPILER_TASK_PASSES_TD
#define FREESTONE_COMPILER_TASK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CopyResults : Pass<"task-copy-results", "::mlir::func::FuncOp"> {
  let summary = "gives every result of a function memory of its own";
  let description = [{
    A result that is an input, a weight, a constant, or the same memory as another result is copied by a `tile.compute`, so that each
    output has one writer and inputs stay as they are. New values of state (`graph.state`) are left to `task-update-state`. Runs while
    computes are inline; what merges equal operations must come before, or outputs would be one memory again.
    ```mlir
    func.func @main(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> { return %x : … }
    // →
    %0 = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) { ^bb0(%a: f32): tile.yield %a : f32 } : …
    return %0 : …
    ```
  }];
  let dependentDialects = ["::freestone::tile::TileDialect"];
  let statistics = [Statistic<"copies", "copies", "Number of results copied">];
}

def UpdateInPlace : Pass<"task-update-in-place", "::mlir::func::FuncOp"> {
  let summary = "lets updates of a tensor write its memory, and gives them a copy where they may not";
  let description = [{
    The first result of an operation with the attribute `updates` (a scatter) begins as the elements of its first operand. After this
    pass it lies in that operand's memory. It moves behind what reads the operand, unless something there needs the result. Where the operand is an input, a weight or a constant, where anything looks at it later, or
    where another operand lies in the same memory, it is copied first; a tensor that is one value everywhere is made anew. State
    (`graph.state`) is written where it lies if updates alone make its new value. Runs before `task-copy-results`; operations must keep
    their order from here on, and equal ones may not be merged. Counts operands that were not copied `scatters_in_place`; with
    `enable=false` all are copied.
    ```mlir
    func.func @main(%x: !graph.tensor<[n], f32> {graph.name = "x"}, …) -> (!graph.tensor<[n], f32> {graph.name = "y"}) {
      %0 = tile.opaque [1] ins(%x, %i, %u) attributes {updates} { … } : …
      return %0 : …
    }
    // →
    %own = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) { … } : …
    %0 = tile.opaque [1] ins(%own, %i, %u) attributes {updates} { … } : …
    ```
  }];
  let dependentDialects = ["::freestone::tile::TileDialect"];
  let options = [Option<"enable", "enable", "bool", "true", "Write operands where they lie, if they may be written">];
}

def UpdateState : Pass<"task-update-state", "::mlir::ModuleOp"> {
  let summary = "lays the new values of state over the old ones";
  let description = [{
    A result with `graph.state = "w"` is the new value of what the argument of the same attribute holds (an argument alone only reads
    it), and after this pass whatever computes it may write it to that argument's memory: every other reader of the old value stands
    before it in the block, and what it reads of the old value itself it reads at the element that it writes. Operations are moved
    behind readers where nothing is in the way; where it is, or where the value is an argument or returned twice, a copy is made at the
    end. A result that is the old value is dropped. Runs behind `task-copy-results`, while computes are inline; operations must keep
    their order from here on, and equal ones may not be merged. With `donate=false` every new value is copied. Counts `donated`.
    ```mlir
    func.func @main(%w: !graph.tensor<[4], f32> {graph.state = "w"}) -> (!graph.tensor<[4], f32> {graph.state = "w"},
                                                                         !graph.tensor<[4], f32> {graph.name = "old"}) {
      %0 = tile.compute [4] [parallel] ins(%w : affine_map<(d0) -> (d0)>) { … } : …
      %1 = tile.compute [4] [parallel] ins(%w : affine_map<(d0) -> (d0)>) { … } : …
      return %0, %1 : …
    }
    // →
    %1 = tile.compute [4] [parallel] ins(%w : affine_map<(d0) -> (d0)>) { … } : …
    %0 = tile.compute [4] [parallel] ins(%w : affine_map<(d0) -> (d0)>) { … } : …
    ```
  }];
  let dependentDialects = ["::freestone::tile::TileDialect"];
  let options = [Option<"donate", "donate", "bool", "true", "Compute new values in place where possible">];
  let statistics = [Statistic<"copies", "copies", "Number of new values copied">];
}

def FormPhases : Pass<"task-form-phases", "::mlir::ModuleOp"> {
  let summary = "functions of tile.calls → task.programs with one phase a call";
  let description = [{
    In: functions whose bodies hold only `tile.call`, `tile.library`, `graph.reshape`, weights, constants and the return. Out: a `task.program` of
    the same name for each, without edges. Reshapes are the same buffer; results are output buffers, written in place; argument and result
    of one `graph.state` are one buffer. The messages of
    all `tile.check`s are numbered in the module's attribute `task.sites`. Each space says how many floating-point operations its tiles
    execute.
    ```mlir
    func.func @main(%x: !graph.tensor<[n, 784], f32> {graph.name = "x"}) -> (…) {
      %0 = tile.call @p0(%x, %w) [n] : …
      return %0 : …
    }
    // →
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 512]>] {
      %x = task.buffer input "x" : …
      %y = task.buffer output "y" : …
      task.phase "fc1" after all [] same [] { task.space @p0(%x, %w) to (%y) … }
    }
    ```
  }];
  let dependentDialects = ["::freestone::task::TaskDialect"];
  let statistics = [Statistic<"phases", "phases", "Number of phases made">];
}

def MergePhases : Pass<"task-merge-phases", "::mlir::ModuleOp"> {
  let summary = "makes one phase of several that need not wait for each other";
  let description = [{
    Of neighbouring phases of which none reads or writes what another writes, those whose programs run over elements or rows become one
    phase, calls of one program side by side, so that their tiles are dealt to the workers together: the updates of all parameters, most
    of which are of one tile, are then one row of tiles. Phases whose tiles stay on the worker that made what they read are left alone,
    and so is one that binds a symbol. Counts `merged_phases`.
    ```mlir
    task.phase "a" after all [] same [] { task.space @p0(%a) to (%x) … tiles 3 … }
    task.phase "b" after all [] same [] { task.space @p0(%b) to (%y) … tiles 1 … }
    // →
    task.phase "a" after all [] same [] {
      task.space @p0(%a) to (%x) … tiles 3 …
      task.space @p0(%b) to (%y) … tiles 1 …
    }
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def OrderPhases : Pass<"task-order-phases", "::freestone::task::ProgramOp"> {
  let summary = "writes the `after` edges of every phase";
  let description = [{
    A phase that reads what another wrote comes after it, and one that writes comes after those that read or wrote the same before:
    `same` where each tile touches just the elements that the same tile of the same number of tiles touched, or where both have one tile
    alone, so that no worker needs another's data; else `all`. Progress numbers only grow, so of several
    `all` edges only the latest is kept, and none that an earlier phase's wait implies.
    With `elide=false` every edge is `all`.
    ```mlir
    task.phase "norm" after all [] same [] { … to (%h) … tiles m scratch 0 reads [?] writes [384] … }
    task.phase "gelu" after all [] same [] { task.space @p1(%h) … tiles m … reads [384] … }
    // →
    task.phase "gelu" after all [] same [0] …
    ```
  }];
  let options = [Option<"elide", "elide", "bool", "true", "Let a worker go on without waiting where it reads only its own data">];
  let statistics = [Statistic<"waits", "waits", "Number of phases that wait for all workers">,
                    Statistic<"elided", "elided", "Number of dependences that need no wait">];
}

def PlanMemory : Pass<"task-plan-memory", "::freestone::task::ProgramOp"> {
  let summary = "writes the horizon and the last use of every arena buffer";
  let description = [{
    In: phases with edges. Out: each arena buffer says when its bytes are certainly free (see `task.buffer`). Offsets follow at bind,
    when sizes are known. With `reuse=false` no two buffers share bytes.
    ```mlir
    %h = task.buffer arena : !graph.tensor<[n, 1024], f32>
    // →
    %h = task.buffer arena horizon -1 last_use 1 : !graph.tensor<[n, 1024], f32>
    ```
  }];
  let options = [Option<"reuse", "reuse", "bool", "true", "Let buffers share bytes once all workers are done with them">];
}

def CheckOrder : Pass<"task-check-order", "::freestone::task::ProgramOp"> {
  let summary = "proves that phases which touch the same bytes are ordered";
  let description = [{
    In: phases with edges, and planned memory. Changes nothing. For 1 to `workers` workers, at the smallest sizes that the program may
    have, at small, larger and very large ones, with arena buffers where the runtime puts them: two accesses to the same bytes, one of them a
    write, are ordered by a wait or are one worker's; where they are, an edge says so, `same` edges too; and no buffer is written over
    while it is still read. Else, and where no sizes can be found that all assertions allow, the pass fails with a sentence.
    ```
    phase 1 'b' of worker 0 writes what phase 2 'c' of worker 1 reads, in no order (workers = 2, n = 130)
    ```
  }];
  let options = [Option<"workers", "workers", "int64_t", "4", "The most workers that are looked at">];
  let statistics = [Statistic<"runs", "runs", "Number of sizes looked at">];
}

#endif // FREESTONE_COMPILER_TASK_PASSES_TD

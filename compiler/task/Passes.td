#ifndef FREESTONE_COMPILER_TASK_PASSES_TD
#define FREESTONE_COMPILER_TASK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CopyResults : Pass<"task-copy-results", "::mlir::func::FuncOp"> {
  let summary = "gives every result of a function memory of its own";
  let description = [{
    A result that is an input, a weight, a constant, or aliases another result is copied by a `tile.compute`, so that
    each output has one writer and inputs stay unchanged. New values of state (`graph.state`) are left to
    `task-update-state`. Runs while computes are inline; common subexpressions must be eliminated before, or outputs
    would alias again.
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

def KeepOperands : Pass<"task-keep-operands", "::mlir::ModuleOp"> {
  let summary = "lets branches leave operands that a side returns unchanged where they lie";
  let description = [{
    Where one side of a branch of an entry returns a captured value unchanged that nothing reads behind the branch, such
    as a network that leaves out some of its blocks, the side need not copy it: value and result have two slices of memory
    in turns, and the side that makes the result anew writes the slice that the value is not in. The branch says so by
    `task.keeps`, the side by `task.kept`, and `task-form-phases` gives them such memory. The value is computed in the
    entry, or the result of another branch; neither is an output, or has a size that the run determines. Runs before
    `task-copy-results`; from here on operations must keep their order. Counts `kept`.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def UpdateInPlace : Pass<"task-update-in-place", "::mlir::func::FuncOp"> {
  let summary = "lets updates of a tensor write its memory, and gives them a copy where they may not";
  let description = [{
    The first result of an operation with the attribute `updates` (a scatter) starts with the elements of its first
    operand. After this pass it aliases that operand: the update is in place. Updates are moved behind the other readers
    of the operand where dependences allow. The operand is copied first if it is an input, a weight or a constant, if it
    is read later, or if another operand aliases it; a constant fill is computed again instead. State (`graph.state`), and
    what a loop carries (`tile.carried`), is updated in place if its next value is made by updates alone. Runs before `task-copy-results`; from here on operations
    must keep their order, and equal ones may not be merged. Counts operands that are not copied: `scatters_in_place`;
    with `enable=false` all are copied.
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
  let summary = "aliases the new values of state with the old ones";
  let description = [{
    A result with `graph.state = "w"` is the new value of the argument with the same attribute (an argument alone only
    reads the state). After this pass, the operation that computes it may write it in place: every other reader of the
    old value comes earlier in the block, and the operation itself reads the old value only at the element that it
    writes. Operations are moved behind readers where dependences allow; where they do not, or where the value is an
    argument or returned twice, a copy is made at the end. A result that is the old value is dropped. Runs after
    `task-copy-results`, while computes are inline; from here on operations must keep their order, and equal ones may
    not be merged. With `donate=false` every new value is copied. Counts `donated`.
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
    In: functions whose bodies hold only `tile.call`, `tile.library`, `graph.reshape`, weights, constants and the
    return. Out: a `task.program` of the same name for each, without edges. Reshapes share their operand's buffer;
    results are output buffers, written in place; argument and result of one `graph.state` are one buffer. The messages
    of all `tile.check`s are numbered in the module's attribute `task.sites`. Each space gives the number of
    floating-point operations of its tiles, and an estimate of their time on the device. Long sizes of calls are
    definitions of the program (`size0`, …), which all that follows from them refers to. Counts `named_sizes`. The
    carried value of a loop, if it takes a quarter of the second cache or more, is computed where the last one is by
    whatever reads that last and at the same elements alone: `overwritten`.
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
  let options = [Option<"target", "target", "std::string", "\"host\"", "The device whose times are estimated">,
                 Option<"nameSizes", "name-sizes", "bool", "true", "Give long sizes names">,
                 Option<"overwrite", "overwrite", "bool", "true", "Compute large carried values where they are">];
  let statistics = [Statistic<"phases", "phases", "Number of phases made">];
}

def SchedulePhases : Pass<"task-schedule-phases", "::mlir::ModuleOp"> {
  let summary = "orders phases so that workers have something to do while others finish";
  let description = [{
    Independent phases of a block come one after another where waiting would leave workers idle: the runtime deals their
    tiles side by side. The order is a list schedule on the plane of workers × time, at the smallest sizes, where
    operators have the fewest tiles; it stays as it was unless the estimated time is shorter, and never needs more
    memory, at usual sizes. Loops, branches and phases that bind a size stay where they are. Phases of one tile that a
    loop's or branch's condition follows from come before earlier loops and branches of the block that they do not depend
    on, so that workers wait for several conditions at once. Counts `scheduled_phases` and `early_conditions`.
    ```mlir
    task.phase "a" … { task.space @p0(%x) to (%a) … tiles 1 time 9000 … }
    task.phase "b" … { task.space @p0(%a) to (%b) … tiles 1 time 9000 … }
    task.phase "c" … { task.space @p0(%x) to (%c) … tiles 1 time 9000 … }
    task.phase "d" … { task.space @p0(%c) to (%d) … tiles 1 time 9000 … }
    // → a, c, b, d
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"target", "target", "std::string", "\"host\"", "The device with its number of units">];
}

def MergePhases : Pass<"task-merge-phases", "::mlir::ModuleOp"> {
  let summary = "merges independent phases";
  let description = [{
    Among neighbouring phases without dependences on each other, those of elementwise and row programs become one phase,
    with calls of one program adjacent: one step of the workers' progress instead of many. Phases whose tiles stay on the worker that
    computed their inputs are left alone, and so is a phase that binds a symbol. Counts `merged_phases`.
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

def DoubleBuffer : Pass<"task-double-buffer", "::mlir::ModuleOp"> {
  let summary = "lets what does not depend on a loop's last iteration run ahead of it";
  let description = [{
    A phase of a loop's body that reads nothing of the iteration before still waits until that is done with the memory
    that the phase writes. Where a later phase of each iteration waits for all workers anyway, because it isn't known
    which of them made what it reads, intermediates that the phase writes get two slices in turns: that wait tells that
    the slice is free, and there is one wait an iteration less. Done while what is double is at most a quarter of the second
    cache at typical sizes. Counts `double_buffered`.
    ```mlir
    task.loop 0 "y" trips t {
      task.phase "u" … { task.space @p(%x) to (%a) … }
      task.phase "r" … { task.space @q(%old, %a) to (%new) … reads [?, ?] … }
    }
    // → %a is
    %two = task.buffer arena : !graph.tensor<[2, n], f32>
    %a = task.view %two loop 0 rotate 2 step 4*n : …
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"target", "target", "std::string", "\"host\"", "The device with its caches">];
}

def OrderPhases : Pass<"task-order-phases", "::freestone::task::ProgramOp"> {
  let summary = "writes the `after` edges of every phase";
  let description = [{
    A phase comes after writers of its inputs, and after earlier readers and writers of its outputs. The edge is `same`
    where each tile touches just the elements that the same tile of the same number of tiles touched, or where both
    phases have one tile, so that no worker needs another's data: then both spaces get the same `deal`. Two spaces of
    one tile that do not depend on each other keep their deals apart, so that two workers can run them. Other edges are
    `all`: all workers are awaited, which tells that all earlier phases are done too. Where one of these would take
    longer, as an estimate at small sizes says, the edges are `tiles`: only those workers are awaited that have tiles of
    the phase. Then those phases are awaited as well (`task.awaited_readers` counts them) that are done by then and
    touch a part of the arena that no later phase touches, such as gradients of weights beside a chain of other
    gradients: nothing else would tell that it is free. Waits that earlier ones imply are left out. With `elide=false`
    no edge is `same`. In a loop, such edges are also those from the phases of an iteration to those of the next one
    (`again_all`, `again_same`); with `overlap=false`, and where data end a loop within or the body determines sizes,
    each iteration comes after all of the one before.
    ```mlir
    task.phase "norm" after all [] same [] { … to (%h) … tiles m scratch 0 reads [?] writes [384] … }
    task.phase "gelu" after all [] same [] { task.space @p1(%h) … tiles m … reads [384] … }
    // →
    task.phase "gelu" after all [] same [0] …
    ```
  }];
  let options = [Option<"elide", "elide", "bool", "true", "Leave out waits where a worker reads only its own data">,
                 Option<"overlap", "overlap", "bool", "true", "Begin iterations before all of the one before has ended">,
                 Option<"awaitReaders", "await-readers", "bool", "true", "Wait for the readers of memory that is used no more">,
                 Option<"target", "target", "std::string", "\"host\"", "The device with its number of units">];
  let statistics = [Statistic<"waits", "waits", "Number of phases that wait for all workers">,
                    Statistic<"elided", "elided", "Number of dependences that need no wait">];
}

def OverwriteOperands : Pass<"task-overwrite-operands", "::mlir::ModuleOp"> {
  let summary = "lays results over operands that die where they are made";
  let description = [{
    In: phases with edges. A result has the buffer of an operand of its space if nothing else touches the operand from
    there on, both have as many bytes, and a tile reads of the operand no more than the elements that it writes, each
    before it is written (`plan/InPlace`: elementwise, or rows of a plan of rows). Whatever touched the operand before is
    known to be done there, or was done by the same worker: no wait is added. The operand is an arena buffer, the result
    another one or an output; neither is followed by a view, decides a loop or branch, or binds a size. Memory and
    bandwidth are saved: the bytes are in the cache already, and are not fetched in order to be overwritten. Counts
    `overwritten`.
    ```mlir
    task.space @gradient(%logits, %labels) to (%gradients) …
    // →
    task.space @gradient(%logits, %labels) to (%logits) …
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
}

def PlanMemory : Pass<"task-plan-memory", "::freestone::task::ProgramOp"> {
  let summary = "writes the live range of every arena buffer";
  let description = [{
    In: phases with edges. Out: each arena buffer has the live range that decides when its bytes are free (see
    `task.buffer`). The runtime assigns offsets when sizes are known. With `reuse=false` no two buffers share bytes.
    ```mlir
    %h = task.buffer arena : !graph.tensor<[n, 1024], f32>
    // →
    %h = task.buffer arena live [0, 2) : !graph.tensor<[n, 1024], f32>
    ```
  }];
  let options = [Option<"reuse", "reuse", "bool", "true", "Let buffers share bytes once all workers are done with them">];
}

def NarrowWaits : Pass<"task-narrow-waits", "::freestone::task::ProgramOp"> {
  let summary = "lets workers wait for those alone that touched their elements";
  let description = [{
    In: phases with edges, and planned memory. Out: an edge `all` is a `window` where it is known which elements every
    tile of both phases touches; whoever needs more has an edge of its own. Live ranges stay as they are: buffers get
    the phase from which on they are `released` without the windows, and where bytes are taken again before, a run
    makes windows as wide as all workers. `again_all` becomes `again_window` in the same way, but where a buffer lives in
    a part of an iteration alone: the loop then waits for all. Phases within branches keep their waits, and so do programs
    with sizes that the run determines.
    ```mlir
    %a = task.buffer arena live [0, 2) : …
    task.phase "h" after all [] same [] { … to (%a) … tiles 24 … writes [4*n per 6] … }
    task.phase "y" after all [0] same [] { task.space @p1(%a) … tiles 8 … reads [3*n] … }
    // →
    %a = task.buffer arena live [0, 2) : …
    task.phase "y" after all [] window [0] same [] { task.space @p1(%a) … tiles 8 … reads [3*n] … }
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let statistics = [Statistic<"windows", "windows", "Number of windows">];
}

def ClaimPhases : Pass<"task-claim-phases", "::mlir::ModuleOp"> {
  let summary = "marks the phases whose tiles workers may claim from each other";
  let description = [{
    In: phases with deals and all edges. Out: a phase is `claimed` where no other space shares a deal with it, worker 0
    need not compute it, it has several tiles, all have finished it in the iteration before, and one worker's share of it may take a millisecond at some sizes: what
    claims can save is the rest of a share whose worker was stopped for a time slice of the system, and that is more than
    what they cost where shares are about as long as those. Whether tiles are claimed is the decision of each run. Counts `claimed`.
    ```mlir
    task.phase "fc1" after all [] window [0] same [] { … tiles 64 deal 3 time 900000 … }
    // →
    task.phase "fc1" claimed after all [] window [0] same [] { … tiles 64 deal 3 time 900000 … }
    ```
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">,
                 Option<"target", "target", "std::string", "\"host\"", "The device with its number of units">];
}

def CheckOrder : Pass<"task-check-order", "::freestone::task::ProgramOp"> {
  let summary = "proves that phases which touch the same bytes are ordered";
  let description = [{
    In: phases with edges, and planned memory. Out: the same with `task.order`: "proved" for all sizes and any number of
    workers, or "sampled". Two accesses to the same bytes, at least one of them a write, must be ordered by a wait or
    belong to one worker, or a worker waits for the other's touch at a window; an edge must say so, if only `same`; and no buffer may be overwritten during its live range.
    Where that does not follow from buffers, deals and live ranges alone, it is checked for 1 to `workers` workers at the
    smallest possible sizes and at small, larger and very large ones, with the runtime's arena offsets. Where a sample
    contradicts, or no sizes satisfy all assertions, the pass fails with a sentence.
    ```
    phase 1 'b' writes what phase 2 'c' reads, in no order (workers = 2, n = 130)
    ```
  }];
  let options = [Option<"workers", "workers", "int64_t", "8", "The largest number of workers to sample">,
                 Option<"alwaysSamples", "always-samples", "bool", "false", "Sample what is proved as well">];
  let statistics = [Statistic<"proved", "proved", "Programs proved for all sizes">,
                    Statistic<"runs", "runs", "Number of sizes looked at">];
}

#endif // FREESTONE_COMPILER_TASK_PASSES_TD

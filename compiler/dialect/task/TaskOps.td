#ifndef FREESTONE_COMPILER_DIALECT_TASK_TASKOPS_TD
#define FREESTONE_COMPILER_DIALECT_TASK_TASKOPS_TD

include "compiler/dialect/task/TaskDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Task_BufferKindAttr : EnumAttr<Task_Dialect, Task_BufferKind, "kind"> {
  let assemblyFormat = "$value";
}

class Task_Op<string mnemonic, list<Trait> traits = []> : Op<Task_Dialect, mnemonic, traits>;

def Task_ProgramOp : Task_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "an entry of the artifact: buffers and views of them, then phases, loops and branches in the order of every worker";
  let description = [{
    ```mlir
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 9223372036854775807]>] {
      %x = task.buffer input "x" : !graph.tensor<[n, 784], f32>
      %w = task.buffer weight "fc1.weight" : !graph.tensor<[784, 10], f32>
      %y = task.buffer output "y" : !graph.tensor<[n, 10], f32>
      task.phase "fc1" after all [] same [] {
        task.space @p0(%x, %w) to (%y) sizes [n, 10, 784] tiles n ceildiv 56 deal 0 time 74*n scratch 4096 reads [560*784, ?] writes [560] sites [] : (…) -> (…)
      }
    }
    ```
    `define [["rows", #sym.expr<n ceildiv 8>]]` names sizes that follow from the symbols and earlier definitions. Inputs
    and outputs keep the model's order. A phase's progress number is its index in the program, plus the number of phases of
    each further iteration of a loop.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$symbols, OptionalAttr<ArrayAttr>:$definitions,
                       OptionalAttr<ArrayAttr>:$assertions);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `symbols` $symbols (`define` $definitions^)? (`assert` $assertions^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<BufferOp, 8> getBuffers();
    ::llvm::SmallVector<ViewOp, 8> getViews();
    /// All phases, those of loops and branches included, in the order of the text.
    ::llvm::SmallVector<PhaseOp, 8> getPhases();
  }];
}

def Task_BufferOp : Task_Op<"buffer"> {
  let summary = "storage that phases read and write";
  let description = [{
    The type is that of the value the buffer was made for; reshapes of the value share the buffer. Inputs and weights
    are read-only; a weight with a `value` is a constant of the program. State has a static size and persists from run
    to run under its name, in all programs of the module; it begins as zeros or as the weight `initial`.
    `task-plan-memory` gives arena buffers their live range: from the first phase that touches the buffer to the phase
    from which on every worker knows that all touches are done, if windows are as wide as all workers; from `released`
    on, they need not be. Two arena buffers may share bytes where their live ranges do not overlap. A growing buffer is as an arena buffer, but its sizes have no limit: it has memory of its own, `slices`
    of its type.
  }];
  let arguments = (ins Task_BufferKindAttr:$kind, OptionalAttr<StrAttr>:$name, OptionalAttr<I64Attr>:$slices,
                       OptionalAttr<I64Attr>:$first, OptionalAttr<I64Attr>:$freed, OptionalAttr<I64Attr>:$released,
                       OptionalAttr<ElementsAttr>:$value,
                       OptionalAttr<StrAttr>:$initial);
  let results = (outs AnyType:$buffer);
  let assemblyFormat = [{
    `` $kind ($name^)? (`slices` $slices^)? (`live` ` ` `[` $first^ `,` $freed `)`)? (`released` $released^)?
    (`value` $value^)? (`initial` $initial^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of storage, layout and padding included.
    ::freestone::sym::Expr getBytes();
    /// The phase from which on all touches are done, however narrow windows are.
    std::optional<uint64_t> getReleasedOrFreed() { return getReleased() ? getReleased() : getFreed(); }
  }];
}

def Task_ViewOp : Task_Op<"view", [HasParent<"ProgramOp">]> {
  let summary = "a slice of a buffer that follows the iterations of a loop, or turns";
  let description = [{
    In iteration t of the loop with this number, the `step` bytes of `source` from (t + shift) * step on; with `rotate`
    r, from ((t + shift) mod r) * step on. Behind the loop, t is the number of iterations. Without a loop, t is 0. Views
    of inner loops may look at views of outer ones, which stand before them. With `turn` in place of `loop`, t is the
    number of turns with this number that have been taken (`task.turn`).
    ```mlir
    %slice = task.view %x loop 0 step 4*n : !graph.tensor<[t, n], f32> -> !graph.tensor<[n], f32>
    %old = task.view %state loop 0 rotate 2 step 32 : …
    %new = task.view %state loop 0 shift 1 rotate 2 step 32 : …
    ```
  }];
  let arguments = (ins AnyType:$source, OptionalAttr<I64Attr>:$loop, OptionalAttr<I64Attr>:$turn,
                       DefaultValuedAttr<I64Attr, "0">:$shift,
                       DefaultValuedAttr<I64Attr, "0">:$rotate, Sym_ExprAttr:$step);
  let results = (outs AnyType:$view);
  let assemblyFormat = [{
    $source (`loop` $loop^)? (`turn` $turn^)? (`shift` $shift^)? (`rotate` $rotate^)? `step` custom<Size>($step) attr-dict `:`
    type($source) `->` type($view)
  }];
  let extraClassDeclaration = [{
    /// The buffer that it is a view of.
    BufferOp getBuffer();
    /// Bytes of its elements.
    ::freestone::sym::Expr getBytes();
    /// The number of the loop or of the turns that it follows.
    std::optional<int64_t> getFollowed() {
      return getTurn() ? std::optional<int64_t>(*getTurn()) : getLoop() ? std::optional<int64_t>(*getLoop()) : std::nullopt;
    }
    /// The slice in iteration `trip`.
    int64_t getSlice(int64_t trip) {
      int64_t slice = trip + getShift();
      return getRotate() ? slice % static_cast<int64_t>(getRotate()) : slice;
    }
  }];
}

class Task_ControlOp<string mnemonic> : Task_Op<mnemonic, [ParentOneOf<["ProgramOp", "LoopOp", "BranchOp"]>, SingleBlock,
                                                           NoTerminator, NoRegionArguments]> {
  code phasesDeclaration = [{
    /// All phases within, in the order of the text.
    ::llvm::SmallVector<PhaseOp, 8> getPhases();
  }];
  let extraClassDeclaration = phasesDeclaration;
}

def Task_LoopOp : Task_ControlOp<"loop"> {
  let summary = "phases that every worker runs again and again";
  let description = [{
    `trips` is the number of iterations; with a condition, a bool that all workers read before every iteration, there are
    fewer where it is false. `after all` as for phases: awaited before the first iteration. `again_all [p]`: before
    every further iteration, and before it goes on behind the last one, a worker waits until all workers have finished
    phase p of the iteration before. Beside that, phases tell what they wait for: one iteration may begin before all
    workers have ended the one before.
    ```mlir
    task.loop 0 "/lstm" trips t after all [3] {
      task.phase …
    }
    ```
  }];
  let arguments = (ins I64Attr:$number, StrAttr:$label, OptionalAttr<Sym_ExprAttr>:$trips, Optional<AnyType>:$condition,
                       OptionalAttr<DenseI64ArrayAttr>:$all_after, OptionalAttr<DenseI64ArrayAttr>:$again_after);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $number $label (`trips` custom<Size>($trips)^)? (`while` $condition^ `:` type($condition))?
    (`after` `all` $all_after^)? (`again_all` $again_after^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = phasesDeclaration # [{
    /// The phases that all workers have finished before the first iteration.
    ::llvm::ArrayRef<int64_t> getAwaited() { return getAllAfter() ? *getAllAfter() : ::llvm::ArrayRef<int64_t>(); }
    /// Those of the iteration before that they have finished before each further one, and behind the last.
    ::llvm::ArrayRef<int64_t> getAwaitedAgain() {
      return getAgainAfter() ? *getAgainAfter() : ::llvm::ArrayRef<int64_t>();
    }
  }];
}

def Task_BranchOp : Task_ControlOp<"branch"> {
  let summary = "phases that every worker runs if a bool is true, and others if it is false";
  let description = [{
    `after all` as for phases; the condition is read behind it.
    ```mlir
    task.branch "/if" if %c after all [3] : !graph.tensor<[], i1> {
      task.phase …
    } else {
      task.phase …
    }
    ```
  }];
  let arguments = (ins StrAttr:$label, AnyType:$condition, DenseI64ArrayAttr:$all_after);
  let regions = (region SizedRegion<1>:$then_body, SizedRegion<1>:$else_body);
  let assemblyFormat = [{
    $label `if` $condition `after` `all` $all_after `:` type($condition) attr-dict-with-keyword $then_body `else`
    $else_body
  }];
}

def Task_TurnOp : Task_Op<"turn", [HasParent<"BranchOp">]> {
  let summary = "lets the views of these turns look at their next slices";
  let description = [{
    Ends a side of a branch of the entry that is within no loop and no other branch. The side has written what the views
    with this number look at from here on; where the other side was taken, they look at what they did.
    ```mlir
    %now = task.view %x turn 0 rotate 2 step 4*n : …
    %next = task.view %x turn 0 shift 1 rotate 2 step 4*n : …
    task.branch "/if" if %c after all [3] : !graph.tensor<[], i1> {
      task.phase … // reads %now, writes %next
      task.turn 0
    } else {
    }
    task.phase … // reads %now
    ```
  }];
  let arguments = (ins I64Attr:$number);
  let assemblyFormat = "$number attr-dict";
  let hasVerifier = 1;
}

def Task_PhaseOp : Task_Op<"phase", [ParentOneOf<["ProgramOp", "LoopOp", "BranchOp"]>, SingleBlock, NoTerminator,
                                     NoRegionArguments]> {
  let summary = "one step of every worker: its share of the tiles of one or more independent programs";
  let description = [{
    Phases are numbered in the order of the text. `after all [p]`: every worker has finished phase p before any begins
    this one. `after tiles [p, …]`: all tiles of phase p are done; a worker waits for those that have some, and for
    worker 0, while others may still be busy with earlier phases. `after window [p, …]`: each worker waits for those
    whose tiles of phase p touched elements that its own tiles touch, and for nobody if it has no tiles; it knows of no
    other worker's progress then. A run makes it a wait for all workers where buffers share bytes that are `released`
    later. Both phases are in one block, not within a branch, of a program without run-time sizes. `after same [p, …]`: a
    worker reads only its own writes of p; no wait. `again_all [p]`, `again_window [p, …]` and `again_same [p]` are such
    edges from phases of the iteration before to those of the next one of the innermost loop; in its first iteration they
    are none. Whoever waits at a window of p has then waited for all older iterations of p too. `binds` names
    the run-time symbol whose value is the phase's result: worker 0, which runs tile 0, then derives all sizes anew, and
    deals the tiles of later phases, before it publishes its progress. Without tiles the symbol gets its lower bound.

    `claimed`: in a run on a busy machine a worker that is done with its tiles takes some of those that others have not
    begun. Each of its spaces has a deal of its own, so that no edge `same` rests on it, and its windows, and those of it,
    are as wide as all workers in such a run, as are those between iterations. All workers are in one iteration of it.
    ```mlir
    task.phase "fc1" claimed after all [] window [0] same [] { … }
    ```
  }];
  let arguments = (ins StrAttr:$label, DenseI64ArrayAttr:$all_after, OptionalAttr<DenseI64ArrayAttr>:$tiles_after,
                       OptionalAttr<DenseI64ArrayAttr>:$windows_after, DenseI64ArrayAttr:$same_after,
                       OptionalAttr<DenseI64ArrayAttr>:$again_after,
                       OptionalAttr<DenseI64ArrayAttr>:$again_windows_after,
                       OptionalAttr<DenseI64ArrayAttr>:$again_same_after,
                       OptionalAttr<StrAttr>:$binds, UnitAttr:$claimed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $label (`claimed` $claimed^)? `after` `all` $all_after (`tiles` $tiles_after^)? (`window` $windows_after^)?
    `same` $same_after (`again_all` $again_after^)? (`again_window` $again_windows_after^)?
    (`again_same` $again_same_after^)? (`binds` $binds^)?
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<SpaceOp, 8> getSpaces();
    bool mayAwaitWindows();
    /// Whether the phases lie on two sides of a branch, of which a run takes one.
    bool isAlternativeTo(PhaseOp other);
    /// Whether a worker that begins the phase knows that all have finished it in the iteration before, for each loop
    /// around it.
    bool isAwaitedAgain();
    /// The phases whose tiles are awaited, besides those of `after all`.
    ::llvm::ArrayRef<int64_t> getAwaitedTiles() {
      return getTilesAfter() ? *getTilesAfter() : ::llvm::ArrayRef<int64_t>();
    }
    /// The phases of which each worker awaits the workers that touched its elements.
    ::llvm::ArrayRef<int64_t> getAwaitedWindows() {
      return getWindowsAfter() ? *getWindowsAfter() : ::llvm::ArrayRef<int64_t>();
    }
    /// The phases of the iteration before that all workers have finished.
    ::llvm::ArrayRef<int64_t> getAwaitedAgain() {
      return getAgainAfter() ? *getAgainAfter() : ::llvm::ArrayRef<int64_t>();
    }
    /// Those of the iteration before of which each worker awaits the workers that touched its elements.
    ::llvm::ArrayRef<int64_t> getWindowsAgain() {
      return getAgainWindowsAfter() ? *getAgainWindowsAfter() : ::llvm::ArrayRef<int64_t>();
    }
    /// Those of iterations before of which a worker touches what it touched itself.
    ::llvm::ArrayRef<int64_t> getSameAgain() {
      return getAgainSameAfter() ? *getAgainSameAfter() : ::llvm::ArrayRef<int64_t>();
    }
  }];
}

def Task_SpaceOp : Task_Op<"space", [HasParent<"PhaseOp">, AttrSizedOperandSegments]> {
  let summary = "all tiles of one call of a tile.program";
  let description = [{
    `sizes` are the values of the program's symbols, in symbols of the entry. `reads` and `writes` give, for each
    operand, the number c of consecutive elements that one tile touches: tile t touches nothing outside [t*c, (t+1)*c).
    With `c per d`, d neighbouring tiles share such a block: tile t touches nothing outside that of t floordiv d. The
    blocks of all tiles cover the operand.
    `?` (an attribute `unit`) means any element. No two tiles write the same element; of a buffer that is input and
    output, a tile reads only elements that it writes. `sites` are the numbers of the program's `tile.check`s.
    `operations` counts the floating-point operations of all tiles, `padding` the additional ones whose results are
    discarded. `time` estimates the nanoseconds of one worker for all tiles (0: unknown). The runtime deals the tiles to the workers by
    these times, so that none waits for long; spaces with the same `deal` have equally many tiles, and tile t of all of
    them belongs to the same worker. With `alternate`, odd iterations of the innermost loop around call the program with
    the end of the tiles before their beginning.

    With `service`, the space is one call of the function that the application offers under this name and version, by
    worker 0; `views` are the operands' types, inputs first.
    ```mlir
    task.space @"onednn.relu"(%x) to (%y) sizes [] tiles 1 time 0 scratch 0 reads [?] writes [?] sites []
        service 2 views [!graph.tensor<[n], f32>, !graph.tensor<[n], f32>] : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$program, Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs,
                       ArrayAttr:$sizes, Sym_ExprAttr:$tiles, OptionalAttr<I64Attr>:$deal, Sym_ExprAttr:$time,
                       Sym_ExprAttr:$scratch, ArrayAttr:$reads, ArrayAttr:$writes, DenseI64ArrayAttr:$sites, OptionalAttr<Sym_ExprAttr>:$operations,
                       OptionalAttr<Sym_ExprAttr>:$padding, OptionalAttr<I64Attr>:$service, OptionalAttr<TypeArrayAttr>:$views,
                       UnitAttr:$alternate);
  let extraClassDeclaration = [{
    /// Whether worker 0 has tile 0, however the others are dealt.
    bool needsWorker0();
    /// Whether tile t of both belongs to the same worker in every run.
    bool isDealtAs(SpaceOp other);
  }];
  let assemblyFormat = [{
    $program `(` $inputs `)` `to` ` ` `(` $outputs `)` `sizes` custom<Sizes>($sizes) `tiles` custom<Size>($tiles)
    (`deal` $deal^)? custom<Time>($time) `scratch` custom<Size>($scratch) `reads` custom<Accesses>($reads) `writes` custom<Accesses>($writes) `sites` $sites
    custom<Operations>($operations, $padding) (`service` $service^ `views` $views)? (`alternate` $alternate^)? attr-dict `:` functional-type($inputs, $outputs)
  }];
}

#endif // FREESTONE_COMPILER_DIALECT_TASK_TASKOPS_TD

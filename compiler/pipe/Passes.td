#ifndef FREESTONE_COMPILER_PIPE_PASSES_TD
#define FREESTONE_COMPILER_PIPE_PASSES_TD

include "mlir/Pass/PassBase.td"

def CutStages : Pass<"pipe-cut-stages", "::mlir::ModuleOp"> {
  let summary = "cuts a training step into the stages of a pipeline";
  let description = [{
    In: the functions of a step whose update is apart: `@main`, the gradients of a micro-batch; `@update`; `@evaluate`.
    Out: the functions of every stage s: `@stage_s_forward`, `@stage_s_backward` (with `split`, `@stage_s_input_gradient`
    and `@stage_s_weight_gradient`), `@stage_s_norms`, `@stage_s_update`, `@stage_s_evaluate`. Of stages in `recompute`,
    `@stage_s_recompute` makes once more what their gradients read of the forward pass. Values that go from function to
    function are outputs and inputs `pipe/N`; states keep their names. The module gets `pipe.description`, JSON: who makes
    and who reads each value, and where states are. Operations get `pipe.node` and `pipe.pass`.

    Runs once operations are fused, so that the programs are the same however the step is cut, and results have the same
    bits.
    ```mlir
    func.func @main(%x {graph.name = "x"}, %w {graph.state = "w"}, …) {
      %y = tile.compute …(%x, %w)
      %z = tile.compute …(%y)
    // → with stages = 0,1
    func.func @stage_0_forward(%x {graph.name = "x"}, %w {graph.state = "w"}) -> (%y {graph.name = "pipe/0"})
    func.func @stage_1_forward(%y {graph.name = "pipe/0"}) -> …
    ```
  }];
  let options = [ListOption<"stages", "stages", "int64_t", "The stage of every operation of the forward pass">,
                 Option<"split", "split", "bool", "false", "Gradients of inputs and of weights are functions of their own">,
                 ListOption<"recompute", "recompute", "int64_t", "The stages whose gradients compute the forward pass anew">];
  let dependentDialects = ["::freestone::tile::TileDialect"];
}

def KeepStage : Pass<"pipe-keep-stage", "::mlir::ModuleOp"> {
  let summary = "leaves the functions of one stage";
  let description = [{
    Erases the functions of other stages, and programs that none of the rest calls; the stage's functions lose their
    prefix, and `forward` becomes `main`.
  }];
  let options = [Option<"stage", "stage", "int64_t", "0", "The stage">];
}

#endif // FREESTONE_COMPILER_PIPE_PASSES_TD

// Plans that do not fit their program are refused before code is made of them.
// RUN: freestone-opt %s --codegen-emit-programs --split-input-file --verify-diagnostics

!v = !graph.tensor<[s0], f32>

// expected-error @+1 {{has no plan; run tile-choose-tiles first}}
tile.program @none symbols [s0](%x: !v) -> (!v) {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.map<rows = 1, columns = 8, lanes = 16, vectors = 1>, tiles = s0 ceildiv 4, scratch = 0, reads = [#sym.expr<8>],
                   writes = [#sym.expr<8>]>

// expected-error @+1 {{has a plan whose tiles is not the one that follows from its tiling: #sym.expr<s0 ceildiv 4> instead of #sym.expr<s0 ceildiv 8>}}
tile.program @tiles symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.contraction<
  kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, rows = 28, panels = 8, least_tiles = 32, depth = 64, depth_unit = 16,
  kept_depths = 0, kept_columns = 0, prefetch_rows = 8>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{is tiled as a contraction, but is none}}
tile.program @form symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s1], f32>
!w = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [2], lanes = [16]>, tiles = s0 ceildiv 4, scratch = 0, reads = [unit],
                   writes = [unit]>

// expected-error @+1 {{has no 2 loops over the elements of a row in pass 0}}
tile.program @runs symbols [s0, s1](%x: !v) -> (!w) attributes {plan = #plan} {
  %y = tile.compute [s0, s1] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!v) -> !w
  tile.return %y : !w
}

// -----

!v = !graph.tensor<[s0, s1], f32>
!w = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16]>, tiles = s0 ceildiv 4, scratch = 0, reads = [unit],
                   writes = [unit]>

// expected-error @+1 {{reduces in pass 0 in an order that 16 lanes can't keep}}
tile.program @order symbols [s0, s1](%x: !v) -> (!w) attributes {plan = #plan} {
  %y = tile.compute [s0, s1] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %last: f32):
    %d = arith.subf %a, %last : f32
    tile.yield %d : f32
  } : (!v) -> !w
  tile.return %y : !w
}

// -----

!v = !graph.tensor<[s0, s1], f32>
!w = !graph.tensor<[s1, s0], f32>
#plan = #tile.plan<#tile.transposition<across = 1, rows = 64, columns = 64, width = 8, lanes = 8>, tiles = s0, scratch = 0, reads = [unit],
                   writes = [unit]>

// expected-error @+1 {{is tiled as a transposition across loop 1 in blocks of 8 columns, but its computes have other loops}}
tile.program @across symbols [s0, s1](%x: !v) -> (!w) attributes {plan = #plan} {
  %y = tile.compute [s1, s0] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !w
  tile.return %y : !w
}

// Plans that do not fit their program are refused before code generation.
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
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: it has no axis 1}}
tile.program @form symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], i8>
!y = !graph.tensor<[s0, s0], i32>
#plan = #tile.plan<#tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, groups = 10>, body = [
      #tile.blocks<axis = 1, step = 32, unit = 32, dealt = true, share = <elements = 8192, most_rows = 8192, least_tiles = 4>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, body = [
      #tile.blocks<axis = 3, step = 96, unit = 32, dealt = false, body = [
      #tile.packed<compute = 0, input = 0>, #tile.packed<compute = 0, input = 1>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<lanes = 2, along = 1>]>]>]>]>]>]>]>,
                   tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: dot products are summed in groups of 64 steps, not in blocks of whole units of 32}}
tile.program @groups symbols [s0](%x: !v) -> (!y) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %x : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!v, !v) -> !y
  tile.return %y : !y
}

// -----

!v = !graph.tensor<[s0, s0], i32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2, word_steps = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: products of pairs need factors that fit 16 bits}}
tile.program @pairs symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %x : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0 : i32] {
  ^bb0(%a: i32, %b: i32, %sum: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], i32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2, direct = true>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: dot products alone are told to write their results}}
tile.program @direct symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %x : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0 : i32] {
  ^bb0(%a: i32, %b: i32, %sum: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1, in_place = 14>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: columns that are read in place are neighbours in memory, or lie along the steps of k as rows do}}
tile.program @streamed symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d2, d0)>, %x : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1, together = 4>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: panels that are packed together are of contiguous columns, whole pages apart, that are multiplied and added}}
tile.program @together symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d2, d0)>, %x : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1, far = 4096>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: columns that may be far are contiguous, and multiplied and added}}
tile.program @far symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d2, d0)>, %x : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0, in_place = 64>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: no more than 0 columns read in place rows that lie along the steps of k}}
tile.program @rows_across symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d2, d0)>, %x : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0, in_place = 96>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: no more than 64 columns read in place rows that lie along the steps of k}}
tile.program @many_columns symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %x : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
!w = !graph.tensor<[s0, s0], f32, #tile.panels<axis = 1, width = 32>>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1, in_place = 14>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: panels along the steps of k are read in place whole}}
tile.program @panels_along_depth symbols [s0](%x: !v, %w: !w) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !w) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s0], f32>
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 128, dealt = false, most_depth = 64, body = [#tile.blocks<axis = 1, step = 7, dealt = false, body = [
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>]>]>, tiles = s0, scratch = 0, reads = [unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: strips are blocks of several panels' columns, and of the micro-kernel's 14 rows}}
tile.program @strips symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s0, s0] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %x : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s1], f32>
!w = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [2], lanes = [16], accumulators = [1]>, tiles = s0 ceildiv 4, scratch = 0, reads = [unit],
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
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16], accumulators = [1]>, tiles = s0 ceildiv 4, scratch = 0, reads = [unit],
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
!w = !graph.tensor<[s0], f32>
!i = !graph.tensor<[s0], i64>
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16], accumulators = [2]>, tiles = s0 ceildiv 4, scratch = 0,
                   reads = [unit], writes = [unit, unit]>

// expected-error @+1 {{has no operation that combines 2 accumulators of pass 0}}
tile.program @selection symbols [s0, s1](%x: !v) -> (!w, !i) attributes {plan = #plan} {
  %y, %i = tile.compute [s0, s1] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32, 0] {
  ^bb0(%a: f32, %most: f32, %place: i64):
    %d1 = tile.index 1 : index
    %at = arith.index_cast %d1 : index to i64
    %takes = arith.cmpf ogt, %a, %most : f32
    %m = arith.select %takes, %a, %most : f32
    %p = arith.select %takes, %at, %place : i64
    tile.yield %m, %p : f32, i64
  } : (!v) -> (!w, !i)
  tile.return %y, %i : !w, !i
}

// -----

!v = !graph.tensor<[s0, s1], f32>
#plan = #tile.plan<#tile.window<channels = 1, rows = 4, vectors = 2, lanes = 8, pixels = 64, copy = 512>, tiles = s0, scratch = 0,
                   reads = [unit], writes = [unit]>

// expected-error @+1 {{has one row of pixels, its tiling blocks of 4}}
tile.program @one_row symbols [s0, s1](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s1, 3] [parallel, parallel, reduction] ins(%x : affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 1)>)
      fill [0.0 : f32] init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0, s1], f32>
#plan = #tile.plan<#tile.window<channels = 1, rows = 1, vectors = 2, lanes = 8, pixels = 64, copy = 512>, tiles = s0, scratch = 0,
                   reads = [unit], writes = [unit]>

// expected-error @+1 {{is tiled as a reduction of windows, but is none}}
tile.program @no_window symbols [s0, s1](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
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

// -----

!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.choice<[<size = s1, most = 16, tiling = #tile.map<rows = 1, columns = 4, lanes = 16, vectors = 1>>], otherwise = #tile.map<rows = 1, columns = 8, lanes = 16, vectors = 1>>,
                   tiles = s0 ceildiv 8, scratch = 0, reads = [#sym.expr<8>], writes = [#sym.expr<8>]>

// expected-error @+1 {{chooses a variant by "s1", which is none of its sizes}}
tile.program @symbol symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.choice<[<size = s0 - 4, most = 16, tiling = #tile.map<rows = 1, columns = 4, lanes = 16, vectors = 1>>], otherwise = #tile.map<rows = 1, columns = 8, lanes = 16, vectors = 1>>,
                   tiles = s0 ceildiv 8, scratch = 0, reads = [#sym.expr<8>], writes = [#sym.expr<8>]>

// expected-error @+1 {{chooses a variant by #sym.expr<s0 - 4>, which can be negative for sizes}}
tile.program @negative symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.choice<[<size = s0, most = 16, tiling = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>>], otherwise = #tile.map<rows = 1, columns = 8, lanes = 16, vectors = 1>>,
                   tiles = s0 ceildiv 8, scratch = 0, reads = [#sym.expr<8>], writes = [#sym.expr<8>]>

// expected-error @+1 {{can't be computed by its tree of tiles: it has no axis 1}}
tile.program @one_form symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

// Tiles of both variants.
!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.choice<[<size = s0, most = 16, tiling = #tile.map<rows = 1, columns = 4, lanes = 16, vectors = 1>>], otherwise = #tile.map<rows = 1, columns = 8, lanes = 16, vectors = 1>>,
                   tiles = s0 ceildiv 8, scratch = 0, reads = [#sym.expr<8>], writes = [#sym.expr<8>]>

// expected-error @+1 {{has a plan whose tiles is not the one that follows from its tiling: #sym.expr<s0 ceildiv 8> instead of}}
tile.program @several_tiles symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// -----

!x = !graph.tensor<[s0, s2], f32>
!w = !graph.tensor<[s2, s1], f32>
!y = !graph.tensor<[s0, s1], f32>
#plan = #tile.plan<#tile.rows<row_loops = 2, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 4, block_columns = 4, packed = 0>,
                   tiles = 1, scratch = 0, reads = [unit, unit], writes = [unit]>
// expected-error @+1 {{can't be computed in blocks of results: an operand is packed that depends on rows, may be out of bounds or is no f32}}
tile.program @packed_rows symbols [s0, s1, s2](%x: !x, %w: !w) -> (!y) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  tile.return %0 : !y
}

// -----

!x = !graph.tensor<[s0, s1], f32>
!y = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 4>,
                   tiles = 1, scratch = 0, reads = [unit], writes = [unit]>
// expected-error @+1 {{can't be computed in blocks of results: blocks of results are those of one reduction, with two row loops at least}}
tile.program @blocks_of_one_loop symbols [s0, s1](%x: !x) -> (!y) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!x) -> !y
  tile.return %0 : !y
}

// -----

!x = !graph.tensor<[s0, 9, 20, 20], f32>
!g = !graph.tensor<[s0, 9, 10, 10], f32>
!y = !graph.tensor<[9, 3, 3], f32>
#plan = #tile.plan<#tile.rows<row_loops = 3, rows = 1, run_loops = [3], lanes = [16], accumulators = [1], block_rows = 3, block_columns = 3, packed = 0>,
                   tiles = 1, scratch = 0, reads = [unit, unit], writes = [unit]>
// expected-error @+1 {{an operand is copied with its border that is no f32, or whose elements are not in a row along the sum}}
tile.program @picture_across symbols [s0](%x: !x, %g: !g) -> (!y) attributes {plan = #plan} {
  %0 = tile.compute [9, 3, 3, s0, 10, 10] [parallel, parallel, parallel, reduction, reduction, reduction]
       ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d2 + d5 * 2 - 1, d1 + d4 * 2 - 1)>,
           %g : affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d4, d5)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !g) -> !y
  tile.return %0 : !y
}

// -----

!x = !graph.tensor<[s0, 9, 10, 10], f32>
!g = !graph.tensor<[s0, 9, 10, 10], f32>
!y = !graph.tensor<[9, 3], f32>
#plan = #tile.plan<#tile.rows<row_loops = 2, rows = 1, run_loops = [3], lanes = [16], accumulators = [1], block_columns = 3, packed = 1>,
                   tiles = 1, scratch = 0, reads = [unit, unit], writes = [unit]>
// expected-error @+1 {{columns are packed along a single loop}}
tile.program @columns_of_several_loops symbols [s0](%x: !x, %g: !g) -> (!y) attributes {plan = #plan} {
  %0 = tile.compute [9, 3, s0, 10, 10] [parallel, parallel, reduction, reduction, reduction]
       ins(%x : affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d3, d4)>,
           %g : affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d3, d4)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !g) -> !y
  tile.return %0 : !y
}

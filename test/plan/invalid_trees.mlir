// Trees of tiles that do not compute their program are refused.
// RUN: freestone-opt %s --codegen-emit-programs --split-input-file --verify-diagnostics

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 3, columns = 4>]>
    ]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: a compute is missing in its tree}}
tile.program @missing symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 0, columns = 1>, #tile.multiply<compute = 3, columns = 4>]>,
      #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: a value is read before it is computed}}
tile.program @order symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>]>,
      #tile.multiply<compute = 3, columns = 4>, #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: a compute needs all blocks of axis 2 at once}}
tile.program @outlived symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 3, columns = 4>]>,
      #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: an operand of compute 0 is neither packed nor an intermediate of its rows}}
tile.program @unpacked symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!g = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 0>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.packed<compute = 0, input = 1>,
      #tile.blocks<axis = 1, step = 64, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 3, columns = 4>], masked_by = 1>,
      #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 2>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: a sum of masked blocks is not of what compute 1 masks}}
tile.program @addend symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %g: !g, %most: !rows) -> (!v) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %most : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %m: f32):
    %i = tile.index 1 : index
    %j = tile.index 2 : index
    %behind = arith.cmpi slt, %i, %j : index
    %lowest = arith.constant 0xFF800000 : f32
    %t = arith.select %behind, %lowest, %a : f32
    %d = arith.subf %t, %m : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel] ins(%1 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.addf %a, %one : f32
    tile.yield %n : f32
  } : (!scores) -> !scores
  %3 = tile.compute [s0, s3, s4, s1] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, %g : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !g) -> !v
  %4 = tile.compute [s0, s3, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!v) -> !v
  tile.return %4 : !v
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!g = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 0>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.packed<compute = 0, input = 1>,
      #tile.blocks<axis = 1, step = 64, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 3, columns = 4>], masked_by = 1>,
      #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 2>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: compute 1 has no masked values within its blocks}}
tile.program @finite symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %g: !g, %most: !rows) -> (!v) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %most : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %m: f32):
    %i = tile.index 1 : index
    %j = tile.index 2 : index
    %behind = arith.cmpi slt, %i, %j : index
    %lowest = arith.constant -3.0e38 : f32
    %t = arith.select %behind, %lowest, %a : f32
    %d = arith.subf %t, %m : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel] ins(%1 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.mulf %a, %one : f32
    tile.yield %n : f32
  } : (!scores) -> !scores
  %3 = tile.compute [s0, s3, s4, s1] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, %g : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !g) -> !v
  %4 = tile.compute [s0, s3, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!v) -> !v
  tile.return %4 : !v
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 2, along = 1>]>, #tile.multiply<compute = 3, columns = 4>]>,
      #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: an intermediate lacks the axis of its vectors}}
tile.program @across symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 3, columns = 4>], masked_by = 1>,
      #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: compute 1 has no masked values within its blocks}}
tile.program @mask symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>]>,
      #tile.multiply<compute = 3, columns = 4>, #tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: what is evaluated stands within vectors}}
tile.program @outlived symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1>, #tile.vectors<axis = 1, lanes = 8, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>]>,
      #tile.multiply<compute = 3, columns = 4>, #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [4], lanes = 4, along = 1>]>]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: vectors of an axis have 16 lanes, and one node that evaluates along these}}
tile.program @outlived symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

// -----

!q = !graph.tensor<[s0, s1, s2], f32>
!k = !graph.tensor<[s0, s3, s2], f32>
!v = !graph.tensor<[s0, s3, s4], f32>
!o = !graph.tensor<[s0, s1, s4], f32>
!rows = !graph.tensor<[s0, s1], f32>
!scores = !graph.tensor<[s0, s1, s3], f32>
#tree = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 0, step = 1, dealt = true, body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 3, input = 1>,
    #tile.blocks<axis = 1, step = 32, dealt = true, body = [#tile.packed<compute = 0, input = 0>, 
      #tile.blocks<axis = 2, step = 126, dealt = false, body = [#tile.multiply<compute = 0, columns = 1, direct = true>, #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2], lanes = 1, along = 2>]>, #tile.multiply<compute = 3, columns = 4>]>
    ]>]>]>
#plan = #tile.plan<#tree, tiles = s0, scratch = 0, reads = [unit, unit, unit], writes = [unit]>

// expected-error @+1 {{can't be computed by its tree of tiles: results that dot products write are those of a single contraction}}
tile.program @missing symbols [s0, s1, s2, s3, s4](%q: !q, %k: !k, %v: !v) -> (!o) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s3, s2] [parallel, parallel, parallel, reduction]
      ins(%q : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %k : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!q, !k) -> !scores
  %1 = tile.compute [s0, s1, s3] [parallel, parallel, reduction] ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!scores) -> !rows
  %2 = tile.compute [s0, s1, s3] [parallel, parallel, parallel]
      ins(%0 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %most: f32):
    %d = arith.subf %a, %most : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } : (!scores, !rows) -> !scores
  %3 = tile.compute [s0, s1, s4, s3] [parallel, parallel, parallel, reduction]
      ins(%2 : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %v : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!scores, !v) -> !o
  %4 = tile.compute [s0, s1, s4] [parallel, parallel, parallel] ins(%3 : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!o) -> !o
  tile.return %4 : !o
}

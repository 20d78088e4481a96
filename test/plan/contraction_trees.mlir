// The tree of a single contraction: sums that nothing follows on may stay in scratch until they are stored, or be written
// to the result by the micro-kernel. A tree that does not compute its contraction is refused.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s
// RUN: sed -e 's/, #tile.blocks<axis = 1, step = 1, .*evaluate<lanes = .*ahead = 8>]>]>//; /^tile.program @sum/,/^}/d' %s \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=DIRECT
// RUN: sed -e 's/axis = 1, step = 14/axis = 1, step = 28/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: sed -e 's/step = 32, dealt = true/step = 64, dealt = true/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: sed -e 's/axis = 3/axis = 1/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: sed -e 's/#tile.packed<compute = 0, input = 0>,//' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=UNPACKED
// RUN: sed -e 's/input = 0/input = 0, kept = 1/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: sed -e 's/step = 32, dealt = false/step = 64, dealt = false/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=PANELS
// RUN: sed -e 's/input = 1/input = 0/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=OPERANDS
// RUN: sed -e 's/#tile.packed<compute = 0, input = 1>,//' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=STORED
// RUN: sed -e 's/multiply<compute = 0, columns = 2>/multiply<compute = 0, columns = 1>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=ALONG
// RUN: sed -e 's/, #tile.blocks<axis = 1, step = 1, .*computes = .1.*ahead = 8>]>]>//' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: sed -e 's/computes = .1./computes = [2]/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=COMPUTES
// RUN: sed -e 's/lanes = 2, along = 1/lanes = 1, along = 2/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=VECTORS
// RUN: sed -e 's/lanes = 16, together = 2/lanes = 8, together = 2/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: sed -e 's/axis = 1, step = 1,/axis = 1, step = 2,/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: sed -e 's/columns = 2>/columns = 2, skip_taps = true>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=TAPS
// RUN: sed -e 's/input = 0>/input = 0, apart = true>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=APART
// RUN: sed -e 's/lanes = 16, together = 2/lanes = 16, together = 1/' %s | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=SINGLE

// ROWS: can't be computed by its tree of tiles: rows are dealt in a share of steps of the micro-kernel's 14
// COLUMNS: can't be computed by its tree of tiles: columns are dealt within rows, panel by panel of 32
// STEPS: can't be computed by its tree of tiles: tiles are computed in blocks of steps of a constant size
// UNPACKED: can't be computed by its tree of tiles: a block of steps begins with packed rows
// BOUND: can't be computed by its tree of tiles: operand 0 of compute 0 is kept for 1 dealt axes, up to a number of elements
// PANELS: can't be computed by its tree of tiles: behind what is packed, columns are computed panel by panel of 32
// OPERANDS: can't be computed by its tree of tiles: operand 0 has the rows, operand 1 the columns
// STORED: can't be computed by its tree of tiles: columns that are not stored in panels are not packed
// ALONG: can't be computed by its tree of tiles: compute 0 is multiplied panel by panel, with vectors along columns
// NOTHING: can't be computed by its tree of tiles: the product is not the result, but nothing evaluates it
// COMPUTES: can't be computed by its tree of tiles: all computes behind the product are evaluated, in their order
// VECTORS: can't be computed by its tree of tiles: sums are evaluated with lanes along columns, row by row
// LANES: can't be computed by its tree of tiles: sums are evaluated in vectors of 16 columns, as many at a time as divide the 2 of a panel
// BEHIND: can't be computed by its tree of tiles: behind its product, a panel has what is evaluated, in vectors of each row, and nothing else
// TAPS: can't be computed by its tree of tiles: taps that are skipped are those of a convolution
// APART: can't be computed by its tree of tiles: pictures that are copied apart are those of weight gradients

!x = !graph.tensor<[s0, s2], f32>
!w = !graph.tensor<[s2, s1], f32>
!y = !graph.tensor<[s0, s1], f32>

// CHECK-LABEL: func.func @product
// CHECK:         call @freestone_contract
// CHECK:         vector.load
// CHECK:         vector.store
// DIRECT-LABEL: func.func @product
// DIRECT:        call @freestone_contract
// DIRECT-NOT:    vector.load
// DIRECT-LABEL: module @contract
#stored = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 1>, body = [
    #tile.blocks<axis = 2, step = 32, dealt = true, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
        #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>,
          #tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<lanes = 2, along = 1, ahead = 8>]>]>]>]>]>]>]>
tile.program @product symbols [s0, s1, s2](%x: !x, %w: !w) -> (!y)
    attributes {plan = #tile.plan<#stored,
      tiles = (s1 ceildiv 32)*(s0 ceildiv (14*min((s0*(s1 ceildiv 32)) floordiv 14, 292 floordiv (min(s2, 32) + 32), 1024 floordiv (min(s1, 992) + 32)) + 14)), scratch = 64*(min(s0*s1 + 32*s0 + 14*s1, 4096) ceildiv 16) + 64*(min(s0*s2 + s0*min(s2, 48) + 16*s0 + 14*s2 + 672, s0*s2 + s0*min(s2, 48) + 16*s0 + 28*s2, 4768) ceildiv 16) + 64*(min(s1*s2 + s1*min(s2, 48) + 16*s1 + 32*s2 + 1536, s1*s2 + s1*min(s2, 48) + 16*s1 + 64*s2, 1536) ceildiv 16) + 5632, reads = [unit, unit], writes = [unit]>} {
  %c = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  tile.return %c : !y
}

#evaluated = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
  #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 1>, body = [
    #tile.blocks<axis = 2, step = 32, dealt = true, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
        #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>,
          #tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1], lanes = 2, along = 1, ahead = 8>]>]>]>]>]>]>]>
// CHECK-LABEL: func.func @sum
// CHECK:         call @freestone_contract
// CHECK:         llvm.intr.prefetch
// CHECK:         arith.addf %{{.*}} : vector<32xf32>
// CHECK:         arith.addf %{{.*}} : vector<16xf32>
// SINGLE-LABEL: func.func @sum
// SINGLE-NOT:    vector<32xf32>
// SINGLE-LABEL: module @contract
tile.program @sum symbols [s0, s1, s2](%x: !x, %w: !w, %z: !y) -> (!y)
    attributes {plan = #tile.plan<#evaluated,
      tiles = (s1 ceildiv 32)*(s0 ceildiv (14*min((s0*(s1 ceildiv 32)) floordiv 14, 292 floordiv (min(s2, 32) + 32), 1024 floordiv (min(s1, 992) + 32)) + 14)), scratch = 64*(min(s0*s1 + 32*s0 + 14*s1, 4096) ceildiv 16) + 64*(min(s0*s2 + s0*min(s2, 48) + 16*s0 + 14*s2 + 672, s0*s2 + s0*min(s2, 48) + 16*s0 + 28*s2, 4768) ceildiv 16) + 64*(min(s1*s2 + s1*min(s2, 48) + 16*s1 + 32*s2 + 1536, s1*s2 + s1*min(s2, 48) + 16*s1 + 64*s2, 1536) ceildiv 16) + 5632, reads = [unit, unit, unit], writes = [unit]>} {
  %c = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%c : affine_map<(d0, d1) -> (d0, d1)>, %z : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!y, !y) -> !y
  tile.return %y : !y
}

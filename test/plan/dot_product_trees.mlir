// The tree of a product of words: rows in blocks of whole units, columns of a run packed before its panels. A tree that
// dot products can't compute is refused.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s
// RUN: sed -e 's/unit = 32, dealt = true/dealt = true/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: sed -e 's/, together = 4, body/, together = 4, share = <elements = 4096, most_rows = 64, least_tiles = 1>, body/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: sed -e 's/step = 256, unit = 64/step = 256, unit = 32/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: sed -e 's/\(, #tile.packed<compute = 0, input = 1[^>]*>\)\(, #tile.blocks<[^>]*body = .\)/\2#tile.packed<compute = 0, input = 1>, /' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=PANELS
// RUN: sed -e 's/dealt = false, body = .#tile.multiply/dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed -e 's/columns = 2>/columns = 2, direct = true>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=DIRECT
// RUN: sed -e 's/columns = 2>/columns = 2, word_steps = 2>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=WORDS
// RUN: sed -e 's/, #tile.blocks<axis = 1, step = 1, .*evaluate<[^>]*>]>]>//' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: sed -e 's/groups = 10>/groups = 10, parts = 3>/; s/step = 32, unit = 32, dealt = true, share = <[^>]*>/step = 64, unit = 32, dealt = true/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=FACTORS
// RUN: sed -e 's/groups = 10>/groups = 10, parts = 3>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: sed -e 's/kernel = #tile.dot_product_kernel<unit = tiles, groups = 10>/kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: sed -e 's/whole = true>/whole = true, in_place = 4>/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=INPLACE
// RUN: sed -e 's/whole = true>/whole = true, in_place = 5>/; s/unit = tiles/unit = vectors/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=MANY

// ROWS: can't be computed by its tree of tiles: blocks of rows have whole units of 32
// SPLIT: can't be computed by its tree of tiles: rows of products that are split are dealt in blocks of so many
// COLUMNS: can't be computed by its tree of tiles: columns are dealt within rows, panel by panel of 32
// GROUPS: can't be computed by its tree of tiles: dot products are summed in groups of 64 steps, not in blocks of whole units of 32
// PANELS: can't be computed by its tree of tiles: columns of words are packed before the panels of a run are computed
// TWICE: can't be computed by its tree of tiles: columns are packed twice
// DIRECT: can't be computed by its tree of tiles: vectors of sums, or of these as bf16, are no rows of the result that the product could write
// WORDS: can't be computed by its tree of tiles: dot products have words of their own, and bring no results
// INPLACE: can't be computed by its tree of tiles: dot products of single words on vectors alone, or of bf16 beside a matrix unit, read operands in place
// MANY: can't be computed by its tree of tiles: no more than 0 rows and 256 columns read the other operand in place
// SUMS: can't be computed by its tree of tiles: sums of dot products are evaluated
// FACTORS: can't be computed by its tree of tiles: it has no factors of f32 that can be split
// KERNEL: can't be computed by its tree of tiles: rows are dealt in a share of steps of the micro-kernel's 14

!x = !graph.tensor<[100, 300], i8>
!w = !graph.tensor<[300, 200], i8>
!y = !graph.tensor<[100, 200], i32>
#tree = #tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, groups = 10>, body = [
  #tile.blocks<axis = 1, step = 32, unit = 32, dealt = true, share = <elements = 8192, most_rows = 8192, least_tiles = 4>, body = [
    #tile.blocks<axis = 2, step = 32, dealt = true, together = 4, body = [
      #tile.blocks<axis = 3, step = 256, unit = 64, dealt = false, body = [
        #tile.packed<compute = 0, input = 0, kept = 1, most = 16384>, #tile.packed<compute = 0, input = 1, kept = 2, most = 131072, whole = true>, #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<lanes = 2, along = 1, ahead = 8>]>]>]>]>]>]>]>

// CHECK-LABEL: func.func @product
// CHECK: call @freestone_dot_products_enter
// CHECK: call @freestone_dot_products_s8s8
// CHECK: call @freestone_dot_products_leave
tile.program @product symbols [](%x: !x, %w: !w) -> (!y)
    attributes {plan = #tile.plan<#tree, tiles = 14, scratch = 152576, reads = [#tile.shared_block<elements = 19200, tiles = 7>, unit], writes = [#tile.shared_block<elements = 12800, tiles = 7>]>} {
  %c = tile.compute [100, 200, 300] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!x, !w) -> !y
  tile.return %c : !y
}

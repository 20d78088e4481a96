// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+amx-bf16 split-products=false" | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+amx-bf16 variants=false" | FileCheck %s --check-prefix=SINGLE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 --codegen-emit-programs | FileCheck %s --check-prefix=EMITTED
// RUN: freestone-opt %s --tile-choose-tiles='target={{"triple":"x86_64-unknown-linux-gnu","cpu":"x86-64-v4","features":"","memory_levels":[{"bytes":49152},{"bytes":2097152}],"vector_bytes":64,"vector_registers":32,"pair_unit":"tiles"}}' | FileCheck %s --check-prefix=LARGE
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+amx-bf16 variants=false" | sed -e 's/, whole = true//' | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=WHOLE

// WHOLE: can't be computed by its tree of tiles: columns that are split are kept whole

// CHECK: split_products = 4 : i64
// NONE-NOT: split_products
// NONE-NOT: #tile.dot_product_kernel

// SINGLE: split_products = 2 : i64
// SINGLE-NOT: #tile.choice

// Runs with few rows multiply and add.
// CHECK-LABEL: tile.program @rows
// With 2 MiB of L2, a block of 3072 columns doesn't fit it, so that more rows read each panel.
// LARGE-LABEL: tile.program @rows
// LARGE-SAME: #tile.blocks<axis = 1, step = 512, unit = 32, dealt = true, body = [#tile.blocks<axis = 2, step = 32, dealt = true, together = 16, body = [#tile.blocks<axis = 3, step = 256, unit = 32,
// CHECK-SAME: #tile.choice<[<size = -min({{.*}}, 144) + 144, most = 0, tiling = #tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, groups = {{[0-9]+}}, parts = 3>, {{.*}}unit = 32, dealt = false, body = [#tile.packed<compute = 0, input = 0, kept = 1, most = {{[0-9]+}}>,
// CHECK-SAME:   #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1, kept = 2, most = {{[0-9]+}}, whole = true>, #tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<lanes = 2, along = 1, ahead = 8>]>]>]>
// CHECK-SAME: #tile.tree<kernel = <
// EMITTED-LABEL: func.func @rows.contraction
// EMITTED: call @freestone_contract_f32
// EMITTED-LABEL: func.func @rows.0
// EMITTED: call @freestone_dot_products_enter
// EMITTED: call @freestone_dot_products_bf16x3
// A sum that is no number is computed again of the elements.
// EMITTED: arith.cmpf uno
// EMITTED: call @freestone_dot_products_leave
tile.program @rows symbols [s0](%x: !graph.tensor<[s0, 768], f32>, %w: !graph.tensor<[768, 3072], f32>)
    -> (!graph.tensor<[s0, 3072], f32>) {
  %0 = tile.compute [s0, 3072, 768] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 768], f32>, !graph.tensor<[768, 3072], f32>) -> !graph.tensor<[s0, 3072], f32>
  tile.return %0 : !graph.tensor<[s0, 3072], f32>
}

// CHECK-LABEL: tile.program @known
// LARGE-LABEL: tile.program @known
// LARGE-SAME: #tile.blocks<axis = 1, step = 256, unit = 32, dealt = true, body = [#tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [#tile.blocks<axis = 3, step = 256, unit = 32,
// CHECK-SAME: plan<#tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, {{.*}}parts = 3>
tile.program @known symbols [](%x: !graph.tensor<[512, 768], f32>, %w: !graph.tensor<[768, 512], f32>) -> (!graph.tensor<[512, 512], f32>) {
  %0 = tile.compute [512, 512, 768] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[512, 768], f32>, !graph.tensor<[768, 512], f32>) -> !graph.tensor<[512, 512], f32>
  tile.return %0 : !graph.tensor<[512, 512], f32>
}

// Steps of k may be several loops that are no run of memory: vectors run along rows and columns.
// CHECK-LABEL: tile.program @steps
// CHECK-SAME: plan<#tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, {{.*}}parts = 3>
tile.program @steps symbols [](%x: !graph.tensor<[64, 16, 512], f32>, %g: !graph.tensor<[16, 64, 512], f32>) -> (!graph.tensor<[512, 512], f32>) {
  %0 = tile.compute [512, 512, 64, 16] [parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>, %g : affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[64, 16, 512], f32>, !graph.tensor<[16, 64, 512], f32>) -> !graph.tensor<[512, 512], f32>
  tile.return %0 : !graph.tensor<[512, 512], f32>
}

// Columns that are packed in parts before a loop repay few rows: the kernel reads them where they lie.
// CHECK-LABEL: tile.program @parts
// LARGE-LABEL: tile.program @parts
// LARGE-SAME: groups = 32, parts = 3>, {{.*}}axis = 3, step = 1024,
// CHECK-SAME: #tile.choice<[<size = -min(s0, 9) + 9, most = 0, tiling = #tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, {{.*}}parts = 3>, {{.*}}unit = 32, dealt = false, body = [#tile.packed<compute = 0, input = 0, kept = 1, most = {{[0-9]+}}>,
// CHECK-SAME:   #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.multiply<compute = 0, columns = 2>,
// Of half a strip, each second panel is multiplied with the one before it.
// EMITTED-LABEL: func.func @parts.0
// EMITTED:      arith.cmpi sle, %{{.*}}, %c16
// EMITTED:      %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// EMITTED:      arith.select %{{.*}}, %{{.*}}, %[[NULL]] : !llvm.ptr
// EMITTED:      call @freestone_dot_products_bf16x3
tile.program @parts symbols [s0, s1](%h: !graph.tensor<[s0, 256], f32>, %r: !graph.tensor<[256, 1024], f32, #tile.panels<axis = 1, width = 32>>,
                                     %p: !graph.tensor<[256, s1], f32, #tile.parts<count = 3, fewest_rows = 9>>)
    -> (!graph.tensor<[s0, 1024], f32>) {
  %0 = tile.compute [s0, 1024, 256] [parallel, parallel, reduction]
      ins(%h : affine_map<(d0, d1, d2) -> (d0, d2)>, %r : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] reads(%p) {
  ^bb0(%a: f32, %b: f32, %sum: f32, %parts: !graph.tensor<[256, s1], f32, #tile.parts<count = 3, fewest_rows = 9>>):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %m : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 256], f32>, !graph.tensor<[256, 1024], f32, #tile.panels<axis = 1, width = 32>>,
       !graph.tensor<[256, s1], f32, #tile.parts<count = 3, fewest_rows = 9>>) -> !graph.tensor<[s0, 1024], f32>
  tile.return %0 : !graph.tensor<[s0, 1024], f32>
}

// Few columns never repay splitting.
// CHECK-LABEL: tile.program @narrow
// CHECK-NOT: #tile.dot_product_kernel
tile.program @narrow symbols [s0](%x: !graph.tensor<[s0, 768], f32>, %w: !graph.tensor<[768, 48], f32>)
    -> (!graph.tensor<[s0, 48], f32>) {
  %0 = tile.compute [s0, 48, 768] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 768], f32>, !graph.tensor<[768, 48], f32>) -> !graph.tensor<[s0, 48], f32>
  tile.return %0 : !graph.tensor<[s0, 48], f32>
}

// EMITTED-LABEL: module @dot_products_bf16x3
// EMITTED:         llvm.ptrtoint
// EMITTED:         scf.for
// EMITTED-COUNT-24:  llvm.x86.tdpbf16ps
// EMITTED:         scf.yield

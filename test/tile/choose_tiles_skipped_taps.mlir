// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v4 skip-taps=false' | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s --check-prefix=CODE

// OFF-NOT: skip
// OFF:     tile.program @inside
// CHECK:   skipped_taps = 1 : i64

// Taps of a dilated window read zeros beyond the picture alone: rows that miss some sum a list of the others.
// CHECK-LABEL: tile.program @dilated
// CHECK-SAME:    #tile.convolution<{{.*}}skip_taps = true, copy_ahead = 16>
// CODE-LABEL:  func.func @dilated
// CODE:          scf.if
// CODE:            call @freestone_window_f32_14x32x2
// CODE-NEXT:     } else {
// CODE:            call @freestone_listed_f32_14x32x2
tile.program @dilated symbols [n, h, w](%x: !graph.tensor<[n, 64, h, w], f32>,
                                        %k: !graph.tensor<[64, 3, 3, 96], f32, #tile.panels<axis = 3, width = 32>>)
    -> (!graph.tensor<[n, 96, h, w], f32>) {
  %0 = tile.compute [n, 96, h, w, 64, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 * 12 - 12, d3 + d6 * 12 - 12)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 64, h, w], f32>, !graph.tensor<[64, 3, 3, 96], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 96, h, w], f32>
  tile.return %0 : !graph.tensor<[n, 96, h, w], f32>
}

// Without a border, all taps are in the picture.
// CHECK-LABEL: tile.program @inside
// CHECK-NOT:     skip_taps
// CODE-LABEL:  func.func @inside
// CODE-NOT:      call @freestone_listed
// CODE:          call @freestone_window_f32_14x32x2
// CODE-NOT:      call @freestone_listed
// CODE:          return
tile.program @inside symbols [n, h, w](%x: !graph.tensor<[n, 64, h + 24, w + 24], f32>,
                                       %k: !graph.tensor<[64, 3, 3, 96], f32, #tile.panels<axis = 3, width = 32>>)
    -> (!graph.tensor<[n, 96, h, w], f32>) {
  %0 = tile.compute [n, 96, h, w, 64, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 * 12, d3 + d6 * 12)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 64, h + 24, w + 24], f32>, !graph.tensor<[64, 3, 3, 96], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 96, h, w], f32>
  tile.return %0 : !graph.tensor<[n, 96, h, w], f32>
}

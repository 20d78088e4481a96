// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: sed 's/width = 32/width = 16/' %s | freestone-opt --tile-choose-tiles=target=x86-64-v3 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v4 pictures-together=false' | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s --check-prefix=CODE

// OFF-NOT: pictures
// OFF:     tile.program @large
// CHECK:   pictures_together = 2 : i64

// Of pictures of nine pixels and many channels, those of a batch read each panel of weights together.
// CHECK-LABEL: tile.program @small
// CHECK-SAME:    #tile.convolution<{{.*}}pictures = 64, {{.*}}copy_ahead = 16>
// CHECK-SAME:    tiles = {{.*}}n ceildiv
// A single one is copied in vectors, several ones pixel by pixel.
// CODE-LABEL:  func.func @small
// CODE:          scf.if
// CODE:            vector.maskedload
// CODE:          } else {
// CODE:            memref.load {{.*}} : memref<?xi64>
// CODE-NEXT:       arith.index_cast
// CODE:            memref.load {{.*}} : memref<?xf32>
// CODE-NEXT:       arith.muli
// CODE-NEXT:       arith.addi
// CODE-NEXT:       memref.store {{.*}} : memref<?xf32>
// CODE:          call @freestone_window_f32_14x32x2
tile.program @small symbols [n](%x: !graph.tensor<[n, 512, 3, 3], f32>,
                                %k: !graph.tensor<[512, 3, 3, 512], f32, #tile.panels<axis = 3, width = 32>>)
    -> (!graph.tensor<[n, 512, 3, 3], f32>) {
  %0 = tile.compute [n, 512, 3, 3, 512, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 512, 3, 3], f32>, !graph.tensor<[512, 3, 3, 512], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 512, 3, 3], f32>
  tile.return %0 : !graph.tensor<[n, 512, 3, 3], f32>
}

// Depths without taps are pictures, and their loop one with that of the batch.
// CHECK-LABEL: tile.program @depths
// CHECK-SAME:    #tile.convolution<{{.*}}pictures = 64, {{.*}}copy_ahead = 16>
tile.program @depths symbols [n, d](%x: !graph.tensor<[n, 256, d, 3, 3], f32>,
                                    %k: !graph.tensor<[256, 3, 3, 512], f32, #tile.panels<axis = 3, width = 32>>)
    -> (!graph.tensor<[n, 512, d, 3, 3], f32>) {
  %0 = tile.compute [n, 512, d, 3, 3, 256, 3, 3] [parallel, parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d5, d2, d3 + d6 - 1, d4 + d7 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d1)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 256, d, 3, 3], f32>, !graph.tensor<[256, 3, 3, 512], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 512, d, 3, 3], f32>
  tile.return %0 : !graph.tensor<[n, 512, d, 3, 3], f32>
}

// A large picture fills a tile alone.
// CHECK-LABEL: tile.program @large
// CHECK-NOT:     pictures
// CODE-LABEL:  func.func @large
// CODE-NOT:      memref.store {{.*}} : memref<?xf32>
// CODE:          return
tile.program @large symbols [n](%x: !graph.tensor<[n, 512, 56, 56], f32>,
                                %k: !graph.tensor<[512, 3, 3, 512], f32, #tile.panels<axis = 3, width = 32>>)
    -> (!graph.tensor<[n, 512, 56, 56], f32>) {
  %0 = tile.compute [n, 512, 56, 56, 512, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 512, 56, 56], f32>, !graph.tensor<[512, 3, 3, 512], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 512, 56, 56], f32>
  tile.return %0 : !graph.tensor<[n, 512, 56, 56], f32>
}

// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 --codegen-emit-programs | FileCheck %s --check-prefix=CODE
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v3 pair-products=false" | FileCheck %s --check-prefix=OFF

// Convolutions of bf16 are dot products where the device has them, their windows packed as they are; so are the gradients
// of their weights, whose positions are summed.
// CHECK-LABEL: tile.program @of_results
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<
// NONE-LABEL: tile.program @of_results
// NONE-SAME: #tile.tree<kernel = <
tile.program @of_results symbols [b, h, w](%x: !graph.tensor<[b, 24, h, w], bf16>, %k: !graph.tensor<[40, 24, 3, 3], bf16>)
    -> (!graph.tensor<[b, 40, h, w], f32>) {
  %0 = tile.compute [b, 40, h, w, 24, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : bf16, unit] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, 24, h, w], bf16>, !graph.tensor<[40, 24, 3, 3], bf16>) -> !graph.tensor<[b, 40, h, w], f32>
  tile.return %0 : !graph.tensor<[b, 40, h, w], f32>
}

// CHECK-LABEL: tile.program @of_weights
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<
// NONE-LABEL: tile.program @of_weights
// NONE-SAME: #tile.weight_gradient<
tile.program @of_weights symbols [b](%x: !graph.tensor<[b, 24, 28, 28], bf16>, %dy: !graph.tensor<[b, 40, 28, 28], bf16>)
    -> (!graph.tensor<[40, 24, 3, 3], f32>) {
  %0 = tile.compute [40, 24, 3, 3, b, 28, 28] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%dy : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>,
          %x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5 + d2 - 1, d6 + d3 - 1)>) fill [unit, 0.0 : bf16] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, 40, 28, 28], bf16>, !graph.tensor<[b, 24, 28, 28], bf16>) -> !graph.tensor<[40, 24, 3, 3], f32>
  tile.return %0 : !graph.tensor<[40, 24, 3, 3], f32>
}

// Bytes are widened to words of two steps, in rows without masks where these lie within the picture.
// NONE-LABEL: tile.program @of_bytes
// NONE-SAME: word_steps = 2
// OFF-LABEL: tile.program @of_bytes
// OFF-NOT: word_steps
// CODE-LABEL: func.func @of_bytes
// CODE: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// CODE: vector.maskedload {{.*}} : memref<?xi8>, vector<16xi1>, vector<16xi8> into vector<16xi8>
// CODE-NEXT: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// CODE: arith.select {{.*}} : vector<16xi1>, vector<16xi16>
tile.program @of_bytes symbols [b, h, w](%x: !graph.tensor<[b, 24, h, w], ui8>, %k: !graph.tensor<[40, 24, 3, 3], i8>)
    -> (!graph.tensor<[b, 40, h, w], i32>) {
  %0 = tile.compute [b, 40, h, w, 24, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [7 : i8, unit] init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[b, 24, h, w], ui8>, !graph.tensor<[40, 24, 3, 3], i8>) -> !graph.tensor<[b, 40, h, w], i32>
  tile.return %0 : !graph.tensor<[b, 40, h, w], i32>
}

// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s

// Rows of one of two tensors: where none of a vector is read, its address is that of the first element, which is mapped.
// CHECK-LABEL: func.func @joined
// CHECK:         %[[ofFirst:.*]] = arith.cmpi ult, %{{.*}}, %c32{{.*}} : index
// CHECK:         %[[first:.*]] = arith.select %[[ofFirst]], %{{.*}}, %c0{{.*}} : index
// CHECK:         vector.maskedload %{{.*}}[%[[first]]]
// CHECK:         %[[ofSecond:.*]] = arith.cmpi ult, %{{.*}}, %c64{{.*}} : index
// CHECK:         %[[second:.*]] = arith.select %[[ofSecond]], %{{.*}}, %c0{{.*}} : index
// CHECK:         vector.maskedload %{{.*}}[%[[second]]]
tile.program @joined symbols [n](%x: !graph.tensor<[32, n], f32>, %y: !graph.tensor<[64, n], f32>)
    -> (!graph.tensor<[96, n], f32>) {
  %0 = tile.compute [96, n] [parallel, parallel]
      ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %y : affine_map<(d0, d1) -> (d0 - 32, d1)>) fill [0.0 : f32, 0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %row = tile.index 0 : index
    %c32 = arith.constant 32 : index
    %first = arith.cmpi slt, %row, %c32 : index
    %v = arith.select %first, %a, %b : f32
    tile.yield %v : f32
  } : (!graph.tensor<[32, n], f32>, !graph.tensor<[64, n], f32>) -> !graph.tensor<[96, n], f32>
  tile.return %0 : !graph.tensor<[96, n], f32>
}

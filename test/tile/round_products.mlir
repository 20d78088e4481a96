// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(tile-round-products))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(tile-round-products{enable=false}))' | FileCheck %s --check-prefix=OFF

// Bounds are those of the integers without the zero point, times the scale.
// CHECK-LABEL: func.func @quantize
// CHECK-SAME:    rounded_products = 1 : i64
// CHECK-NOT:     arith.divf
// CHECK:         %[[ABOVE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         %[[BOUNDED:.*]] = arith.select %{{.*}}, %[[ABOVE]], %{{.*}} : f32
// CHECK:         %[[LOW:.*]] = arith.mulf %[[BOUNDED]], %{{.*}} : f32
// CHECK:         %[[PRODUCT:.*]] = math.fma %[[BOUNDED]], %{{.*}}, %[[LOW]] : f32
// CHECK:         %[[INTEGER:.*]] = math.roundeven %[[PRODUCT]] : f32
// CHECK:         %[[SHIFTED:.*]] = arith.addf %[[INTEGER]], %{{.*}} : f32
// CHECK-NEXT:    arith.fptoui %[[SHIFTED]] : f32 to i8
// OFF-LABEL:   func.func @quantize
// OFF:           arith.divf
func.func @quantize(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], ui8> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%e: f32):
    %s = arith.constant 0.05 : f32
    %zero = arith.constant 128.0 : f32
    %lowest = arith.constant 0.0 : f32
    %highest = arith.constant 255.0 : f32
    %0 = arith.divf %e, %s : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zero : f32
    %3 = arith.cmpf ogt, %2, %lowest : f32
    %4 = arith.select %3, %2, %lowest : f32
    %5 = arith.cmpf olt, %4, %highest : f32
    %6 = arith.select %5, %4, %highest : f32
    %7 = arith.fptoui %6 : f32 to i8
    tile.yield %7 : i8
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], ui8>
  return %y : !graph.tensor<[n], ui8>
}

// A quotient that is not bounded, and one that something else reads, stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: arith.divf
func.func @others(%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %y:2 = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%e: f32):
    %s = arith.constant 0.05 : f32
    %lowest = arith.constant 0.0 : f32
    %highest = arith.constant 255.0 : f32
    %0 = arith.divf %e, %s : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %e, %s : f32
    %3 = arith.divf %2, %s : f32
    %4 = math.roundeven %3 : f32
    %5 = arith.cmpf ogt, %4, %lowest : f32
    %6 = arith.select %5, %4, %lowest : f32
    %7 = arith.cmpf olt, %6, %highest : f32
    %8 = arith.select %7, %6, %highest : f32
    %9 = arith.addf %8, %3 : f32
    tile.yield %1, %9 : f32, f32
  } : (!graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>)
  return %y#0, %y#1 : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}

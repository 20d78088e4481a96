// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(tile-tabulate-maps{target=x86-64-v3}))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(tile-tabulate-maps{enable=false}))' | FileCheck %s --check-prefix=OFF

// Twice the number that 8 bits with a sign stand for, rounded by a division and an exponential on the way.
// CHECK-LABEL: func.func @function
// CHECK-SAME:    tabulated_maps = 1 : i64
// CHECK:       ^bb0(%[[X:.*]]: i8):
// CHECK-NEXT:    %[[Y:.*]] = tile.lookup %[[X]] in [0, 2, 4, 6,{{.*}}, 126, -128, -126,{{.*}}-6, -4, -2] : i8
// CHECK-NEXT:    tile.yield %[[Y]] : i8
// OFF-LABEL:   func.func @function
// OFF-NOT:       tile.lookup
func.func @function(%x: !graph.tensor<[n], i8>) -> !graph.tensor<[n], i8> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%e: i8):
    %half = arith.constant 0.5 : f32
    %zero = arith.constant 0.0 : f32
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %0, %zero : f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %2, %half : f32
    %4 = arith.divf %0, %3 : f32
    %5 = math.roundeven %4 : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i8
    tile.yield %7 : i8
  } : (!graph.tensor<[n], i8>) -> !graph.tensor<[n], i8>
  return %y : !graph.tensor<[n], i8>
}

// The 8 bits that two numbers make are the source of what follows. Without wide permutations, that does not pay beside
// numbers of 32 bits.
// CHECK-LABEL: func.func @pair
// CHECK-SAME:    tabulated_maps = 1 : i64
// CHECK:         %[[SUM:.*]] = arith.addi
// CHECK-NEXT:    tile.lookup %[[SUM]] in
// CHECK-LABEL: func.func @wide
// CHECK-NOT:     tile.lookup
func.func @pair(%x: !graph.tensor<[n], ui8>, %y: !graph.tensor<[n], ui8>) -> !graph.tensor<[n], ui8> {
  %z = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>, %y : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: i8, %b: i8):
    %0 = arith.addi %a, %b : i8
    %1 = arith.uitofp %0 : i8 to f32
    %2 = math.tanh %1 : f32
    %3 = arith.fptoui %2 : f32 to i8
    tile.yield %3 : i8
  } : (!graph.tensor<[n], ui8>, !graph.tensor<[n], ui8>) -> !graph.tensor<[n], ui8>
  return %z : !graph.tensor<[n], ui8>
}
func.func @wide(%x: !graph.tensor<[n], ui8>) -> !graph.tensor<[n], f32> {
  %z = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: i8):
    %0 = arith.uitofp %a : i8 to f32
    %1 = math.tanh %0 : f32
    %2 = arith.fptoui %1 : f32 to i8
    %3 = arith.uitofp %2 : i8 to f32
    tile.yield %3 : f32
  } : (!graph.tensor<[n], ui8>) -> !graph.tensor<[n], f32>
  return %z : !graph.tensor<[n], f32>
}

// What takes few operations, or is no number of 8 bits for some of them, is computed.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     tile.lookup
func.func @others(%x: !graph.tensor<[n], i8>) -> (!graph.tensor<[n], i8>, !graph.tensor<[n], i8>) {
  %y:2 = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: i8):
    %zero = arith.constant 0 : i8
    %0 = arith.maxsi %a, %zero : i8
    %1 = arith.sitofp %a : i8 to f32
    %2 = math.exp %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    tile.yield %0, %3 : i8, i8
  } : (!graph.tensor<[n], i8>) -> (!graph.tensor<[n], i8>, !graph.tensor<[n], i8>)
  return %y#0, %y#1 : !graph.tensor<[n], i8>, !graph.tensor<[n], i8>
}

// What only moves bf16 takes integers of 16 bits; what computes in it, or converts it, keeps its type.
// RUN: freestone-opt %s --codegen-move-bf16 | FileCheck %s

// CHECK-LABEL: func.func @chosen(
// CHECK-SAME:    %[[MEMORY:.*]]: memref<?xi16>, %[[WIDE:.*]]: vector<8xf32>
func.func @chosen(%memory: memref<?xbf16>, %wide: vector<8xf32>, %holds: i1, %i: index) -> vector<8xf32> {
  // CHECK: %[[ONES:.*]] = arith.constant dense<16256> : vector<8xi16>
  %ones = arith.constant dense<1.0> : vector<8xbf16>
  // CHECK: %[[RESULT:.*]] = scf.if %{{.*}} -> (vector<8xi16>)
  %x = scf.if %holds -> vector<8xbf16> {
    // CHECK: vector.load %[[MEMORY]]{{.*}} : memref<?xi16>, vector<8xi16>
    %loaded = vector.load %memory[%i] : memref<?xbf16>, vector<8xbf16>
    scf.yield %loaded : vector<8xbf16>
  } else {
    scf.yield %ones : vector<8xbf16>
  }
  // CHECK: %[[NARROW:.*]] = arith.truncf %[[WIDE]] : vector<8xf32> to vector<8xbf16>
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[NARROW]] : vector<8xbf16> to vector<8xi16>
  %narrow = arith.truncf %wide : vector<8xf32> to vector<8xbf16>
  // CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[RESULT]], %[[BITS]] : vector<8xi16>
  %chosen = arith.select %holds, %x, %narrow : vector<8xbf16>
  // CHECK: vector.store %[[CHOSEN]], %[[MEMORY]]{{.*}} : memref<?xi16>, vector<8xi16>
  vector.store %chosen, %memory[%i] : memref<?xbf16>, vector<8xbf16>
  // CHECK: %[[BACK:.*]] = arith.bitcast %[[CHOSEN]] : vector<8xi16> to vector<8xbf16>
  // CHECK: arith.extf %[[BACK]] : vector<8xbf16> to vector<8xf32>
  %result = arith.extf %chosen : vector<8xbf16> to vector<8xf32>
  return %result : vector<8xf32>
}

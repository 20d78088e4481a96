// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fuse))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// What binds a size comes behind the group that it reads, and what uses the size behind that, though no value leads from
// one to the other.
// CHECK-LABEL: func.func @used_behind
// CHECK:         %[[GROUP:.*]]:2 = tile.group
// CHECK:         tile.opaque [1] ins(%[[GROUP]]#0) attributes {binds = "k"
// CHECK:         tile.size k
// CHECK:         return
func.func @used_behind(%x: !graph.tensor<[n], i64>) -> (!graph.tensor<[], i64>, !graph.tensor<[n], i64>) {
  %0 = tile.compute [n] [parallel] ins(%x : #id) {
  ^bb0(%a: i64):
    %s = arith.addi %a, %a : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  %1 = tile.opaque [1] ins(%0) attributes {binds = "k", bound = #sym.expr<n>} {
  ^bb0(%i: index, %from: memref<?xi64>, %to: memref<?xi64>):
    %s = memref.load %from[%i] : memref<?xi64>
    memref.store %s, %to[%i] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[], i64>
  %2 = tile.compute [] [] {
    %k = tile.size k : index
    %s = arith.index_cast %k : index to i64
    tile.yield %s : i64
  } : () -> !graph.tensor<[], i64>
  %3 = tile.compute [n] [parallel] ins(%0 : #id) {
  ^bb0(%a: i64):
    %s = arith.muli %a, %a : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  return %2, %3 : !graph.tensor<[], i64>, !graph.tensor<[n], i64>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What uses sizes that are compared stays behind that.
// CHECK-LABEL: func.func @compared
// CHECK:         tile.opaque [1] attributes {asserts = [
// CHECK:         tile.group
// CHECK:           arith.muli
// CHECK:         return
func.func @compared(%x: !graph.tensor<[n], i64>, %y: !graph.tensor<[m], i64>) -> !graph.tensor<[n], i64> {
  %0 = tile.compute [n] [parallel] ins(%x : #id) {
  ^bb0(%a: i64):
    %s = arith.addi %a, %a : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  %1 = tile.opaque [1] attributes {asserts = [#sym.expr<n>, #sym.expr<m>, "sizes"]} {
  ^bb0(%i: index, %to: memref<?xi64>):
    tile.yield
  } : () -> !graph.tensor<[2], i64>
  %2 = graph.reshape %y : !graph.tensor<[m], i64> -> !graph.tensor<[n], i64>
  %3 = tile.compute [n] [parallel] ins(%0 : #id, %2 : #id) {
  ^bb0(%a: i64, %b: i64):
    %s = arith.muli %a, %b : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>, !graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  return %3 : !graph.tensor<[n], i64>
}

// -----

#id = affine_map<(d0) -> (d0)>

// So does what uses a size that is defined by it.
// CHECK-LABEL: func.func @defined_behind
// CHECK:         %[[GROUP:.*]]:2 = tile.group
// CHECK:         tile.opaque [1] ins(%[[GROUP]]#0) attributes {binds = "k"
// CHECK:         tile.size half
// CHECK:         return
func.func @defined_behind(%x: !graph.tensor<[n], i64>) -> (!graph.tensor<[], i64>, !graph.tensor<[n], i64>)
    attributes {graph.definitions = [["half", #sym.expr<k floordiv 2>]]} {
  %0 = tile.compute [n] [parallel] ins(%x : #id) {
  ^bb0(%a: i64):
    %s = arith.addi %a, %a : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  %1 = tile.opaque [1] ins(%0) attributes {binds = "k", bound = #sym.expr<n>} {
  ^bb0(%i: index, %from: memref<?xi64>, %to: memref<?xi64>):
    %s = memref.load %from[%i] : memref<?xi64>
    memref.store %s, %to[%i] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[], i64>
  %2 = tile.compute [] [] {
    %k = tile.size half : index
    %s = arith.index_cast %k : index to i64
    tile.yield %s : i64
  } : () -> !graph.tensor<[], i64>
  %3 = tile.compute [n] [parallel] ins(%0 : #id) {
  ^bb0(%a: i64):
    %s = arith.muli %a, %a : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  return %2, %3 : !graph.tensor<[], i64>, !graph.tensor<[n], i64>
}

// -----

#id = affine_map<(d0) -> (d0)>

// No group on both sides of what it reads and what needs the size.
// CHECK-LABEL: func.func @used_within
// CHECK-NOT:     tile.group
// CHECK:         return
func.func @used_within(%x: !graph.tensor<[n], i64>) -> (!graph.tensor<[n], i64>, !graph.tensor<[n], i64>) {
  %0 = tile.compute [n] [parallel] ins(%x : #id) {
  ^bb0(%a: i64):
    %s = arith.addi %a, %a : i64
    tile.yield %s : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  %1 = tile.opaque [1] ins(%0) attributes {binds = "k", bound = #sym.expr<n>} {
  ^bb0(%i: index, %from: memref<?xi64>, %to: memref<?xi64>):
    %s = memref.load %from[%i] : memref<?xi64>
    memref.store %s, %to[%i] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[], i64>
  %2 = tile.compute [n] [parallel] ins(%0 : #id) {
  ^bb0(%a: i64):
    %k = tile.size k : index
    %s = arith.index_cast %k : index to i64
    %d = arith.subi %a, %s : i64
    tile.yield %d : i64
  } : (!graph.tensor<[n], i64>) -> !graph.tensor<[n], i64>
  return %0, %2 : !graph.tensor<[n], i64>, !graph.tensor<[n], i64>
}

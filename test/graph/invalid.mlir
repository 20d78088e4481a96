// RUN: freestone-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{tensors have no elements of type 'i3'}}
func.func @type(%x: !graph.tensor<[n], i3>) { return }

// -----

// expected-error @+1 {{elements of type 'i8' are not packed into bytes}}
func.func @packed(%x: !graph.tensor<[n], i8, #graph.packed>) { return }

// -----

func.func @stored(%x: !graph.tensor<[n], f8E5M2>) {
  // expected-error @+1 {{has no 'add' of '!graph.tensor<[n], f8E5M2>'}}
  %z = graph.binary add %x, %x : !graph.tensor<[n], f8E5M2>
  return
}

// -----

func.func @bits(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{can't read elements of '!graph.tensor<[n], f32>' as 'i16'}}
  %z = graph.bitcast %x to i16 : !graph.tensor<[n], f32>
  return
}

// -----

// expected-error @+1 {{a tensor can't have the size -1}}
func.func @size(%x: !graph.tensor<[-1], f32>) { return }

// -----

func.func @binary(%x: !graph.tensor<[n], f32>, %y: !graph.tensor<[m], f32>) {
  // expected-error @+1 {{needs operands of one type, not '!graph.tensor<[n], f32>' and '!graph.tensor<[m], f32>'}}
  %z = graph.binary add %x, %y : !graph.tensor<[n], f32>, !graph.tensor<[m], f32>
  return
}

// -----

func.func @kind(%x: !graph.tensor<[n], i32>) {
  // expected-error @+1 {{has no 'exp' of '!graph.tensor<[n], i32>'}}
  %z = graph.unary exp %x : !graph.tensor<[n], i32>
  return
}

// -----

func.func @broadcast(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{can't make size n to m at dimension 0, from '!graph.tensor<[n], f32>' to '!graph.tensor<[m], f32>'}}
  %z = graph.broadcast %x dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[m], f32>
  return
}

// -----

func.func @reshape(%x: !graph.tensor<[n, 4], f32>) {
  // expected-error @+1 {{can't make 4*n + 1 elements of 4*n}}
  %z = graph.reshape %x : !graph.tensor<[n, 4], f32> -> !graph.tensor<[4*n + 1], f32>
  return
}

// -----

func.func @slice(%x: !graph.tensor<[4], f32>) {
  // expected-error @+1 {{takes elements from 2 to 4 at dimension 0 of '!graph.tensor<[4], f32>'}}
  %z = graph.slice %x starts [2] sizes [3] steps [1] : !graph.tensor<[4], f32>
  return
}

// -----

func.func @contract(%x: !graph.tensor<[m, k], f32>, %y: !graph.tensor<[l, n], f32>) {
  // expected-error @+1 {{can't pair size k with l: dimension 1 of '!graph.tensor<[m, k], f32>' with dimension 0 of '!graph.tensor<[l, n], f32>'}}
  %z = graph.contract %x, %y batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f32>, !graph.tensor<[l, n], f32>
  return
}

// -----

func.func @convolve(%x: !graph.tensor<[n, 4, h], f32>, %w: !graph.tensor<[8, 3, 3], f32>) {
  // expected-error @+1 {{has 4 channels in '!graph.tensor<[n, 4, h], f32>' where '!graph.tensor<[8, 3, 3], f32>' in 1 groups needs 3}}
  %z = graph.convolve %x, %w strides [1] dilations [1] operand_dilation [1] low [0] high [0] groups 1
       : !graph.tensor<[n, 4, h], f32>, !graph.tensor<[8, 3, 3], f32>
  return
}

// -----

func.func @axis(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{has no axis 1 in '!graph.tensor<[n], f32>'}}
  %z = graph.softmax %x axis 1 : !graph.tensor<[n], f32>
  return
}

// -----

func.func @matchShape(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{never holds: size n of '!graph.tensor<[n], f32>' is not n + 1}}
  %z = graph.match_shape %x : !graph.tensor<[n], f32> -> !graph.tensor<[n + 1], f32>
  return
}

// -----

func.func @if(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{can't take '!graph.tensor<[n], f32>' as '!graph.tensor<[4], f32>' of its results}}
  %r = graph.if %c {
    graph.yield %x : !graph.tensor<[n], f32>
  } else {
    graph.yield %x : !graph.tensor<[n], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[4], f32>
  return
}

// -----

func.func @scan(%h: !graph.tensor<[8], f32>, %x: !graph.tensor<[t, 8], f32>) {
  // expected-error @+1 {{collects as many slices as '!graph.tensor<[t, 8], f32>' has, not '!graph.tensor<[t + 1, 8], f32>'}}
  %last, %all = graph.scan carry %h : !graph.tensor<[8], f32> over %x : !graph.tensor<[t, 8], f32> {
  ^bb0(%state: !graph.tensor<[8], f32>, %slice: !graph.tensor<[8], f32>):
    graph.yield %state, %slice : !graph.tensor<[8], f32>, !graph.tensor<[8], f32>
  } -> !graph.tensor<[8], f32>, !graph.tensor<[t + 1, 8], f32>
  return
}

// -----

func.func @callee(%x: !graph.tensor<[n, n], f32>) -> !graph.tensor<[n], f32> {
  %r = graph.reduce add %x axes [1] : !graph.tensor<[n, n], f32>
  return %r : !graph.tensor<[n], f32>
}
func.func @argument(%x: !graph.tensor<[4, b], f32>) {
  // expected-error @+1 {{calls @callee: has size b at dimension 1 of !graph.tensor<[4, b], f32> where 4 is expected}}
  %r = graph.call @callee(%x) : (!graph.tensor<[4, b], f32>) -> !graph.tensor<[4], f32>
  return
}

// -----

func.func @callee(%x: !graph.tensor<[n, n], f32>) -> !graph.tensor<[n], f32> {
  %r = graph.reduce add %x axes [1] : !graph.tensor<[n, n], f32>
  return %r : !graph.tensor<[n], f32>
}
func.func @result(%x: !graph.tensor<[b, b], f32>) {
  // expected-error @+1 {{takes a result of @callee that has size c at dimension 0 of !graph.tensor<[c], f32> where b is expected}}
  %r = graph.call @callee(%x) : (!graph.tensor<[b, b], f32>) -> !graph.tensor<[c], f32>
  return
}

// -----

func.func @suppress(%x: !graph.tensor<[b, n, 3], f32>, %s: !graph.tensor<[b, c, n], f32>, %l: !graph.tensor<[], i64>, %t: !graph.tensor<[], f32>) {
  // expected-error @+1 {{needs boxes [b, n, 4] and scores [b, c, n] of f32}}
  %r = graph.suppress %x, %s, %l, %t, %t : !graph.tensor<[b, n, 3], f32>, !graph.tensor<[b, c, n], f32>, !graph.tensor<[], i64>, !graph.tensor<[], f32>, !graph.tensor<[], f32>
  return
}

// -----

// expected-error @+1 {{graph.value_symbols names no element of an argument for "n"}}
func.func @valueSymbols(%x: !graph.tensor<[2], i64>) attributes {graph.value_symbols = {n = array<i64: 1, 0>}} { return }

// -----

// expected-error @+1 {{graph.value_symbols binds "n" by an argument that is no tensor of numbers}}
func.func @valueSymbolKind(%x: i64) attributes {graph.value_symbols = {n = array<i64: 0, 0>}} { return }

// -----

// expected-error @+1 {{graph.definitions gives [name, #sym.expr] for symbols of a function}}
func.func @definitions(%x: !graph.tensor<[n], i64>) attributes {graph.definitions = [#sym.expr<2*n>]} { return }

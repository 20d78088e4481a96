// RUN: freestone-opt %s --split-input-file --verify-diagnostics

func.func @outside(%x: !graph.tensor<[4], f32>) {
  // expected-error @+1 {{reads operand 0 outside: loop 0 runs to 5 over a dimension of 4}}
  %r = tile.compute [5] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[4], f32>) -> !graph.tensor<[5], f32>
  return
}

// -----

func.func @rank(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{map of operand 0 gives 2 coordinates}}
  %r = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return
}

// -----

func.func @result(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{has other dimensions than the parallel loops}}
  %r = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[m], f32>
  return
}

// -----

func.func @accumulator(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{needs an initial value per result where loops reduce}}
  %r = tile.compute [n] [reduction] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[], f32>
  return
}

// -----

func.func @order(%x: !graph.tensor<[n, m], f32>) {
  // expected-error @+1 {{parallel loops come before those that reduce}}
  %r = tile.compute [n, m] [reduction, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %acc: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n, m], f32>) -> !graph.tensor<[m], f32>
  return
}

// -----

func.func @body(%x: !graph.tensor<[n], ui8>) {
  // expected-error @+1 {{needs a body over}}
  %r = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: ui8):
    tile.yield %a : ui8
  } : (!graph.tensor<[n], ui8>) -> !graph.tensor<[n], ui8>
  return
}

// -----

tile.program @p symbols [s0](%x: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], f32>) {
  tile.return %x : !graph.tensor<[s0], f32>
}
func.func @sizes(%x: !graph.tensor<[n], f32>) {
  // expected-error @+1 {{operand 0 is '!graph.tensor<[n], f32>', its program's '!graph.tensor<[2*n], f32>'}}
  %r = tile.call @p(%x) [s0 = 2*n] : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return
}

// -----

func.func @pack(%x: !graph.tensor<[n, m], f32>) {
  // expected-error @+1 {{goes from row-major to a layout}}
  %r = tile.pack %x : !graph.tensor<[n, m], f32> -> !graph.tensor<[n, m], f32>
  return
}

// -----

func.func @view(%x: !graph.tensor<[2, 3, 16], f32>) {
  // expected-error @+1 {{needs the elements of '!graph.tensor<[64, 3], f32, #tile.panels<axis = 0, width = 32>>' as they are stored}}
  %r = tile.view %x : !graph.tensor<[2, 3, 16], f32> -> !graph.tensor<[64, 3], f32, #tile.panels<axis = 0, width = 32>>
  return
}

// -----

func.func @view_of_rows(%x: !graph.tensor<[2, 3], f32>) {
  // expected-error @+1 {{goes from a layout to its storage or back}}
  %r = tile.view %x : !graph.tensor<[2, 3], f32> -> !graph.tensor<[3, 2], f32>
  return
}

// -----

func.func @random_bits(%word: i32, %i: index) {
  // expected-error @+1 {{needs a key of 4 words, not of 2}}
  %r = tile.random_bits[%word, %word] at %i : i32
  return
}

// -----

func.func private @body(%h: !graph.tensor<[n], f32>, %x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
func.func @found_twice(%x: !graph.tensor<[t, n], f32>, %h: !graph.tensor<[n], f32>) -> !graph.tensor<[t, n], f32> {
  // expected-error @+1 {{collects no carried value number 0 before iterations, or more than once}}
  %r:3 = tile.loop @body trips t carry(%h) as [-1] before [0, 0] over(%x)
      : (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>)
      -> (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>, !graph.tensor<[t, n], f32>)
  return %r#1 : !graph.tensor<[t, n], f32>
}

// -----

func.func private @body(%h: !graph.tensor<[n], f32>, %x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
func.func @found_none(%x: !graph.tensor<[t, n], f32>, %h: !graph.tensor<[n], f32>) -> !graph.tensor<[t, n], f32> {
  // expected-error @+1 {{needs to say of each collected value whether it is carried}}
  %r:2 = tile.loop @body trips t carry(%h) as [-1] before [] over(%x)
      : (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>)
  return %r#1 : !graph.tensor<[t, n], f32>
}

// -----

// expected-error @+1 {{words have 2 or 4 steps, not 3}}
func.func private @words(!graph.tensor<[384, 1000], i8, #tile.words<of = 3>>)

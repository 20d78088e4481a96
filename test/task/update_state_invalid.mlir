// RUN: freestone-opt %s --task-update-state --split-input-file --verify-diagnostics

// expected-error@+1 {{takes state 'w' as '!graph.tensor<[n], f32>', whose sizes are no constants}}
func.func @main(%w: !graph.tensor<[n], f32> {graph.state = "w"}) {
  return
}

// -----

func.func @main(%w: !graph.tensor<[4], f32> {graph.state = "w"}) {
  return
}
// expected-error@+1 {{takes state 'w' as '!graph.tensor<[4], i64>', which is '!graph.tensor<[4], f32>' elsewhere}}
func.func @evaluate(%w: !graph.tensor<[4], i64> {graph.state = "w"}) {
  return
}

// -----

// expected-error@+1 {{returns state 'w' twice}}
func.func @main(%w: !graph.tensor<[4], f32> {graph.state = "w"})
    -> (!graph.tensor<[4], f32> {graph.state = "w"}, !graph.tensor<[4], f32> {graph.state = "w"}) {
  return %w, %w : !graph.tensor<[4], f32>, !graph.tensor<[4], f32>
}

// -----

func.func @main(%w: !graph.tensor<[4], f32> {graph.state = "w", graph.initial = "a"}) {
  return
}
// expected-error@+1 {{begins state 'w' as weight "b", which begins as "a" elsewhere}}
func.func @evaluate(%w: !graph.tensor<[4], f32> {graph.state = "w", graph.initial = "b"}) {
  return
}

// RUN: freestone-opt %s --split-input-file --verify-diagnostics

!v = !graph.tensor<[n], f32>
task.program @main symbols [] {
  // expected-error@+1 {{is phase 0 and can't come after phase 0}}
  task.phase "a" after all [0] same [] {
  }
}

// -----

!v = !graph.tensor<[n], f32>
task.program @main symbols [] {
  task.phase "a" after all [] same [] {
  }
  // expected-error@+1 {{is phase 1 and can't come after phase 2}}
  task.phase "b" after all [] same [2] {
  }
}

// -----

!v = !graph.tensor<[n], f32>
task.program @main symbols [] {
  %x = task.buffer input "x" : !v
  %w = task.buffer weight "w" : !v
  task.phase "a" after all [] same [] {
    // expected-error@+1 {{writes weight 'w', which is read only}}
    task.space @p(%x) to (%w) sizes [] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[n], f32>
task.program @main symbols [] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    // expected-error@+1 {{needs one access per operand}}
    task.space @p(%x) to (%y) sizes [] tiles 1 scratch 0 reads [?, 4] writes [?] sites [] : (!v) -> (!v)
  }
}

// -----

// expected-error@+1 {{needs [actual, expected, text] for each assertion}}
task.program @main symbols [] assert [[#sym.expr<n>, #sym.expr<m>]] {
}

// -----

task.program @main symbols [] {
  %w = task.buffer state "w" : !graph.tensor<[4], f32>
  // expected-error@+1 {{is a second buffer of state 'w'}}
  %v = task.buffer state "w" : !graph.tensor<[4], f32>
}

// -----

task.program @main symbols [] {
  // expected-error@+1 {{is a state, whose sizes must be constants}}
  %w = task.buffer state "w" : !graph.tensor<[n], f32>
}

// -----

task.program @main symbols [] {
  // expected-error@+1 {{begins as a weight, but is no state}}
  %w = task.buffer input "w" initial "start" : !graph.tensor<[4], f32>
}

// -----

!v = !graph.tensor<[4], f32>
!c = !graph.tensor<[], i1>
task.program @main symbols [] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !v
  task.branch "/if" if %if after all [] : !c {
    task.phase "a" after all [] same [] {
      task.space @p(%x) to (%y) sizes [] tiles 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> (!v)
    }
    // expected-error@+1 {{waits for windows of phase 0 from within a branch}}
    task.phase "b" after all [] window [0] same [] {
      task.space @p(%y) to (%z) sizes [] tiles 4 scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
    }
  } else {
  }
}

// -----

task.program @main symbols [] {
  %if = task.buffer input "if" : !graph.tensor<[], i1>
  task.branch "/if" if %if after all [] : !graph.tensor<[], i1> {
    task.phase "left" after all [] same [] {
    }
  } else {
    // expected-error@+1 {{waits for phase 0, which no run with it has}}
    task.phase "right" after all [0] same [] {
    }
  }
}

// -----

!v = !graph.tensor<[4], f32>
task.program @main symbols [] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !v
  task.phase "a" claimed after all [] same [] {
    task.space @p(%x) to (%y) sizes [] tiles 4 deal 0 scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
  }
  // expected-error@+1 {{does not wait for tiles that are claimed, or claims them itself}}
  task.phase "b" after all [] same [0] {
    task.space @p(%y) to (%z) sizes [] tiles 4 deal 1 scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[4], f32>
task.program @main symbols [] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !v
  task.phase "a" claimed after all [] same [] {
    // expected-error@+1 {{is claimed, but has no deal of its own}}
    task.space @p(%x) to (%y) sizes [] tiles 4 deal 0 scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [0] same [] {
    task.space @p(%y) to (%z) sizes [] tiles 4 deal 0 scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[4], f32>
task.program @main symbols [] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  task.phase "a" claimed after all [] same [] {
    // expected-error@+1 {{is claimed, but worker 0 computes it}}
    task.space @f(%x) to (%y) sizes [] tiles 1 deal 0 scratch 0 reads [?] writes [?] sites [] service 1 views [!v, !v] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[4], f32>
task.program @main symbols [#task.symbol<"t" element 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  task.loop 0 "/loop" trips t {
    // expected-error@+1 {{is claimed, but a worker may still be in an iteration before}}
    task.phase "a" claimed after all [] same [] {
      task.space @p(%x) to (%y) sizes [] tiles 4 deal 0 scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
    }
  }
}

// -----

task.program @main symbols [] {
  %if = task.buffer input "if" : !graph.tensor<[], i1>
  task.branch "/if" if %if after all [] : !graph.tensor<[], i1> {
    // expected-error@+1 {{does not end a side of a branch of the program itself}}
    task.turn 0
    task.phase "left" after all [] same [] {
    }
  } else {
  }
}

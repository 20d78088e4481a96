"""Loops over a body, with a number of iterations that the model fixes."""

from row import Row

ROWS = [
    Row("Loop", [["64x1024"], ["1024x1024"]], variant="of 16 turns", graph="""
        g (float i0) => (float y) {
          turns = Constant<value = int64 {16}>()
          y = Loop (turns, , i0) <body = b (int64 turn, bool go, float x) => (bool on, float z) {
            on = Identity(go)
            z = Tanh(x)
          }>
        }"""),
    Row("Scan", [["64x1024", "64x1024"], ["64x65536", "64x65536"]], graph="""
        g (float i0, float i1) => (float last, float all) {
          zero = Constant<value = int64[1] {0}>()
          first = ReduceSum<keepdims = 0>(i0, zero)
          last, all = Scan<num_scan_inputs = 2, body = b (float s, float x, float w) => (float t, float o) {
            m = Mul(x, w)
            t = Add(s, m)
            o = Tanh(t)
          }>(first, i0, i1)
        }"""),
    Row("SequenceMap", [["16x64", "16x64"], ["64x1024", "64x1024"]], graph="""
        g (float i0, float i1) => (float y) {
          s = SequenceConstruct(i0, i1)
          t = SequenceMap(s) <body = b (float x) => (float z) { z = Tanh(x) }>
          y = ConcatFromSequence<axis = 0>(t)
        }"""),
]

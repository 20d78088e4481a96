// RUN: freestone-opt %s | freestone-opt | FileCheck %s

// All notations are printed in canonical form.

// CHECK-LABEL: func.func private @sizes
// CHECK-SAME: !sym.size<4*h + 1>
// CHECK-SAME: !sym.size<b*s + b>
// CHECK-SAME: !sym.size<s ceildiv 32>
// CHECK-SAME: !sym.size<s mod 8>
// CHECK-SAME: !sym.size<min(s, 512)>
// CHECK-SAME: !sym.size<max(s, 1)>
// CHECK-SAME: !sym.size<b*(s floordiv 2)>
// CHECK-SAME: !sym.size<"batch size">
// CHECK-SAME: !sym.size<b floordiv s>
// CHECK-SAME: !sym.size<0>
func.func private @sizes(
  !sym.size<1 + h*4>, !sym.size<(s + 1) * b>, !sym.size<(s + 31) floordiv 32>, !sym.size<s - 8 * (s floordiv 8)>,
  !sym.size<min(512, s)>, !sym.size<max(1, s, 1)>, !sym.size<(s floordiv 2) * b>, !sym.size<"batch size">,
  !sym.size<(2*b) floordiv (2*s)>, !sym.size<s - s>)

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: bounds = #sym.bounds<[1, 2048], multiple_of 8, hint 128>
// CHECK-SAME: expr = #sym.expr<b - s floordiv 3>
// CHECK-SAME: open = #sym.bounds<[0, inf]>
func.func private @attributes() attributes {
  bounds = #sym.bounds<[1, 2048], multiple_of 8, hint 128>,
  expr = #sym.expr<b - s floordiv 3>,
  open = #sym.bounds<[0, inf]>
}

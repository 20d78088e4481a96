#ifndef FREESTONE_TEST_GUARDED_OPERATORS_H
#define FREESTONE_TEST_GUARDED_OPERATORS_H

#include <vector>

namespace freestone::test {

/// A small graph over symbolic sizes in ONNX's text syntax.
struct OperatorCase {
  const char *name;
  const char *graph;
  /// Whether every index is used; unused ones are not checked.
  bool followsAll = true;
};

/// All operators with data-dependent reads, writes or sizes, with windows, bodies or quantized operands, in
/// combinations that cover every emitter.
extern const std::vector<OperatorCase> operatorCases;

} // namespace freestone::test

#endif // FREESTONE_TEST_GUARDED_OPERATORS_H

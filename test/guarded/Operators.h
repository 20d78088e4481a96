#ifndef FREESTONE_TEST_GUARDED_OPERATORS_H
#define FREESTONE_TEST_GUARDED_OPERATORS_H

#include <vector>

namespace freestone::test {

/// A small graph over symbolic sizes in ONNX's text syntax.
struct OperatorCase {
  const char *name;
  const char *graph;
  /// Whether every index is followed; one that leads to what nobody asks for is not checked.
  bool followsAll = true;
};

/// All operators that read or write where data say, that have windows, bodies or quantised operands, or whose sizes
/// data say; and what surrounds them so that every emitter of code meets such positions.
extern const std::vector<OperatorCase> operatorCases;

} // namespace freestone::test

#endif // FREESTONE_TEST_GUARDED_OPERATORS_H

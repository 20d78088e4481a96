#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_WHILELOOP_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_WHILELOOP_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// What is known of a loop before its body is built.
struct LoopForm {
  /// Its iterations at most; null where that is no size.
  Expr bound;
  /// A limit that data determine, which may be less.
  Tensor limit;
  /// Nothing but the bound ends it; `goesOn`: nothing else does, once it has begun.
  bool runsOut, goesOn;
  /// Sizes follow from the number of the iteration.
  bool readsTrip;
  /// Nothing is refused, and no size may change but with the number of the iteration.
  bool isOptional;
};

/// Builds a Loop that data may end, that carries sequences, or whose sizes change from one iteration to the next.
/// Returns whether it did.
bool buildWhile(Node &node, const onnx::GraphProto &body, const LoopForm &form);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_WHILELOOP_H

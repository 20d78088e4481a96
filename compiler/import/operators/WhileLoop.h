#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_WHILELOOP_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_WHILELOOP_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// Builds a Loop that data may end, that carries sequences, or whose sizes change from one iteration to the next.
/// `bound` is its limit, null where that is no size; with `runsOut` nothing else ends it. `readsTrip`: sizes follow
/// from the number of the iteration. Returns whether it did. With `isOptional` nothing is refused, and no size may
/// change but with the number of the iteration.
bool buildWhile(Node &node, const onnx::GraphProto &body, Expr bound, bool runsOut, bool readsTrip, bool isOptional);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_WHILELOOP_H

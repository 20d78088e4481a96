#ifndef FREESTONE_COMPILER_IMPORT_COUNTING_H
#define FREESTONE_COMPILER_IMPORT_COUNTING_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace freestone::importer {

/// How a Loop's body counts: its condition is `i < limit`, `i <= limit` or one of these and others, of a carried
/// integer i that each iteration makes greater by a constant; or the same downwards.
struct Counting {
  /// A number that the body has as a constant, or the name of a value.
  struct Number {
    std::optional<int64_t> constant;
    llvm::StringRef name;
  };
  /// The number of the carried value that counts.
  int64_t state = 0;
  Number step, limit;
  /// Whether the step is taken away, whether the count must stay above the limit, and whether it may reach it.
  bool isSubtracted = false, falls = false, includes = false;
  /// Whether nothing else ends the loop.
  bool isAlone = true;
  /// What must be false: a branch asks for the count, or for the rest, and this is its other side.
  llvm::SmallVector<Number, 1> falses;
};

/// Nothing if the body does not count.
std::optional<Counting> findCounting(const onnx::GraphProto &body);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_COUNTING_H

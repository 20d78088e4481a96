#ifndef FREESTONE_COMPILER_INTERPRETER_RANDOMBITS_H
#define FREESTONE_COMPILER_INTERPRETER_RANDOMBITS_H

#include "mlir/IR/Types.h"
#include "random/Philox.h"

namespace freestone::interpreter {

/// Element `index` of a tensor of 32 or 64 random bits, in the interpreter's representation.
inline int64_t getRandomBits(mlir::Type type, std::array<uint32_t, 4> key, uint64_t index) {
  if (type.getIntOrFloatBitWidth() == 32)
    return random::streamWord(key, index);
  uint64_t low = random::streamWord(key, 2 * index), high = random::streamWord(key, 2 * index + 1);
  return static_cast<int64_t>(high << 32 | low);
}

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_RANDOMBITS_H

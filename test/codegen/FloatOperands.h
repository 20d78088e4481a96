#ifndef FREESTONE_TEST_CODEGEN_FLOATOPERANDS_H
#define FREESTONE_TEST_CODEGEN_FLOATOPERANDS_H

#include "test/codegen/ProgramRunner.h"
#include <random>

namespace freestone::test {

/// The body of a sum of products.
inline constexpr const char *multiplyAdd = R"(
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  })";

/// Values between -1 and 1, and sizes around those at which code changes.
class Random {
public:
  explicit Random(int seed) : engine(seed) {}
  void fill(GuardedMemory &memory) {
    std::uniform_real_distribution<float> values(-1, 1);
    for (size_t i = 0; i < memory.size() / sizeof(float); ++i)
      memory.as<float>()[i] = values(engine);
  }
  int64_t size() {
    static const int64_t sizes[] = {1,  1,  2,  3,  5,  7,  13,  14,  15,  16,  17,
                                    29, 31, 32, 33, 64, 97, 127, 128, 131, 257, 300};
    return sizes[engine() % std::size(sizes)];
  }

private:
  std::mt19937 engine;
};

inline GuardedMemory floats(int64_t count) { return GuardedMemory(count * sizeof(float)); }

} // namespace freestone::test

#endif // FREESTONE_TEST_CODEGEN_FLOATOPERANDS_H

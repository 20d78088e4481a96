#ifndef FREESTONE_TEST_TASK_RANDOMPROGRAM_H
#define FREESTONE_TEST_TASK_RANDOMPROGRAM_H

#include <random>
#include <string>

namespace freestone::test {

/// What the accesses of a random program say.
enum class KnownAccesses { none, some };

/// The text of a task.program without edges: up to 12 phases of one or two spaces over buffers of [n], [2*n], [m] or 40
/// elements of f32, each written once and read later, and over two states, which any phase reads and writes, also in
/// place. With `none` a tile may touch anything; with `some` many say which elements they touch.
std::string makeRandomProgram(std::mt19937_64 &random, KnownAccesses accesses);

} // namespace freestone::test

#endif // FREESTONE_TEST_TASK_RANDOMPROGRAM_H

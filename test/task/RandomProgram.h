#ifndef FREESTONE_TEST_TASK_RANDOMPROGRAM_H
#define FREESTONE_TEST_TASK_RANDOMPROGRAM_H

#include <random>
#include <string>

namespace freestone::test {

/// The known accesses in a random program.
enum class KnownAccesses { none, some };

/// The text of a task.program without edges: up to 12 phases of one or two spaces over buffers of [n], [2*n], [m] or 40
/// elements of f32, each written once and read later, and over two states, read and written by any phase, also in
/// place. With `none` a tile may touch any elements; with `some` many accesses are known.
std::string makeRandomProgram(std::mt19937_64 &random, KnownAccesses accesses);

} // namespace freestone::test

#endif // FREESTONE_TEST_TASK_RANDOMPROGRAM_H

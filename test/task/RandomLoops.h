#ifndef FREESTONE_TEST_TASK_RANDOMLOOPS_H
#define FREESTONE_TEST_TASK_RANDOMLOOPS_H

#include <random>
#include <string>

namespace freestone::test {

/// The text of a task.program without edges, of loops and branches within each other, over buffers of [n] elements of
/// f32: values that an iteration makes for itself, values that loops carry in two slices, slices of what is scanned and
/// collected, values that either side of a branch writes. Loops have up to four iterations, or k; some end by a
/// condition. Some accesses are known.
std::string makeRandomLoops(std::mt19937_64 &random);

} // namespace freestone::test

#endif // FREESTONE_TEST_TASK_RANDOMLOOPS_H

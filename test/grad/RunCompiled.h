#ifndef FREESTONE_TEST_GRAD_RUNCOMPILED_H
#define FREESTONE_TEST_GRAD_RUNCOMPILED_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace freestone::grad {

struct Floats {
  std::vector<int64_t> dims;
  std::vector<float> elements;
};

/// Compiles @main of a module of the graph, whose inputs are f32 and whose results are f32 with names, once, and runs
/// it with each of the given lists of inputs: the results of each run, or nothing with a message on stderr.
std::vector<std::vector<std::vector<float>>> runCompiled(const std::string &text,
                                                         const std::map<std::string, Floats> &weights,
                                                         const std::vector<std::vector<Floats>> &runs);

} // namespace freestone::grad

#endif // FREESTONE_TEST_GRAD_RUNCOMPILED_H

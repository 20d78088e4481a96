#ifndef FREESTONE_TEST_ARTIFACT_COMPILETASKS_H
#define FREESTONE_TEST_ARTIFACT_COMPILETASKS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace freestone::test {

/// Bytes of the weights by name.
using Weights = std::map<std::string, std::vector<char>>;

/// Compiles a module of `task.program`s, and of nested modules with the programs that their spaces call, to an
/// artifact. Plans edges and memory first. Sites are the module's attribute `task.sites`. Aborts with a message on
/// stderr on any failure.
std::vector<uint8_t> compileTasks(const std::string &text, const Weights &weights = {});

} // namespace freestone::test

#endif // FREESTONE_TEST_ARTIFACT_COMPILETASKS_H

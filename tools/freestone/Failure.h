#ifndef FREESTONE_TOOLS_FREESTONE_FAILURE_H
#define FREESTONE_TOOLS_FREESTONE_FAILURE_H

#include <stdexcept>
#include <string>

namespace freestone::tools {

/// Exit codes of the process; part of the command line's contract.
enum class Exit { Ok = 0, Failed = 1, Usage = 2, NumbersDiffer = 3 };

/// Ends the command. `main` prints the message; an empty one means that the verb has reported the failure itself.
struct Failure : std::runtime_error {
  Failure(Exit exit, const std::string &message) : std::runtime_error(message), exit(exit) {}
  Exit exit;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_FAILURE_H

#ifndef FREESTONE_TOOLS_FREESTONE_FAILURE_H
#define FREESTONE_TOOLS_FREESTONE_FAILURE_H

#include <stdexcept>
#include <string>

namespace freestone::tools {

/// What the process returns; part of the command line's contract.
enum class Exit { Ok = 0, Failed = 1, Usage = 2, NumbersDiffer = 3 };

/// Ends the command. `main` prints the message, unless it is empty: then the verb has said what there is to say.
struct Failure : std::runtime_error {
  Failure(Exit exit, const std::string &message) : std::runtime_error(message), exit(exit) {}
  Exit exit;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_FAILURE_H

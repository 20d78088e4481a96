#ifndef FREESTONE_TOOLS_FREESTONE_USAGEFAULT_H
#define FREESTONE_TOOLS_FREESTONE_USAGEFAULT_H

#include <CLI/CLI.hpp>
#include <string>

namespace freestone::tools {

/// The user's message for an invalid command line: an unknown verb or option with the nearest names, a missing
/// argument, and where options are listed. `error` is the exception from parsing `app`.
std::string describeUsageFault(const CLI::App &app, const CLI::ParseError &error);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_USAGEFAULT_H

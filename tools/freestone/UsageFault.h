#ifndef FREESTONE_TOOLS_FREESTONE_USAGEFAULT_H
#define FREESTONE_TOOLS_FREESTONE_USAGEFAULT_H

#include <CLI/CLI.hpp>
#include <string>

namespace freestone::tools {

/// What is wrong with the words of the command line, for people: which verb or option there is not, and which is near;
/// what is missing; where the options are listed. `error` is what parsing `app` threw.
std::string describeUsageFault(const CLI::App &app, const CLI::ParseError &error);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_USAGEFAULT_H

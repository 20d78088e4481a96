// The verbs of the command line, one file each. Every function adds one subcommand whose callback does the work.
#ifndef FREESTONE_TOOLS_FREESTONE_VERBS_H
#define FREESTONE_TOOLS_FREESTONE_VERBS_H

#include <CLI/CLI.hpp>

namespace freestone::tools {

void addCheckVerb(CLI::App &app);
void addCompileVerb(CLI::App &app);
void addRunVerb(CLI::App &app);
void addVerifyVerb(CLI::App &app);
void addTrainVerb(CLI::App &app);
void addPlanVerb(CLI::App &app);
void addBenchVerb(CLI::App &app);
void addInspectVerb(CLI::App &app);
void addOperatorsVerb(CLI::App &app);
void addCacheVerb(CLI::App &app);
void addMachineVerb(CLI::App &app);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_VERBS_H

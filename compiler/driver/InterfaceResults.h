// What the two parts of the C interface share: options and results as structs of C.
#ifndef FREESTONE_COMPILER_DRIVER_INTERFACERESULTS_H
#define FREESTONE_COMPILER_DRIVER_INTERFACERESULTS_H

#include "compiler/driver/CompileModel.h"

namespace freestone::driver {

Options readOptions(const freestone_compile_options &given);

freestone_compiler_result succeeded(const std::string &text);
freestone_compiler_result failedWith(const Failure &failure, const std::string *text = nullptr);
/// The text of a successful compilation (see Interface.h).
std::string describeStatistics(const Statistics &statistics, const std::vector<RandomNode> &random,
                               const std::string &target, const std::string &training);

/// GraphInterface.cpp.
extern const freestone_graph_interface graphInterface;

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_INTERFACERESULTS_H

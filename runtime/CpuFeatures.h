#ifndef FREESTONE_RUNTIME_CPUFEATURES_H
#define FREESTONE_RUNTIME_CPUFEATURES_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace freestone::runtime {

/// The architecture that this runtime was built for, as in `Target::arch`.
std::string_view hostArch();

/// Features that a runtime can check, by LLVM's names. A compiler lists in `Target::features` only these, and all of
/// these that its code may use.
const std::vector<std::string_view> &knownCpuFeatures();

/// Whether this machine (CPU and operating system) has a feature; nothing if the feature is not known.
std::optional<bool> hasCpuFeature(std::string_view feature);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_CPUFEATURES_H

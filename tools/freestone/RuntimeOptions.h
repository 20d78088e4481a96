// Options of verbs that run compiled models.
#ifndef FREESTONE_TOOLS_FREESTONE_RUNTIMEOPTIONS_H
#define FREESTONE_TOOLS_FREESTONE_RUNTIMEOPTIONS_H

#include "freestone/runtime.h"
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace freestone::tools {

/// The file of `--trace`: a timeline for Perfetto. Without a path nothing is recorded.
class TraceFile {
public:
  explicit TraceFile(const std::string &path);

  freestone_timeline *get() const { return timeline.get(); }
  /// Call after the last run.
  void write();

private:
  std::unique_ptr<freestone_timeline, decltype(&freestone_timeline_release)> timeline;
};

struct RuntimeOptions {
  int threads = 0;
  std::string tracePath;
  std::vector<std::string> switchedOff;

  void addTo(CLI::App &verb, const std::string &group = "Options");
  /// The switches of freestone_instance_options.
  uint32_t switches() const;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_RUNTIMEOPTIONS_H

#ifndef FREESTONE_TOOLS_FREESTONE_COMPILEARGUMENTS_H
#define FREESTONE_TOOLS_FREESTONE_COMPILEARGUMENTS_H

#include "compilation/Order.h"
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace freestone::tools {

/// The options of every verb that compiles.
struct CompileArguments {
  std::string target = "host";
  std::optional<std::string> device; ///< JSON of a device instead of the target
  std::string deviceName;            ///< "--device FILE"
  int level = 2;
  std::vector<std::string> dims;     ///< "seq=2:1024"
  std::vector<std::string> binds;    ///< "batch=8"
  std::vector<std::string> disabled; ///< names of optimizations
  std::string printIrTreeDir;
  std::string tilings; ///< a file of tilings that replace the chosen ones
  bool tune = false;   ///< times tilings on this machine
  bool stripWeights = false;
  int jobs = 0; ///< programs compiled in parallel; 0: automatic
  bool noCache = false, explainMiss = false;

  /// The options that name the device alone.
  void addDeviceTo(CLI::App &verb);
  void addTo(CLI::App &verb);
  /// Whether any of them was given: they have no meaning for a compiled model.
  bool given(const CLI::App &verb) const;

  /// What they order, of a model, or without one. This must outlive the order. Throws Failure (usage) where --dim or
  /// --bind is malformed.
  compilation::Order order(const std::string &model = "") const;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILEARGUMENTS_H

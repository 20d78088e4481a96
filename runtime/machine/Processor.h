#ifndef FREESTONE_RUNTIME_MACHINE_PROCESSOR_H
#define FREESTONE_RUNTIME_MACHINE_PROCESSOR_H

#include "runtime/Status.h"
#include "runtime/machine/Architecture.h"
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace freestone::runtime {

/// The environment variable that makes the machine appear as a lesser one, in the syntax of a target: `x86-64-v3`,
/// `x86-64-v4,+amx-bf16`, `host,-amx-bf16`. It applies to code for `host`, to the loader and to cache keys.
inline constexpr const char *hostVariable = "FREESTONE_HOST";

/// A processor of this architecture by name.
struct Processor {
  /// `host`, the machine as it is, or one of `architecture::levels()`.
  std::string level;
  /// Whether it is this machine, possibly restricted by FREESTONE_HOST.
  bool isHere = false;
  /// The value of FREESTONE_HOST that applies; empty if none.
  std::string seenAs;
  /// Modifiers of the level, in order: `+amx-bf16`.
  std::vector<std::string> changes;
  /// Its features, out of `architecture::features()`.
  std::set<std::string_view> features;

  bool has(std::string_view feature) const { return features.contains(feature); }
  /// Whether it has every feature of one of `architecture::levels()`.
  bool hasLevel(std::string_view level) const;

  /// Parses a target: `host` or a level, followed by comma-separated modifiers, `+` or `-` and a name of
  /// `architecture::changes()`. Errors (InvalidArgument): an unknown name; for `host`, a FREESTONE_HOST that is
  /// malformed or names a feature that the machine lacks.
  static Result<Processor> parse(std::string_view target);
  /// A machine as restricted by a value of FREESTONE_HOST. Errors: as of parse.
  static Result<Processor> see(const Processor &machine, std::string_view seenAs);
  /// `host`, as restricted by the environment. Errors: as of parse.
  static Result<Processor> here() { return parse("host"); }
};

/// Whether `architecture::features()` has it.
bool isKnownFeature(std::string_view name);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_MACHINE_PROCESSOR_H

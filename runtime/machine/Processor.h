#ifndef FREESTONE_RUNTIME_MACHINE_PROCESSOR_H
#define FREESTONE_RUNTIME_MACHINE_PROCESSOR_H

#include "runtime/Status.h"
#include "runtime/machine/Architecture.h"
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace freestone::runtime {

/// The environment variable that lets Freestone see a lesser machine than there is, in the words of a target:
/// `x86-64-v3`, `x86-64-v4,+amx-bf16`, `host,-amx-bf16`. It counts for what is compiled for `host`, for what is loaded
/// and for the keys of the cache.
inline constexpr const char *hostVariable = "FREESTONE_HOST";

/// A processor of this architecture by name.
struct Processor {
  /// `host`, all of the machine at hand, or one of `architecture::levels()`.
  std::string level;
  /// Whether it is the machine at hand: as it is, or as FREESTONE_HOST lets it be seen.
  bool isHere = false;
  /// The value of FREESTONE_HOST that this follows; empty where it does not count.
  std::string seenAs;
  /// What was added to the level or taken from it, in this order: `+amx-bf16`.
  std::vector<std::string> changes;
  /// The features that it has, of those that `architecture::features()` knows.
  std::set<std::string_view> features;

  bool has(std::string_view feature) const { return features.contains(feature); }
  /// Whether it has every feature of one of `architecture::levels()`.
  bool hasLevel(std::string_view level) const;

  /// The text of a target: `host` or a level, and behind it, after commas, `+` or `-` and the name of one of
  /// `architecture::changes()`. Errors (InvalidArgument): an unknown name; FREESTONE_HOST, where `host` depends on it,
  /// is no such text or names a feature that the machine lacks.
  static Result<Processor> parse(std::string_view target);
  /// A machine as a value of FREESTONE_HOST lets it be seen. Errors: as above.
  static Result<Processor> see(const Processor &machine, std::string_view seenAs);
  /// `host`, as the environment lets it be seen. Errors: as above.
  static Result<Processor> here() { return parse("host"); }
};

/// Whether `architecture::features()` has it.
bool isKnownFeature(std::string_view name);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_MACHINE_PROCESSOR_H

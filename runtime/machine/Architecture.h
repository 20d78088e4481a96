#ifndef FREESTONE_RUNTIME_MACHINE_ARCHITECTURE_H
#define FREESTONE_RUNTIME_MACHINE_ARCHITECTURE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The questions that a folder answers for its architecture. The one that this library was built for is linked.
namespace freestone::runtime::architecture {

/// As in `Target::arch`, and as LLVM's triples begin.
std::string_view name();

/// The number of the architecture in the header of an ELF file.
uint16_t elfMachine();

/// Baselines that code can be compiled for, by LLVM's names; each has all features of those before it.
std::span<const std::string_view> levels();

/// A set of instructions that code may need, by LLVM's name.
struct Feature {
  std::string_view name;
  /// The first of `levels()` that has it; their number where none has.
  size_t level;
};
/// All that a loader can check.
std::span<const Feature> features();

/// Whether the processor has a feature, one of `features()`, and the operating system saves its registers.
bool isPresent(const Feature &feature);

/// Asks the operating system for a feature that a process has only once it asked. False where that is refused; then
/// the first instruction would end the process.
bool request(std::string_view feature);

/// A change that the text of a target may make: the features that come with `+name` and go with `-name`.
struct Change {
  std::string_view name;
  std::vector<std::string_view> comes, goes;
  /// The first of `levels()` that it may be added to.
  size_t level;
};
std::span<const Change> changes();

/// What tells this processor from others, and what it and the system say of it besides features with a name: pairs of
/// a key and a text. Equal on all CPUs of a machine and after every start.
std::vector<std::pair<std::string, std::string>> identify();

} // namespace freestone::runtime::architecture

#endif // FREESTONE_RUNTIME_MACHINE_ARCHITECTURE_H

#ifndef FREESTONE_RUNTIME_MACHINE_ARCHITECTURE_H
#define FREESTONE_RUNTIME_MACHINE_ARCHITECTURE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The functions that every architecture's folder implements. Only the implementation for the target of this build is
/// linked.
namespace freestone::runtime::architecture {

/// As in `Target::arch`, and as LLVM's triples begin.
std::string_view name();

/// The number of the architecture in the header of an ELF file.
uint16_t elfMachine();

/// Baselines for compiled code, by LLVM's names; each includes the features of the previous ones.
std::span<const std::string_view> levels();

/// An instruction set that code may need, by LLVM's name.
struct Feature {
  std::string_view name;
  /// Index of the first of `levels()` with it; the number of levels if none has it.
  size_t level;
};
/// All features that a loader can check.
std::span<const Feature> features();

/// Whether the processor has a feature of `features()`, and the operating system saves its registers.
bool isPresent(const Feature &feature);

/// Requests a feature that the operating system grants to processes on request. False if refused; using it would then
/// end the process.
bool request(std::string_view feature);

/// A modifier of a target's text: the features that `+name` adds and `-name` removes.
struct Change {
  std::string_view name;
  std::vector<std::string_view> comes, goes;
  /// Index of the first of `levels()` that accepts it.
  size_t level;
};
std::span<const Change> changes();

/// The processor's identity, and properties reported by it and the operating system that are no named features: pairs
/// of a key and a text. Equal on all CPUs of a machine and after every start.
std::vector<std::pair<std::string, std::string>> identify();

} // namespace freestone::runtime::architecture

#endif // FREESTONE_RUNTIME_MACHINE_ARCHITECTURE_H

// The description of a model or a training step before its compilation, so that inputs or data that do not fit are
// reported without waiting.
#ifndef FREESTONE_TRAIN_COMPILATION_ACCEPTANCE_H
#define FREESTONE_TRAIN_COMPILATION_ACCEPTANCE_H

#include "compiler/driver/Interface.h"
#include "train/step/StepDescription.h"
#include <exception>
#include <functional>
#include <optional>

namespace freestone::train {

/// Inputs or outputs, from the compiler's JSON. Throws Error.
std::vector<ValueInfo> parsePorts(const std::string &json);

/// The description by the compiler.
struct ReadModel {
  std::vector<ValueInfo> inputs, outputs;
  std::optional<StepDescription> step; ///< of a training step

  /// Throws Error.
  static ReadModel parse(const std::string &json);
};

/// Throws an error if the model does not fit.
using Acceptance = std::function<void(const ReadModel &)>;

/// Connects an acceptance to a compilation; keeps its exception across the C interface.
class AcceptCall {
public:
  explicit AcceptCall(const Acceptance &acceptance) : acceptance(acceptance) {}
  AcceptCall(const AcceptCall &) = delete;

  /// This object must outlive the compilation.
  void addTo(freestone_compile_options &options);
  // Call these after the compilation.
  bool hasThrown() const { return thrown != nullptr; }
  /// Rethrows the acceptance's exception, if any.
  void rethrow() const;

private:
  const Acceptance &acceptance;
  std::exception_ptr thrown;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_COMPILATION_ACCEPTANCE_H

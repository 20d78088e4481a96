// What a model or a training step is, before anything of it is compiled: whoever has inputs or data for it finds there
// what does not fit, without waiting.
#ifndef FREESTONE_TRAIN_ACCEPTANCE_H
#define FREESTONE_TRAIN_ACCEPTANCE_H

#include "compiler/driver/Interface.h"
#include "train/step/StepDescription.h"
#include <exception>
#include <functional>
#include <optional>

namespace freestone::train {

/// What the compiler has read.
struct ReadModel {
  std::vector<ValueInfo> inputs, outputs;
  std::optional<StepDescription> step; ///< where it is a training step

  /// Throws Error.
  static ReadModel parse(const std::string &json);
};

/// Throws what does not fit.
using Acceptance = std::function<void(const ReadModel &)>;

/// Lets a compilation ask an acceptance; what that throws is kept on its way through the C interface.
class AcceptCall {
public:
  explicit AcceptCall(const Acceptance &acceptance) : acceptance(acceptance) {}
  AcceptCall(const AcceptCall &) = delete;

  /// Must outlive the compilation.
  void addTo(freestone_compile_options &options);
  // After the compilation.
  bool hasThrown() const { return thrown != nullptr; }
  /// Throws what the acceptance has thrown, if it has.
  void rethrow() const;

private:
  const Acceptance &acceptance;
  std::exception_ptr thrown;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_ACCEPTANCE_H

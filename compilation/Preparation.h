#ifndef FREESTONE_COMPILATION_PREPARATION_H
#define FREESTONE_COMPILATION_PREPARATION_H

#include "cache/Settings.h"
#include "cache/Store.h"
#include "compilation/Order.h"
#include <memory>
#include <mutex>
#include <optional>

namespace freestone::compilation {

/// Taken by functions of the compiler other than `compile`: they take one call at a time.
extern std::mutex oneAtATime;

/// The text of a result, which is freed; throws Refusal. Throws cache::CannotWrite where the compiler could not write
/// `output`.
std::string take(freestone_compiler_result result, const std::string &output = "");

/// An order with what is looked up for it, and the options of the compiler, which point into it. The constructor throws
/// freestone::Error (INVALID_ARGUMENT) for a variable of the environment.
class Preparation {
public:
  /// Copies `order`.
  explicit Preparation(const Order &order);
  Preparation(const Preparation &) = delete;

  cache::Store &store() { return *files; }
  /// Those of this machine, where they matter; compilations need them, checks and interpretations do not.
  const std::string &lookUpRates();

  /// The request for the model's artifact or text, or for the program that `key` stands for, with rates. Nothing where
  /// nothing can be kept.
  std::optional<cache::Request> request(cache::Kind kind);
  std::optional<cache::Request> request(const std::string &key);

  /// Valid during the lifetime of this object and of `path`.
  freestone_compile_options options(const std::string &path = "");

private:
  template <typename Make> std::optional<cache::Request> request(Make make);
  void nameSizes();

  Order order;
  cache::Settings environment; ///< without what `order` changes
  std::vector<freestone_dim_bound> bounds;
  std::string folder, disabled;
  std::unique_ptr<cache::Store> files;
};

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_PREPARATION_H

#ifndef FREESTONE_RUNTIME_STATUS_H
#define FREESTONE_RUNTIME_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace freestone::runtime {

/// The kind of an error. The values are those of `freestone_status` in freestone/runtime.h.
enum class Code : int {
  Ok = 0,
  InvalidArgument,
  Io,
  BadArtifact,
  Incompatible,
  Mismatch,
  OutOfMemory,
  Cancelled,
  RunFailed,
  Unsupported,
  Internal
};

/// Success, or a code and one sentence for the user.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message) : failure(code), text(std::move(message)) { assert(code != Code::Ok); }

  bool ok() const { return failure == Code::Ok; }
  Code code() const { return failure; }
  const std::string &message() const { return text; }

private:
  Code failure = Code::Ok;
  std::string text;
};

/// A value, or the error in its place.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) { assert(!failure.ok()); }

  bool ok() const { return held.has_value(); }
  const Status &status() const { return failure; }
  T &operator*() { return *held; }
  T *operator->() { return &*held; }

private:
  std::optional<T> held;
  Status failure;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_STATUS_H

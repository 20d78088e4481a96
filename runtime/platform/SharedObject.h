#ifndef FREESTONE_RUNTIME_PLATFORM_SHAREDOBJECT_H
#define FREESTONE_RUNTIME_PLATFORM_SHAREDOBJECT_H

#include "runtime/Status.h"
#include <cstdint>
#include <span>
#include <string>

namespace freestone::runtime::platform {

/// A shared library opened from bytes; closed with the object.
class SharedObject {
public:
  /// Opens the library from a sealed copy in memory, so that the verified bytes are the executed ones. If the system
  /// forbids executing such copies, opens it from the file `path`, which must start with the same bytes; an empty
  /// `path` means that there is none. `elfMachine` is the architecture's number; libraries of other architectures are
  /// refused.
  static Result<SharedObject> open(std::span<const uint8_t> bytes, const std::string &path, uint16_t elfMachine);

  SharedObject() = default;
  SharedObject(SharedObject &&other) noexcept;
  SharedObject &operator=(SharedObject &&other) noexcept;
  ~SharedObject();

  /// Address of an exported symbol, or null.
  void *find(const char *symbol) const;

private:
  void *handle = nullptr;
  int descriptor = -1; ///< kept open with the library: the loader identifies libraries by a path with this number
};

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_SHAREDOBJECT_H

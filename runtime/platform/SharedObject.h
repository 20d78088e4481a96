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
  /// The library is opened from a sealed copy in memory, so that what was verified is what runs. Where the system
  /// forbids running such copies, it is opened from the file `path` that starts with the same bytes; an empty path
  /// means that there is none. `elfMachine` is the architecture's number, which another one's library does not have.
  static Result<SharedObject> open(std::span<const uint8_t> bytes, const std::string &path, uint16_t elfMachine);

  SharedObject() = default;
  SharedObject(SharedObject &&other) noexcept;
  SharedObject &operator=(SharedObject &&other) noexcept;
  ~SharedObject();

  /// Address of an exported symbol, or null.
  void *find(const char *symbol) const;

private:
  void *handle = nullptr;
  int descriptor = -1; ///< open while the library is: the loader knows libraries by the name that holds this number
};

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_SHAREDOBJECT_H

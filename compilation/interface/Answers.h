// What the functions of the C ABI share: structs of any version in, statuses and texts out.
#ifndef FREESTONE_COMPILATION_INTERFACE_ANSWERS_H
#define FREESTONE_COMPILATION_INTERFACE_ANSWERS_H

#include "compilation/Order.h"
#include "freestone/compiler.h"
#include <algorithm>
#include <cstring>
#include <new>

namespace freestone::compilation {

/// Reads a caller's struct of any version: missing fields are zero.
template <typename Struct> Struct readStruct(const Struct *given) {
  Struct result = {};
  if (given)
    std::memcpy(&result, given, std::min(given->struct_size, sizeof(Struct)));
  return result;
}

/// Remembers the sentence as the thread's last message.
freestone_status report(freestone_status status, const std::string &sentence);

/// Throws freestone::Error where an argument is null.
void require(const void *pointer, const char *name);

/// A copy for freestone_free.
char *copy(const std::string &text);

Order orderOf(const freestone_compiler_settings &settings);

/// Calls `body`; converts exceptions to statuses.
template <typename Body> freestone_status answer(Body body) noexcept {
  try {
    body();
    return FREESTONE_OK;
  } catch (const Error &error) {
    return report(error.status(), error.what());
  } catch (const std::bad_alloc &) {
    return report(FREESTONE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return report(FREESTONE_INTERNAL, std::string("internal error: ") + error.what());
  }
}

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_INTERFACE_ANSWERS_H

#ifndef FREESTONE_RUNTIME_PLATFORM_PAGES_H
#define FREESTONE_RUNTIME_PLATFORM_PAGES_H

#include <cstddef>

namespace freestone::runtime::platform {

/// Zeroed, page-aligned memory, in huge pages where that helps; null if there is none.
void *allocatePages(size_t bytes);
void freePages(void *memory, size_t bytes);

/// What lies in a mapped file and is not needed soon leaves memory; it is read again when it is looked at.
void releaseMapped(const void *address, size_t bytes);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_PAGES_H

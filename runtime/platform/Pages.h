#ifndef FREESTONE_RUNTIME_PLATFORM_PAGES_H
#define FREESTONE_RUNTIME_PLATFORM_PAGES_H

#include <cstddef>

namespace freestone::runtime::platform {

/// Zeroed, page-aligned memory, in huge pages where they help; null on failure.
void *allocatePages(size_t bytes);
void freePages(void *memory, size_t bytes);

/// Addresses without memory; null on failure. `freePages` gives them back.
void *reservePages(size_t bytes);
/// Puts zeroed memory behind reserved addresses, whole pages. Returns whether there is enough.
bool commitPages(void *address, size_t bytes);

/// Drops pages of a mapped file from memory; they are read again on access.
void releaseMapped(const void *address, size_t bytes);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_PAGES_H

#ifndef FREESTONE_RUNTIME_PLATFORM_PAGES_H
#define FREESTONE_RUNTIME_PLATFORM_PAGES_H

#include <cstddef>

namespace freestone::runtime::platform {

/// Zeroed, page-aligned memory, in huge pages where that helps; null if there is none.
void *allocatePages(size_t bytes);
void freePages(void *memory, size_t bytes);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_PAGES_H

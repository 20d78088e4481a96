#ifndef FREESTONE_CACHE_MACHINE_H
#define FREESTONE_CACHE_MACHINE_H

#include <string>

namespace freestone::cache {

/// The machine-dependent inputs of code for "this machine": the processor's model, its features as far as the system
/// and FREESTONE_HOST allow them, and its caches. Equal on all processors of a machine and after every start; nothing
/// is measured.
std::string describeMachine();

} // namespace freestone::cache

#endif // FREESTONE_CACHE_MACHINE_H

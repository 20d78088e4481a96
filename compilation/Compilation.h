#ifndef FREESTONE_COMPILATION_COMPILATION_H
#define FREESTONE_COMPILATION_COMPILATION_H

#include "cache/Entry.h"
#include "compilation/Order.h"

namespace freestone::compilation {

/// All functions may be called from any thread. They throw freestone::Error: UNSUPPORTED where the model uses a feature
/// that can't be compiled, INVALID_ARGUMENT for other faults of the model or an option, INCOMPATIBLE without a
/// compiler; and what `complete` and the callbacks throw outside of the compiler.

/// The artifact of an order, from the user's cache or newly compiled; its `about` is the compiler's statistics.
cache::Entry obtain(const Order &order);

/// Builds a graph by the compiler's interface. An exception of its own ends the compilation.
using GraphBuilder = std::function<void(freestone_graph *graph)>;

/// The artifact of a program that a front end builds; `key` stands for all that it is built of, and `build` is called
/// only where the cache does not have it.
cache::Entry obtain(const Order &order, const std::string &key, const GraphBuilder &build);

/// The program at a level, as of `inspect` of the compiler's interface.
std::string inspect(const Order &order, const std::string &level);

/// What the model is, as JSON (`check` of the compiler's interface), also where it can't be compiled.
std::string describe(const Order &order);

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_COMPILATION_H

#ifndef FREESTONE_COMPILATION_COMPILATION_H
#define FREESTONE_COMPILATION_COMPILATION_H

#include "cache/Entry.h"
#include "compilation/Order.h"
#include "freestone/freestone.h"
#include <span>

namespace freestone::compilation {

/// What the compiler refused: UNSUPPORTED where the model uses a feature that can't be compiled, else
/// INVALID_ARGUMENT, with the compiler's own status.
class Refusal : public Error {
public:
  Refusal(freestone_compiler_status reason, const std::string &sentence)
      : Error(reason == FREESTONE_COMPILER_UNSUPPORTED ? FREESTONE_UNSUPPORTED : FREESTONE_INVALID_ARGUMENT,
              sentence.c_str()),
        reason(reason) {}
  const freestone_compiler_status reason;
};

/// All functions may be called from any thread. They throw Refusal; freestone::Error INCOMPATIBLE without a compiler,
/// INVALID_ARGUMENT for a variable of the environment, IO where a file can't be written; and what `complete` and the
/// callbacks throw outside of the compiler.

/// The artifact of an order, from the user's cache or newly compiled; its `about` is the compiler's statistics.
cache::Entry obtain(const Order &order);

/// Compiles into a file, without asking the cache for the artifact or adding it; only its code is kept. Returns the
/// statistics.
std::string compileInto(const Order &order, const std::string &path);

/// Builds a graph by the compiler's interface. An exception of its own ends the compilation.
using GraphBuilder = std::function<void(freestone_graph *graph)>;

/// The artifact of a program that a front end builds; `key` stands for all that it is built of, and `build` is called
/// only where the cache does not have it.
cache::Entry obtain(const Order &order, const std::string &key, const GraphBuilder &build);

/// The program at a level, as of `inspect` of the compiler's interface.
std::string inspect(const Order &order, const std::string &level);

/// What a model is.
struct Description {
  std::string json;   ///< as of `check` of the compiler's interface
  std::string reason; ///< why it can't be compiled; empty where it can
};

Description describe(const Order &order);

/// Evaluates a model as `interpret` of the compiler's interface does.
void interpret(const Order &order, std::span<const freestone_plain_tensor> inputs, bool wide,
               freestone_take_tensor take, void *user);

/// The device that an order compiles for, as JSON.
std::string describeDevice(const Order &order);

/// The rates that an order compiles with (see cache::MachineRates); empty where they do not matter. Measures the
/// machine where that has never been done.
std::string findRates(const Order &order);

/// Measures in less than a second how fast this machine is; one line, which is not kept.
std::string measureMachine();

/// The supported operators, as the Markdown of docs/operators.md.
std::string listOperators();

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_COMPILATION_H

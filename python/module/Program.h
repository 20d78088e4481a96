#ifndef FREESTONE_PYTHON_MODULE_PROGRAM_H
#define FREESTONE_PYTHON_MODULE_PROGRAM_H

#include "freestone/freestone.h"
#include "python/module/Forks.h"
#include "python/module/KeptWeights.h"
#include "python/module/TensorArgument.h"
#include "python/module/Workers.h"
#include <deque>
#include <mutex>
#include <nanobind/nanobind.h>
#include <optional>

namespace freestone::python {

/// An artifact with the instances that run it: as many as calls were under way at the same time, but one if the program
/// keeps values from call to call. Thread-safe. A forked child makes instances of its own, since threads stay behind.
class Program {
public:
  Program(Artifact artifact, Workers workers);
  ~Program();

  const Artifact &artifact() const { return loaded; }

  /// Runs with inputs in order, by name, or both; `out` is None, or names outputs and gives arrays for them. Returns
  /// the only output, or a tuple of all. The GIL is released while it runs.
  nanobind::object call(nanobind::args positional, nanobind::kwargs named);
  nanobind::object run(nanobind::object inputs, nanobind::object out);
  /// Runs on the memory of tensors of PyTorch, in the order of inputs and outputs: contiguous, on the CPU, and of the
  /// right element types, which the caller guarantees. Nothing is copied. (RunInPlace.cpp)
  void runInPlace(nanobind::list given, nanobind::list taken);
  /// Whether it has an entry "pack", so that runs are those of `runKept`.
  bool keepsWeights() const { return keeps; }
  /// The weights that entry takes, in order.
  const std::vector<ValueInfo> &weightInputs() const { return packInputs; }
  /// As `runInPlace`, with the weights of the entry "pack", which runs where they are others than in the last run (see
  /// KeptWeights).
  void runKept(nanobind::list given, nanobind::list taken, nanobind::list weights);
  /// Places the states in the memory of these tensors, in order, which must live as long as runs use it: of the same
  /// sizes, contiguous, and aligned to 64 bytes.
  void placeStates(nanobind::list tensors);

  /// Bytes that a run needs at these values of the size symbols, and dimensions of inputs and outputs, by name.
  nanobind::dict plan(nanobind::object sizes);
  /// What all instances have done so far.
  nanobind::dict counters();

private:
  /// The instances of one process.
  struct Pool {
    const unsigned forks = countForks();
    std::mutex turn;  ///< held by the call under way on `state`
    std::mutex mutex; ///< of `idle`
    std::vector<std::unique_ptr<Instance>> idle;
    KeptWeights::Pool kept; ///< of a program that keeps weights, which has no other instances
  };
  /// That of this process.
  Pool &pool();

  /// An instance that nobody else uses, given back at the end. Made and destroyed with or without the GIL.
  class Lease {
  public:
    explicit Lease(Program &program);
    ~Lease();
    Lease(const Lease &) = delete;
    Instance &operator*() { return *instance; }
    Instance *operator->() { return instance.get(); }

  private:
    Program &program;
    Pool &pool;
    std::unique_ptr<Instance> instance;
  };

  /// The arguments of a call, by number of input and output.
  struct Arguments {
    std::deque<std::optional<TensorArgument>> inputs, outputs;
    std::deque<std::optional<std::deque<TensorArgument>>> sequences; ///< of inputs that are no tensors; none: absent
    std::vector<bool> isSequenceGiven;
    std::vector<nanobind::object> given; ///< objects that receive outputs; null: none
    nanobind::object foreign;            ///< the first input that is no NumPy array
  };

  nanobind::object execute(Arguments &arguments);
  void setInput(Arguments &arguments, size_t index, nanobind::handle object);
  void setSequence(Arguments &arguments, size_t index, nanobind::handle object);
  nanobind::object wrapOutput(std::optional<std::vector<Tensor>> made, size_t index, nanobind::handle like);
  void setOutputs(Arguments &arguments, nanobind::handle out);
  Arguments arguments() const;

  Artifact loaded;
  const Workers workers;
  std::vector<ValueInfo> inputs, outputs, packInputs;
  bool keeps = false;
  std::optional<State> state; ///< of a program that keeps values from call to call
  std::unique_ptr<Pool> instances = std::make_unique<Pool>();
};

/// Adds the class to the module.
void addProgram(nanobind::module_ &module);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_PROGRAM_H

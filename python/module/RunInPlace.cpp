// Calls from compiled functions, which guarantee what a user's call must be checked for.
#include "python/module/InPlaceTensors.h"
#include "python/module/Program.h"

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

static void runOn(freestone::Instance &instance, const InPlaceTensors &from, const InPlaceTensors &to) {
  for (size_t i = 0; i < from.size(); ++i)
    check(freestone_instance_set_input(instance.get(), i, from[i]));
  for (size_t i = 0; i < to.size(); ++i)
    check(freestone_instance_set_output(instance.get(), i, to[i]));
  instance.run();
}

void Program::runInPlace(nb::list given, nb::list taken) {
  InPlaceTensors from(given, inputs), to(taken, outputs);
  nb::gil_scoped_release released;
  Lease instance(*this);
  runOn(*instance, from, to);
}

void Program::runKept(nb::list given, nb::list taken, nb::list weights) {
  InPlaceTensors from(given, inputs), to(taken, outputs);
  KeptWeights::Lease kept(pool().kept, loaded, workers, weights);
  std::optional<InPlaceTensors> plain;
  if (!kept->isCurrent())
    plain.emplace(weights, packInputs);
  nb::gil_scoped_release released;
  if (plain)
    kept->pack(*plain);
  runOn(kept->main(), from, to);
}

void Program::placeStates(nb::list tensors) {
  std::vector<StateInfo> states = loaded.states();
  if (tensors.size() != states.size())
    throw Error(FREESTONE_INVALID_ARGUMENT, "as many tensors must be given as the program has states");
  std::lock_guard lock(pool().turn);
  for (size_t i = 0; i < states.size(); ++i) {
    auto pointer = nb::cast<intptr_t>(tensors[i].attr("data_ptr")());
    auto bytes = nb::cast<size_t>(tensors[i].attr("nbytes"));
    state->place(i, reinterpret_cast<void *>(pointer), bytes);
  }
}

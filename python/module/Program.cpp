#include "python/module/Program.h"

#include "python/module/ElementTypes.h"
#include "python/module/OutputTensor.h"
#include <algorithm>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

static Error invalid(const std::string &sentence) { return {FREESTONE_INVALID_ARGUMENT, sentence.c_str()}; }

static std::string listNames(const std::vector<ValueInfo> &values) {
  std::string list;
  for (const ValueInfo &value : values)
    list += (list.empty() ? "'" : ", '") + value.name + "'";
  return list.empty() ? "none" : list;
}

static size_t indexOf(const std::vector<ValueInfo> &values, nb::handle key, const char *kind) {
  if (!nb::isinstance<nb::str>(key))
    throw invalid(std::string("the name of an ") + kind + " must be a string");
  auto name = nb::cast<std::string>(key);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].name == name)
      return i;
  throw invalid(std::string("there is no ") + kind + " '" + name + "'; there is " + listNames(values));
}

Program::Program(Artifact artifact, Workers given)
    : loaded(std::move(artifact)), workers(given), inputs(loaded.inputs()), outputs(loaded.outputs()) {
  std::vector<std::string> entries = loaded.entries();
  keeps = std::ranges::find(entries, "pack") != entries.end();
  if (keeps)
    packInputs = KeptWeights(loaded, {1}).inputs();
  else if (freestone_artifact_state_count(loaded.get()) > 0)
    state.emplace(loaded);
}

Program::~Program() {
  if (instances->forks != countForks())
    (void)instances.release();
}

Program::Pool &Program::pool() {
  // A child begins with one thread, so that this needs no lock.
  if (instances->forks != countForks()) {
    (void)instances.release();
    instances = std::make_unique<Pool>();
  }
  return *instances;
}

Program::Lease::Lease(Program &program) : program(program), pool(program.pool()) {
  if (program.keeps)
    throw invalid("the program keeps weights of PyTorch's: only compiled functions can run it");
  if (program.state)
    pool.turn.lock();
  {
    std::lock_guard lock(pool.mutex);
    if (!pool.idle.empty()) {
      instance = std::move(pool.idle.back());
      pool.idle.pop_back();
      return;
    }
  }
  try {
    instance = program.workers.start(program.loaded, "main", program.state ? &*program.state : nullptr);
  } catch (...) {
    if (program.state)
      pool.turn.unlock();
    throw;
  }
}

Program::Lease::~Lease() {
  {
    std::lock_guard lock(pool.mutex);
    pool.idle.push_back(std::move(instance));
  }
  if (program.state)
    pool.turn.unlock();
}

Program::Arguments Program::arguments() const {
  Arguments arguments;
  arguments.inputs.resize(inputs.size());
  arguments.outputs.resize(outputs.size());
  arguments.given.resize(outputs.size());
  arguments.sequences.resize(inputs.size());
  arguments.isSequenceGiven.resize(inputs.size());
  return arguments;
}

void Program::setInput(Arguments &arguments, size_t index, nb::handle object) {
  const ValueInfo &input = inputs[index];
  if (!input.isTensor())
    return setSequence(arguments, index, object);
  if (arguments.inputs[index])
    throw invalid("input '" + input.name + "' is given twice");
  arguments.inputs[index].emplace(object, input.name, input.dtype, TensorArgument::Access::Read);
  if (!arguments.foreign && TensorArgument::isForeign(object))
    arguments.foreign = nb::borrow(object);
}

/// None is an optional that is absent; an optional tensor is given as it is, other sequences as lists or tuples.
void Program::setSequence(Arguments &arguments, size_t index, nb::handle object) {
  const ValueInfo &input = inputs[index];
  if (arguments.isSequenceGiven[index])
    throw invalid("input '" + input.name + "' is given twice");
  arguments.isSequenceGiven[index] = true;
  if (object.is_none() && input.kind != FREESTONE_SEQUENCE)
    return;
  std::deque<TensorArgument> &elements = arguments.sequences[index].emplace();
  auto add = [&](nb::handle element, const std::string &name) {
    elements.emplace_back(element, name, input.dtype, TensorArgument::Access::Read);
    if (!arguments.foreign && TensorArgument::isForeign(element))
      arguments.foreign = nb::borrow(element);
  };
  if (input.kind == FREESTONE_OPTIONAL)
    return add(object, input.name);
  if (!nb::isinstance<nb::list>(object) && !nb::isinstance<nb::tuple>(object))
    throw invalid("input '" + input.name + "' is a sequence; give a list of arrays");
  for (nb::handle element : object)
    add(element, input.name + "[" + std::to_string(elements.size()) + "]");
}

void Program::setOutputs(Arguments &arguments, nb::handle out) {
  if (out.is_none())
    return;
  auto set = [&](size_t index, nb::handle object) {
    const ValueInfo &output = outputs[index];
    arguments.outputs[index].emplace(object, output.name, output.dtype, TensorArgument::Access::Write);
    arguments.given[index] = nb::borrow(object);
  };
  if (nb::isinstance<nb::dict>(out)) {
    for (auto [name, object] : nb::borrow<nb::dict>(out))
      set(indexOf(outputs, name, "output"), object);
    return;
  }
  if (nb::isinstance<nb::tuple>(out) || nb::isinstance<nb::list>(out)) {
    nb::sequence objects = nb::borrow<nb::sequence>(out);
    if (nb::len(objects) != outputs.size())
      throw invalid("out has " + std::to_string(nb::len(objects)) + " arrays for the outputs " + listNames(outputs));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (nb::object object = objects[i]; !object.is_none())
        set(i, object);
    return;
  }
  if (outputs.size() != 1)
    throw invalid("out must name the outputs, out={'" + outputs.front().name + "': array}, since there are several");
  set(0, out);
}

nb::object Program::call(nb::args positional, nb::kwargs named) {
  Arguments values = arguments();
  if (positional.size() > inputs.size())
    throw invalid(std::to_string(positional.size()) + " inputs are given; there is " + listNames(inputs));
  for (size_t i = 0; i < positional.size(); ++i)
    setInput(values, i, positional[i]);
  for (auto [name, object] : named) {
    bool isOut = nb::cast<std::string>(name) == "out" &&
                 std::ranges::none_of(inputs, [](const ValueInfo &input) { return input.name == "out"; });
    if (isOut)
      setOutputs(values, object);
    else
      setInput(values, indexOf(inputs, name, "input"), object);
  }
  return execute(values);
}

/// Of a mapping of any kind.
static nb::dict toDict(nb::handle mapping, const char *what) {
  if (nb::isinstance<nb::dict>(mapping))
    return nb::borrow<nb::dict>(mapping);
  if (!nb::hasattr(mapping, "keys"))
    throw invalid(std::string(what) + " are a dict, not " + nb::cast<std::string>(nb::repr(mapping.type())));
  nb::dict dict;
  dict.update(mapping);
  return dict;
}

nb::object Program::run(nb::object given, nb::object out) {
  Arguments values = arguments();
  for (auto [name, object] : toDict(given, "inputs by name"))
    setInput(values, indexOf(inputs, name, "input"), object);
  setOutputs(values, out);
  return execute(values);
}

static void bindSequence(Instance &instance, size_t index, std::optional<std::deque<TensorArgument>> &elements) {
  if (!elements)
    return instance.setAbsent(index);
  std::vector<DLTensor> tensors;
  for (const TensorArgument &element : *elements)
    tensors.push_back(*element.get());
  check(freestone_instance_set_sequence(instance.get(), index, tensors.data(), tensors.size()));
}

/// A tensor as an array, an optional one as an array or None, a sequence as a list.
nb::object Program::wrapOutput(std::optional<std::vector<Tensor>> made, size_t index, nb::handle like) {
  freestone_value_kind kind = outputs[index].kind;
  if (!made || (kind == FREESTONE_OPTIONAL && made->empty()))
    return nb::none();
  if (kind == FREESTONE_TENSOR || kind == FREESTONE_OPTIONAL)
    return wrapTensor(std::move(made->front()), like);
  nb::list elements;
  for (Tensor &element : *made)
    elements.append(wrapTensor(std::move(element), like));
  return elements;
}

nb::object Program::execute(Arguments &arguments) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].isTensor() ? !arguments.inputs[i]
                             : inputs[i].kind == FREESTONE_SEQUENCE && !arguments.isSequenceGiven[i])
      throw invalid("input '" + inputs[i].name + "' is missing; the model takes " + listNames(inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].isTensor() && arguments.given[i])
      throw invalid("out can't hold output '" + outputs[i].name + "', which is no tensor");
  std::vector<std::optional<std::vector<Tensor>>> made(outputs.size());
  {
    nb::gil_scoped_release released;
    Lease instance(*this);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].isTensor())
        check(freestone_instance_set_input(instance->get(), i, arguments.inputs[i]->get()));
      else
        bindSequence(*instance, i, arguments.sequences[i]);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].isTensor())
        check(freestone_instance_set_output(instance->get(), i,
                                            arguments.outputs[i] ? arguments.outputs[i]->get() : nullptr));
    instance->run();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].isTensor())
        made[i] = instance->sequence(i);
      else if (!arguments.given[i])
        made[i].emplace().push_back(instance->output(i));
  }
  nb::object result = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i) {
    nb::object value = arguments.given[i] ? arguments.given[i] : wrapOutput(std::move(made[i]), i, arguments.foreign);
    if (outputs.size() == 1)
      return value;
    PyTuple_SetItem(result.ptr(), static_cast<Py_ssize_t>(i), value.release().ptr());
  }
  return result;
}

nb::dict Program::plan(nb::object given) {
  std::vector<std::string> names;
  std::vector<freestone_size> values;
  nb::dict sizes = toDict(given, "symbolic sizes");
  names.reserve(nb::len(sizes));
  for (auto [name, value] : sizes) {
    int64_t size = 0;
    if (!nb::isinstance<nb::str>(name) || !nb::try_cast(value, size))
      throw invalid("the size '" + nb::cast<std::string>(nb::str(name)) + "' is a whole number, not " +
                    nb::cast<std::string>(nb::repr(value)));
    values.push_back({names.emplace_back(nb::cast<std::string>(name)).c_str(), size});
  }
  Lease instance(*this);
  freestone_memory_need need = instance->planMemory(values);
  nb::dict bytes, shapes;
  bytes["arena"] = need.arena_bytes;
  bytes["scratch"] = need.scratch_bytes;
  bytes["outputs"] = need.output_bytes;
  bytes["state"] = need.state_bytes;
  for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
    bool isInput = i < inputs.size();
    const ValueInfo &value = isInput ? inputs[i] : outputs[i - inputs.size()];
    std::vector<int64_t> dims(value.shape.size());
    if (isInput)
      instance->planInput(values, i, dims.data());
    else
      instance->planOutput(values, i - inputs.size(), dims.data());
    shapes[value.name.c_str()] = nb::tuple(nb::cast(dims));
  }
  nb::dict plan;
  plan["bytes"] = bytes;
  plan["shapes"] = shapes;
  return plan;
}

nb::dict Program::counters() {
  freestone_counters sum = {};
  Pool &pool = this->pool();
  std::lock_guard lock(pool.mutex);
  for (const std::unique_ptr<Instance> &instance : pool.idle) {
    freestone_counters counters = {};
    counters.struct_size = sizeof(counters);
    check(freestone_instance_counters(instance->get(), &counters));
    sum.runs += counters.runs;
    sum.binds += counters.binds;
    sum.plan_hits += counters.plan_hits;
    sum.allocations += counters.allocations;
    sum.arena_bytes += counters.arena_bytes;
    sum.borrowed += counters.borrowed;
    sum.entries += counters.entries;
    sum.host_calls += counters.host_calls;
    sum.claiming_runs += counters.claiming_runs;
    sum.steals += counters.steals;
    sum.preemptions += counters.preemptions;
    sum.operations = std::max(sum.operations, counters.operations);
  }
  nb::dict result;
  std::lock_guard keptLock(pool.kept.mutex);
  result["instances"] = pool.idle.size() + pool.kept.idle.size();
  result["packs"] = pool.kept.packs;
  result["runs"] = sum.runs;
  result["binds"] = sum.binds;
  result["plan_hits"] = sum.plan_hits;
  result["allocations"] = sum.allocations;
  result["arena_bytes"] = sum.arena_bytes;
  result["borrowed"] = sum.borrowed;
  result["entries"] = sum.entries;
  result["host_calls"] = sum.host_calls;
  result["claiming_runs"] = sum.claiming_runs;
  result["steals"] = sum.steals;
  result["preemptions"] = sum.preemptions;
  result["operations"] = sum.operations;
  return result;
}

static nb::tuple describeValues(const std::vector<ValueInfo> &values) {
  nb::list list;
  for (const ValueInfo &value : values)
    list.append(nb::make_tuple(value.name, numpyType(value.dtype), nb::tuple(nb::cast(value.shape))));
  return nb::tuple(list);
}

static nb::tuple describeKinds(const std::vector<ValueInfo> &values) {
  nb::list list;
  for (const ValueInfo &value : values)
    list.append(value.kind == FREESTONE_SEQUENCE            ? "sequence"
                : value.kind == FREESTONE_OPTIONAL          ? "optional"
                : value.kind == FREESTONE_OPTIONAL_SEQUENCE ? "optional sequence"
                                                            : "tensor");
  return nb::tuple(list);
}

static nb::tuple describeSizes(const Artifact &artifact) {
  nb::list list;
  for (size_t i = 0; i < freestone_artifact_symbol_count(artifact.get()); ++i) {
    freestone_symbol_info symbol = {};
    symbol.struct_size = sizeof(symbol);
    check(freestone_artifact_symbol(artifact.get(), i, &symbol));
    list.append(nb::make_tuple(symbol.name, symbol.lower,
                               symbol.upper == INT64_MAX ? nb::none() : nb::cast(symbol.upper), symbol.multiple_of,
                               symbol.is_result != 0));
  }
  return nb::tuple(list);
}

static std::string describeArtifact(const Artifact &artifact) {
  char *json = nullptr;
  check(freestone_artifact_describe(artifact.get(), &json));
  std::string text = json;
  freestone_free(json);
  return text;
}

void python::addProgram(nb::module_ &module) {
  nb::class_<Artifact>(module, "Artifact", "A loaded artifact, which programs share.");
  nb::class_<Program>(module, "Program", "What runs an artifact; see freestone.Program.")
      .def(
          "__init__",
          [](Program *program, Artifact artifact, int threads, bool borrow) {
            new (program) Program(std::move(artifact), Workers{threads, borrow});
          },
          nb::arg("artifact"), nb::arg("threads"), nb::arg("borrow") = false,
          "`borrow`: the workers are threads of the process's OpenMP, where it has one, as PyTorch does.")
      .def("__call__", &Program::call,
           nb::sig("def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any"))
      .def("run", &Program::run, nb::arg("inputs"), nb::arg("out") = nb::none(),
           nb::sig("def run(self, inputs: dict[str, typing.Any], out: typing.Any = None) -> typing.Any"),
           "Runs with inputs by name, as a call does; for names that are no Python identifiers.")
      .def("run_in_place", &Program::runInPlace,
           nb::sig("def run_in_place(self, inputs: list[typing.Any], outputs: list[typing.Any]) -> None"),
           "Runs on the memory of tensors of PyTorch, contiguous and of the right types, which is not checked.")
      .def("run_kept", &Program::runKept,
           nb::sig("def run_kept(self, inputs: list[typing.Any], outputs: list[typing.Any], weights: list[typing.Any]) "
                   "-> None"),
           "As run_in_place, of a program that keeps what it makes of weights: those of weight_names.")
      .def_prop_ro("weight_names",
                   [](const Program &program) {
                     std::vector<std::string> names;
                     for (const ValueInfo &value : program.weightInputs())
                       names.push_back(value.name);
                     return names;
                   })
      .def("place_states", &Program::placeStates, nb::sig("def place_states(self, tensors: list[typing.Any]) -> None"),
           "Places the states in the memory of tensors of PyTorch, in order: runs read and write them there.")
      .def_prop_ro("state_names",
                   [](const Program &program) {
                     std::vector<std::string> names;
                     for (const StateInfo &state : program.artifact().states())
                       names.push_back(state.name);
                     return names;
                   })
      .def("plan", &Program::plan, nb::arg("sizes"),
           nb::sig("def plan(self, sizes: dict[str, int]) -> dict[str, dict[str, typing.Any]]"),
           "The bytes that a run needs and the shapes of inputs and outputs, at these values of the symbolic sizes. "
           "Reserves nothing.")
      .def("counters", &Program::counters, nb::sig("def counters(self) -> dict[str, int]"),
           "What all runs have done so far, of instances that are not running. Where other threads competed for the CPUs: "
           "`claiming_runs`, in which workers took tiles from each other, `steals`, how many times they did, and "
           "`preemptions`, how many times a worker lost its CPU.")
      .def_prop_ro(
          "_inputs", [](const Program &program) { return describeValues(program.artifact().inputs()); },
          nb::for_getter(nb::sig("def _inputs(self, /) -> tuple[tuple[str, str, tuple[str, ...]], ...]")))
      .def_prop_ro(
          "_outputs", [](const Program &program) { return describeValues(program.artifact().outputs()); },
          nb::for_getter(nb::sig("def _outputs(self, /) -> tuple[tuple[str, str, tuple[str, ...]], ...]")))
      .def_prop_ro(
          "_kinds",
          [](const Program &program) {
            return nb::make_tuple(describeKinds(program.artifact().inputs()),
                                  describeKinds(program.artifact().outputs()));
          },
          nb::for_getter(nb::sig("def _kinds(self, /) -> tuple[tuple[str, ...], tuple[str, ...]]")))
      .def_prop_ro(
          "_sizes", [](const Program &program) { return describeSizes(program.artifact()); },
          nb::for_getter(nb::sig("def _sizes(self, /) -> tuple[tuple[str, int, int | None, int, bool], ...]")))
      .def("_describe", [](const Program &program) { return describeArtifact(program.artifact()); })
      .def(
          "_save", [](const Program &program, const std::string &path) { program.artifact().save(path); },
          nb::call_guard<nb::gil_scoped_release>());
}

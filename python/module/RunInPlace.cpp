// Calls from compiled functions, which guarantee what a user's call must be checked for.
#include "python/module/Program.h"

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

namespace {

/// The tensors of a list, as the runtime sees them: pointers and shapes.
class Memory {
public:
  Memory(nb::list tensors, const std::vector<ValueInfo> &values) : views(values.size()) {
    static PyObject *const pointerName = PyUnicode_InternFromString("data_ptr");
    static PyObject *const shapeName = PyUnicode_InternFromString("shape");
    if (tensors.size() != values.size())
      throw Error(FREESTONE_INVALID_ARGUMENT, "as many tensors must be given as the program has values");
    size_t rank = 0;
    for (const ValueInfo &value : values)
      rank += value.shape.size();
    dims.reserve(rank);
    for (size_t i = 0; i < values.size(); ++i) {
      nb::handle tensor = tensors[i];
      nb::object pointer = nb::steal(PyObject_CallMethodNoArgs(tensor.ptr(), pointerName));
      nb::object shape = nb::steal(PyObject_GetAttr(tensor.ptr(), shapeName));
      if (!pointer || !shape)
        throw nb::python_error();
      views[i].data = PyLong_AsVoidPtr(pointer.ptr());
      // Tensors without elements have no memory.
      if (!views[i].data)
        views[i].data = this;
      views[i].device = {kDLCPU, 0};
      views[i].dtype = typeOf(values[i].dtype);
      views[i].ndim = static_cast<int32_t>(values[i].shape.size());
      views[i].shape = dims.data() + dims.size();
      if (PyTuple_Size(shape.ptr()) != views[i].ndim)
        throw Error(FREESTONE_MISMATCH, ("'" + values[i].name + "' has another rank than it was compiled for").c_str());
      for (int32_t axis = 0; axis < views[i].ndim; ++axis)
        dims.push_back(PyLong_AsLongLong(PyTuple_GetItem(shape.ptr(), axis)));
    }
  }

  const DLTensor *operator[](size_t index) const { return &views[index]; }

private:
  static DLDataType typeOf(freestone_dtype dtype) {
    switch (dtype) {
    case FREESTONE_F16:
      return {kDLFloat, 16, 1};
    case FREESTONE_BF16:
      return {kDLBfloat, 16, 1};
    case FREESTONE_F32:
      return {kDLFloat, 32, 1};
    case FREESTONE_F64:
      return {kDLFloat, 64, 1};
    case FREESTONE_I1:
      return {kDLBool, 8, 1};
    case FREESTONE_I8:
    case FREESTONE_I16:
    case FREESTONE_I32:
    case FREESTONE_I64:
      return {kDLInt, static_cast<uint8_t>(8 << (dtype - FREESTONE_I8)), 1};
    default:
      return {kDLUInt, static_cast<uint8_t>(8 << (dtype - FREESTONE_U8)), 1};
    }
  }

  std::vector<DLTensor> views;
  std::vector<int64_t> dims;
};

} // namespace

void Program::runInPlace(nb::list given, nb::list taken) {
  Memory from(given, inputs), to(taken, outputs);
  nb::gil_scoped_release released;
  Lease instance(*this);
  for (size_t i = 0; i < inputs.size(); ++i)
    check(freestone_instance_set_input(instance->get(), i, from[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    check(freestone_instance_set_output(instance->get(), i, to[i]));
  instance->run();
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

#include "python/module/InPlaceTensors.h"

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

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

InPlaceTensors::InPlaceTensors(nb::list tensors, const std::vector<ValueInfo> &values) : views(values.size()) {
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
    nb::object pointer = nb::steal(PyObject_CallMethodObjArgs(tensor.ptr(), pointerName, nullptr));
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

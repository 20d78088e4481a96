#include "python/module/TensorArgument.h"

#include "freestone/freestone.h"
#include "python/module/ElementTypes.h"

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

static Error mismatch(const std::string &sentence) { return {FREESTONE_MISMATCH, sentence.c_str()}; }

static std::string typeName(nb::handle object) { return nb::cast<std::string>(nb::str(nb::type_name(object.type()))); }

/// A number or a list of numbers has no element type of its own.
static bool isPlain(nb::handle object) {
  return PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr()) || nb::isinstance<nb::list>(object) ||
         nb::isinstance<nb::tuple>(object);
}

/// The type of ml_dtypes of a NumPy array, which has no buffer format.
static std::optional<DLDataType> getMlDtype(nb::handle object) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  nb::object name = nb::getattr(dtype, "name", nb::none());
  if (!nb::isinstance<nb::str>(name) || !nb::hasattr(object, "view") || !nb::hasattr(object, "__array_interface__"))
    return std::nullopt;
  return typeOfMlDtypes(nb::cast<std::string>(name));
}

/// Numbers as an array of NumPy's or of ml_dtypes' type.
static nb::object toArray(nb::handle object, freestone_dtype dtype) {
  nb::object numpy = nb::module_::import_("numpy"), type = nb::str(numpyType(dtype));
  if (typeOfMlDtypes(numpyType(dtype)))
    type = nb::module_::import_("ml_dtypes").attr(numpyType(dtype));
  return numpy.attr("asarray")(object, type);
}

bool TensorArgument::isForeign(nb::handle object) {
  // Never freed: the interpreter may end before this library.
  static PyObject *array = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return object.type().ptr() != array && !isPlain(object) && nb::hasattr(object, "__dlpack__") &&
         PyObject_IsInstance(object.ptr(), array) != 1;
}

TensorArgument::TensorArgument(nb::handle object, const std::string &name, freestone_dtype dtype, Access access) {
  if (access == Access::Read && isPlain(object)) {
    nb::object array;
    try {
      array = toArray(object, dtype);
    } catch (const nb::python_error &error) {
      throw mismatch("'" + name + "' can't become an array of " + numpyType(dtype) + ": " +
                     nb::cast<std::string>(nb::str(error.value())));
    }
    if (!takeMlDtypes(array, name, access))
      takeBuffer(array, name, access);
    return;
  }
  if (takeMlDtypes(object, name, access) || takeBuffer(object, name, access))
    return;
  if (!takeDLPack(object, name))
    throw mismatch("'" + name + "' is a " + typeName(object) + "; give a NumPy array or an object that speaks DLPack");
}

TensorArgument::~TensorArgument() {
  if (hasBuffer)
    PyBuffer_Release(&buffer);
  if (managed && managed->deleter)
    managed->deleter(managed);
}

bool TensorArgument::takeBuffer(nb::handle object, const std::string &name, Access access) {
  int flags = PyBUF_FORMAT | PyBUF_STRIDES | (access == Access::Write ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer, flags) != 0) {
    PyErr_Clear();
    if (access == Access::Write && PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FORMAT | PyBUF_STRIDES) == 0) {
      PyBuffer_Release(&buffer);
      throw mismatch("'" + name + "' can't be written: its array is read-only");
    }
    PyErr_Clear();
    return false;
  }
  hasBuffer = true;
  if (buffer.format && (*buffer.format == '>' || *buffer.format == '!'))
    throw mismatch("'" + name + "' has big-endian elements; convert them: array.astype(array.dtype.newbyteorder('='))");
  if (!typeOfFormat(buffer.format, buffer.itemsize, tensor.dtype))
    throw mismatch("'" + name + "' has elements of the format '" + (buffer.format ? buffer.format : "") +
                   "', which no model takes");
  tensor.data = buffer.buf;
  tensor.device = {kDLCPU, 0};
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  tensor.ndim = buffer.ndim;
  tensor.shape = reinterpret_cast<int64_t *>(buffer.shape);
  if (!PyBuffer_IsContiguous(&buffer, 'C')) {
    for (int axis = 0; axis < buffer.ndim; ++axis)
      strides.push_back(buffer.strides[axis] / buffer.itemsize);
    tensor.strides = strides.data();
  }
  return true;
}

bool TensorArgument::takeMlDtypes(nb::handle object, const std::string &name, Access access) {
  std::optional<DLDataType> type = getMlDtype(object);
  if (!type)
    return false;
  nb::object codes = object.attr("view")(type->bits == 16 ? "uint16" : "uint8");
  if (type->bits < 8) {
    if (access == Access::Write)
      throw mismatch("'" + name + "' can't be written in place: NumPy holds one element to a byte, models several");
    codes = nb::module_::import_("numpy").attr("ascontiguousarray")(codes);
  }
  if (!takeBuffer(codes, name, access))
    return false;
  if (type->bits < 8)
    pack(*type);
  tensor.dtype = *type;
  return true;
}

/// The first element in the lowest bits.
void TensorArgument::pack(DLDataType type) {
  const auto *codes = static_cast<const uint8_t *>(buffer.buf);
  int64_t count = buffer.len, perByte = 8 / type.bits;
  packed.assign((count + perByte - 1) / perByte, 0);
  for (int64_t i = 0; i < count; ++i)
    packed[i / perByte] |= static_cast<uint8_t>((codes[i] & ((1 << type.bits) - 1)) << (i % perByte * type.bits));
  tensor.data = packed.data();
}

bool TensorArgument::takeDLPack(nb::handle object, const std::string &name) {
  if (!nb::hasattr(object, "__dlpack__"))
    return false;
  nb::object capsule = object.attr("__dlpack__")();
  managed = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!managed)
    throw nb::python_error();
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  tensor = managed->dl_tensor;
  return true;
}

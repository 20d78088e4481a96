#ifndef FREESTONE_PYTHON_MODULE_TENSORARGUMENT_H
#define FREESTONE_PYTHON_MODULE_TENSORARGUMENT_H

#include "freestone/runtime.h"
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace freestone::python {

/// The memory of a Python object as a tensor, without a copy (unless elements share bytes): of what has the buffer
/// protocol (NumPy) or speaks DLPack (PyTorch, JAX). Keeps the memory alive; made and destroyed with the GIL held.
class TensorArgument {
public:
  enum class Access { Read, Write };

  /// Numbers and lists, which have no element type, become arrays of `dtype`. `name` is of the input or output, for
  /// messages. Throws freestone::Error (MISMATCH), or what the object raises.
  TensorArgument(nanobind::handle object, const std::string &name, freestone_dtype dtype, Access access);
  TensorArgument(const TensorArgument &) = delete;
  TensorArgument &operator=(const TensorArgument &) = delete;
  ~TensorArgument();

  const DLTensor *get() const { return &tensor; }
  /// Whether an object that has memory is of another library than NumPy, and speaks DLPack.
  static bool isForeign(nanobind::handle object);

private:
  bool takeBuffer(nanobind::handle object, const std::string &name, Access access);
  bool takeMlDtypes(nanobind::handle object, const std::string &name, Access access);
  void pack(DLDataType type);
  bool takeDLPack(nanobind::handle object, const std::string &name);

  DLTensor tensor = {};
  Py_buffer buffer = {};
  bool hasBuffer = false;
  DLManagedTensor *managed = nullptr;
  std::vector<int64_t> strides;
  /// Elements that share bytes, which NumPy's don't.
  std::vector<uint8_t> packed;
};

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_TENSORARGUMENT_H

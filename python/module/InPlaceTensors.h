#ifndef FREESTONE_PYTHON_MODULE_INPLACETENSORS_H
#define FREESTONE_PYTHON_MODULE_INPLACETENSORS_H

#include "freestone/freestone.h"
#include <nanobind/nanobind.h>

namespace freestone::python {

/// The tensors of a list of PyTorch's, as the runtime sees them: pointers and shapes, of the element types of `values`,
/// which must live as long. Raises where their number or a rank differs.
class InPlaceTensors {
public:
  InPlaceTensors(nanobind::list tensors, const std::vector<ValueInfo> &values);
  InPlaceTensors(const InPlaceTensors &) = delete;

  size_t size() const { return views.size(); }
  const DLTensor *operator[](size_t index) const { return &views[index]; }

private:
  std::vector<DLTensor> views;
  std::vector<int64_t> dims;
};

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_INPLACETENSORS_H

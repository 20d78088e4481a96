#include "python/module/OutputTensor.h"

#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace freestone;

/// The function that makes arrays of the library of an object; null: NumPy.
static nb::object makerLike(nb::handle like) {
  if (!like)
    return {};
  auto library = nb::cast<std::string>(like.type().attr("__module__"));
  if (library == "torch" || library.starts_with("torch."))
    return nb::module_::import_("torch").attr("from_dlpack");
  if (nb::hasattr(like, "__array_namespace__"))
    return like.attr("__array_namespace__")().attr("from_dlpack");
  return {};
}

template <typename Kind> static nb::object view(const DLTensor &tensor, nb::handle owner, DLDataType type) {
  nb::ndarray<Kind> array(tensor.data, static_cast<size_t>(tensor.ndim), reinterpret_cast<const size_t *>(tensor.shape),
                          owner, nullptr, nb::dlpack::dtype{type.code, type.bits, type.lanes}, nb::device::cpu::value);
  return nb::cast(array, nb::rv_policy::reference);
}

nb::object python::wrapTensor(Tensor given, nb::handle like) {
  DLManagedTensor *managed = given.release();
  nb::capsule owner(managed, [](void *tensor) noexcept {
    auto *owned = static_cast<DLManagedTensor *>(tensor);
    owned->deleter(owned);
  });
  const DLTensor &tensor = managed->dl_tensor;
  if (nb::object maker = makerLike(like))
    return maker(view<nb::array_api>(tensor, owner, tensor.dtype));
  if (tensor.dtype.code != kDLBfloat)
    return view<nb::numpy>(tensor, owner, tensor.dtype);
  try {
    nb::object bfloat16 = nb::module_::import_("ml_dtypes").attr("bfloat16");
    return view<nb::numpy>(tensor, owner, {kDLUInt, 16, 1}).attr("view")(bfloat16);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError))
      throw;
    return view<nb::array_api>(tensor, owner, tensor.dtype);
  }
}

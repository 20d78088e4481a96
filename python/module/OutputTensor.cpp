#include "python/module/OutputTensor.h"

#include "python/module/ElementTypes.h"

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

/// Elements that share bytes as NumPy holds them: one to a byte, integers extended by their sign.
static nb::object unpack(const DLTensor &tensor) {
  int64_t bits = tensor.dtype.bits, perByte = 8 / bits, count = 1;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis)
    count *= tensor.shape[axis];
  auto *codes = new uint8_t[std::max<int64_t>(count, 1)];
  nb::capsule owner(codes, [](void *memory) noexcept { delete[] static_cast<uint8_t *>(memory); });
  const auto *packed = static_cast<const uint8_t *>(tensor.data) + tensor.byte_offset;
  bool hasSign = tensor.dtype.code == kDLInt;
  for (int64_t i = 0; i < count; ++i) {
    int code = packed[i / perByte] >> (i % perByte * bits) & ((1 << bits) - 1);
    codes[i] = static_cast<uint8_t>(hasSign && code >> (bits - 1) ? code - (1 << bits) : code);
  }
  DLTensor whole = tensor;
  whole.data = codes;
  return view<nb::numpy>(whole, owner, {kDLUInt, 8, 1});
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
  std::optional<std::string_view> foreign = python::nameOfMlDtypes(tensor.dtype);
  if (!foreign)
    return view<nb::numpy>(tensor, owner, tensor.dtype);
  try {
    nb::object type = nb::module_::import_("ml_dtypes").attr(foreign->data());
    nb::object codes =
        tensor.dtype.bits < 8 ? unpack(tensor) : view<nb::numpy>(tensor, owner, {kDLUInt, tensor.dtype.bits, 1});
    return codes.attr("view")(type);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError))
      throw;
    return view<nb::array_api>(tensor, owner, tensor.dtype);
  }
}

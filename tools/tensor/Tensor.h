// A tensor in memory, as the command line reads, compares and writes it.
#ifndef FREESTONE_TOOLS_TENSOR_TENSOR_H
#define FREESTONE_TOOLS_TENSOR_TENSOR_H

#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include "formats/HalfFloats.h"
#include "freestone/runtime.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace freestone::tools {

/// A tensor file or an inline specification that can't be read; the message is one sentence for the user.
using TensorError = formats::FormatError;

using formats::bfloatToDouble;
using formats::countElements;
using formats::describe;
using formats::dlpackType;
using formats::doubleToBfloat;
using formats::doubleToHalf;
using formats::elementBytes;
using formats::elementsPerByte;
using formats::halfToDouble;
using formats::isFloat;
using formats::typeFromName;
using formats::typeName;

/// Owns its elements: C-contiguous, little-endian, 64-byte aligned; i1 is one byte that holds 0 or 1, elements below a
/// byte share one.
class Tensor {
public:
  Tensor() = default;
  /// Zeros. Throws TensorError when a size is negative or the bytes overflow or can't be allocated.
  Tensor(freestone_dtype dtype, std::vector<int64_t> shape);
  Tensor(Tensor &&other) noexcept { *this = std::move(other); }
  Tensor &operator=(Tensor &&other) noexcept;
  ~Tensor();

  freestone_dtype dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return sizes; }
  int64_t count() const { return elements; }
  size_t bytes() const;
  void *data() { return memory; }
  const void *data() const { return memory; }
  template <typename T> T *as() { return static_cast<T *>(memory); }
  template <typename T> const T *as() const { return static_cast<const T *>(memory); }

  /// Element `index` as a double; exact for all types but large 64-bit integers.
  double number(int64_t index) const;
  /// Rounds to the nearest value of the tensor's type (integers: truncates).
  void setNumber(int64_t index, double value);

  /// An element that is a byte or a part of one: integers extended by their sign, floats as their bits.
  uint8_t code(int64_t index) const;
  /// Says that the elements, bytes, are codes of a type that their file does not name.
  void markUnnamed() { unnamed = true; }
  bool isUnnamed() const { return unnamed; }
  /// The tensor of these codes, one to a byte, in a type that models only store.
  Tensor named(freestone_dtype dtype) const;

private:
  uint8_t getPacked(int64_t index) const;
  void setPacked(int64_t index, uint8_t bits);

  freestone_dtype type = FREESTONE_F32;
  std::vector<int64_t> sizes;
  int64_t elements = 0;
  void *memory = nullptr;
  bool unnamed = false;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A tensor of somebody else's, by name.
struct NamedTensorRef {
  std::string name;
  const Tensor *tensor;
};

/// What an input or output of a model holds.
struct NamedValue {
  enum class Kind {
    Tensor,   ///< one element; more of them were given one by one, as the elements of a sequence may be
    Sequence, ///< the elements of a sequence, or the content of an optional
    Absent,   ///< an optional sequence that is not there
  };
  std::string name;
  Kind kind = Kind::Tensor;
  std::vector<Tensor> elements;

  const Tensor &tensor() const { return elements.front(); }
  static NamedValue of(NamedTensor tensor);
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_TENSOR_H

// A tensor in memory, as the command line reads, compares and writes it.
#ifndef FREESTONE_TOOLS_TENSOR_TENSOR_H
#define FREESTONE_TOOLS_TENSOR_TENSOR_H

#include "freestone/runtime.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace freestone::tools {

/// A tensor file or an inline specification that can't be read; the message is one sentence for the user.
struct TensorError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Owns its elements: C-contiguous, little-endian, 64-byte aligned; i1 is one byte that holds 0 or 1.
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

private:
  freestone_dtype type = FREESTONE_F32;
  std::vector<int64_t> sizes;
  int64_t elements = 0;
  void *memory = nullptr;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Bytes of one element.
size_t elementBytes(freestone_dtype dtype);
bool isFloat(freestone_dtype dtype);
/// "f32"
std::string_view typeName(freestone_dtype dtype);
std::optional<freestone_dtype> typeFromName(std::string_view name);
/// Number of elements; throws TensorError when a size is negative or the product overflows.
int64_t countElements(const std::vector<int64_t> &shape);
/// "2x3xf32"; for a scalar "f32".
std::string describe(freestone_dtype dtype, const std::vector<int64_t> &shape);

double halfToDouble(uint16_t bits);
double bfloatToDouble(uint16_t bits);
/// Round to nearest, ties to even.
uint16_t doubleToHalf(double value);
uint16_t doubleToBfloat(double value);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_TENSOR_H

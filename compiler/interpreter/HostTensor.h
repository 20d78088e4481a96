#ifndef FREESTONE_COMPILER_INTERPRETER_HOSTTENSOR_H
#define FREESTONE_COMPILER_INTERPRETER_HOSTTENSOR_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace freestone::interpreter {

/// A tensor in memory: row-major, little-endian, bool as one byte 0 or 1, elements below a byte packed (as
/// `#graph.packed`). Owns its bytes.
struct HostTensor {
  /// An element type of `!graph.tensor`.
  mlir::Type elementType;
  std::vector<int64_t> dims;
  /// `countBytes(elementType, getNumElements())` bytes.
  std::vector<char> bytes;

  int64_t getNumElements() const;

  /// A tensor of zeros.
  static HostTensor allocate(mlir::Type elementType, llvm::ArrayRef<int64_t> dims);
  /// A copy of elements whose C++ type is that of `elementType` (f16 and bf16 as their bits, bool as bytes).
  template <typename T>
  static HostTensor copy(mlir::Type elementType, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<T> elements) {
    HostTensor tensor{elementType, dims.vec(), {}};
    auto *begin = reinterpret_cast<const char *>(elements.data());
    tensor.bytes.assign(begin, begin + elements.size() * sizeof(T));
    return tensor;
  }
  template <typename T> llvm::ArrayRef<T> elements() const {
    return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// Bytes of elements in memory.
int64_t countBytes(mlir::Type elementType, int64_t elements);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_HOSTTENSOR_H

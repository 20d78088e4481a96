#ifndef FREESTONE_COMPILER_INTERPRETER_TENSOR_H
#define FREESTONE_COMPILER_INTERPRETER_TENSOR_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/interpreter/HostTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <type_traits>

namespace freestone::interpreter {

using Dims = llvm::SmallVector<int64_t, 4>;

int64_t getNumElements(llvm::ArrayRef<int64_t> dims);
/// Row-major strides, in elements.
Dims getStrides(llvm::ArrayRef<int64_t> dims);

/// A value of the interpreter, row-major: floats are stored as doubles, integers as 64 bits (ui64 as its bits), floats
/// that are only stored by their codes. Copies share the elements; only the creator writes them.
class Tensor {
public:
  Tensor() = default;
  /// A tensor of zeros.
  Tensor(mlir::Type elementType, llvm::ArrayRef<int64_t> dims);

  static Tensor scalar(mlir::Type elementType, int64_t value);
  static Tensor fromHost(const HostTensor &host);
  static Tensor fromBytes(mlir::Type elementType, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);
  /// Rounds to `elementType`, which may differ from the tensor's only in the width of a float.
  HostTensor toHost(mlir::Type elementType) const;

  mlir::Type getElementType() const { return elementType; }
  llvm::ArrayRef<int64_t> getDims() const { return dims; }
  int64_t getDim(int64_t dim) const { return dims[dim]; }
  int64_t getRank() const { return dims.size(); }
  int64_t size() const { return interpreter::getNumElements(dims); }
  bool isReal() const { return llvm::isa<mlir::FloatType>(elementType) && !graph::isStorageOnly(elementType); }
  bool isUnsigned() const { return elementType.isUnsignedInteger() || elementType.isSignlessInteger(1); }

  /// `T` is double for floats, else int64_t.
  template <typename T> T *data() {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, int64_t>);
    return static_cast<T *>(elements.get());
  }
  template <typename T> const T *data() const { return const_cast<Tensor *>(this)->data<T>(); }

  /// The same elements under another shape.
  Tensor reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// The same elements under another type of the same kind.
  Tensor retyped(mlir::Type type) const;

  /// Calls `function(T())` with the C++ type of the elements.
  template <typename Function> auto visit(Function function) const {
    return isReal() ? function(double()) : function(int64_t());
  }

private:
  mlir::Type elementType;
  Dims dims;
  std::shared_ptr<void> elements;
};

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_TENSOR_H

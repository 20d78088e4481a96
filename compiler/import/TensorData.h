#ifndef FREESTONE_COMPILER_IMPORT_TENSORDATA_H
#define FREESTONE_COMPILER_IMPORT_TENSORDATA_H

#include "compiler/expressions/Element.h"
#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace freestone::importer {

using expressions::Content;
using expressions::Element;
using expressions::typeName;

/// The element type of an ONNX number; null for unsupported types (strings, complex numbers, …).
mlir::Type elementTypeOf(mlir::MLIRContext *context, int onnxType);
/// ONNX's number for an element type of ours.
int onnxTypeOf(mlir::Type type);
/// ONNX's name of it: `float8e4m3fn`.
std::string onnxTypeName(int onnxType);

/// Bytes of so many elements; those below a byte are packed, bool takes one.
int64_t countBytes(mlir::Type type, int64_t elements);

/// The elements of a tensor, row-major, little-endian, those below a byte packed.
struct TensorData {
  mlir::Type type;
  llvm::SmallVector<int64_t> dims;
  int64_t count = 0;
  /// Empty where the model was stripped of its weights.
  llvm::ArrayRef<char> bytes;
  /// Owns `bytes` if the model has typed fields.
  std::string owned;

  bool isStripped() const { return bytes.empty() && count > 0; }
};

/// Decodes a tensor; `raw` is its raw data. Fails where size, type and shape contradict each other; `error` then says
/// how.
llvm::LogicalResult decodeTensor(mlir::MLIRContext *context, const onnx::TensorProto &proto, llvm::ArrayRef<char> raw,
                                 TensorData &data, std::string &error);

/// The elements one by one; nothing if a number does not fit into int64_t.
std::optional<Content> contentOf(const TensorData &data);
/// The opposite: constant content as bytes.
std::string bytesOf(const Content &content, mlir::Type type);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_TENSORDATA_H

#ifndef FREESTONE_COMPILER_FRONTEND_CALL_H
#define FREESTONE_COMPILER_FRONTEND_CALL_H

#include "compiler/import/ModelBuilder.h"
#include "llvm/Support/JSON.h"

namespace freestone::frontend {

using namespace expressions;

/// One operation as a front end asks for it: operands and attributes. What is missing or of the wrong kind is refused
/// by the builder, and replaced by something harmless.
class Call {
public:
  Call(importer::ModelBuilder &builder, llvm::StringRef name, llvm::ArrayRef<Tensor> operands,
       const llvm::json::Object &attributes)
      : builder(builder), name(name), operands(operands), attributes(attributes) {}

  Tensor operand(size_t index);
  /// Whether there are so many operands; else refuses.
  bool takes(size_t count);
  bool has(llvm::StringRef key) const { return attributes.get(key); }
  int64_t integer(llvm::StringRef key, std::optional<int64_t> otherwise = std::nullopt);
  /// JSON has no infinities and no NaN: they are texts, "inf", "-inf" and "nan".
  double real(llvm::StringRef key);
  bool flag(llvm::StringRef key) { return attributes.getBoolean(key).value_or(false); }
  llvm::StringRef text(llvm::StringRef key);
  llvm::SmallVector<int64_t> integers(llvm::StringRef key);
  /// Numbers, or expressions as text.
  Expr size(llvm::StringRef key);
  Shape sizes(llvm::StringRef key);
  mlir::Type type(llvm::StringRef key);
  /// Null where the key is absent.
  mlir::Type optionalType(llvm::StringRef key) { return has(key) ? type(key) : mlir::Type(); }
  /// From 0 to below `rank`; negative ones count from the end.
  int64_t axis(llvm::StringRef key, int64_t rank);
  llvm::SmallVector<int64_t> axes(llvm::StringRef key, int64_t rank);

  /// False, and a refusal.
  bool refuse(const llvm::Twine &reason) {
    builder.reject("'" + name + "' " + reason);
    return false;
  }

  importer::ModelBuilder &builder;
  const llvm::StringRef name;
  const llvm::ArrayRef<Tensor> operands;

private:
  Expr sizeOf(const llvm::json::Value &value);
  int64_t normalize(int64_t axis, int64_t rank);

  const llvm::json::Object &attributes;
};

} // namespace freestone::frontend

#endif // FREESTONE_COMPILER_FRONTEND_CALL_H

#ifndef FREESTONE_COMPILER_TASK_NAMEDSIZES_H
#define FREESTONE_COMPILER_TASK_NAMEDSIZES_H

#include "compiler/dialect/sym/Expr.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace freestone::task {

/// Names for the long sizes of an entry. Tiles, scratch and times of a call multiply and divide its sizes: over the
/// terms of a long one, such as the pixels of a picture whose sides follow from a model's input, they would grow with
/// the powers of their number.
class NamedSizes {
public:
  /// For an entry with these symbols and definitions; no size gets a name where `isEnabled` is false.
  NamedSizes(llvm::ArrayRef<mlir::Attribute> symbols, mlir::ArrayAttr definitions, bool isEnabled);

  /// The size, or the symbol that stands for it.
  sym::Expr getName(sym::Expr size);
  /// The definitions of the entry, with those of the names; null if there are none.
  mlir::ArrayAttr getDefinitions() const;
  int64_t count() const { return names.size(); }

private:
  mlir::ArrayAttr earlier;
  bool isEnabled;
  llvm::StringSet<> taken;
  llvm::MapVector<sym::Expr, sym::Expr> names;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_NAMEDSIZES_H

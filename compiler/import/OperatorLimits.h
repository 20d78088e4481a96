// Reasons why operators with an entry are refused in some cases.
#ifndef FREESTONE_COMPILER_IMPORT_OPERATORLIMITS_H
#define FREESTONE_COMPILER_IMPORT_OPERATORLIMITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace freestone::importer {

/// One reason as `freestone check` gives it, with the operators that give it. What differs from node to node is in
/// capitals: 'NAME'.
struct OperatorLimit {
  llvm::StringRef operators; ///< separated by spaces
  llvm::StringRef reason;
};

/// All of them, in the order of the files of `operators`.
llvm::ArrayRef<OperatorLimit> getOperatorLimits();

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORLIMITS_H

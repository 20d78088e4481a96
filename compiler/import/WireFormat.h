#ifndef FREESTONE_COMPILER_IMPORT_WIREFORMAT_H
#define FREESTONE_COMPILER_IMPORT_WIREFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"
#include <string>
#include <vector>

namespace freestone::importer {

/// Copies a serialized ModelProto without the large raw data of the main graph's initializers, and says where in
/// `bytes` each one is: one entry per initializer, null data where it was left in. So a model's weights are neither
/// copied nor parsed. `error` tells the byte at which the encoding ends or breaks.
llvm::LogicalResult cutOutRawData(llvm::ArrayRef<char> bytes, std::string &withoutData,
                                  std::vector<llvm::ArrayRef<char>> &rawData, std::string &error);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_WIREFORMAT_H

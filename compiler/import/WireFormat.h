#ifndef FREESTONE_COMPILER_IMPORT_WIREFORMAT_H
#define FREESTONE_COMPILER_IMPORT_WIREFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"
#include <string>
#include <vector>

namespace freestone::importer {

/// Copies a serialized ModelProto without the large raw data of the main graph's initializers, and returns their ranges
/// in `bytes`: one entry per initializer, null if its data stay in the message. A model's weights are thus neither
/// copied nor parsed. `error` has the offset where the encoding is truncated or malformed.
llvm::LogicalResult cutOutRawData(llvm::ArrayRef<char> bytes, std::string &withoutData,
                                  std::vector<llvm::ArrayRef<char>> &rawData, std::string &error);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_WIREFORMAT_H

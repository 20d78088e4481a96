#ifndef FREESTONE_COMPILER_IMPORT_SIZEINPUTS_H
#define FREESTONE_COMPILER_IMPORT_SIZEINPUTS_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::importer {

/// The inputs of the graph whose elements determine sizes, such as the `shape` of a Reshape, directly or through
/// arithmetic on small integers, with the least value that all uses allow. Their elements become symbols.
llvm::StringMap<int64_t> findSizeInputs(const onnx::GraphProto &graph);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_SIZEINPUTS_H

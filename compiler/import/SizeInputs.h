#ifndef FREESTONE_COMPILER_IMPORT_SIZEINPUTS_H
#define FREESTONE_COMPILER_IMPORT_SIZEINPUTS_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringSet.h"

namespace freestone::importer {

/// The inputs of the graph whose elements decide sizes, as the `shape` of a Reshape does, directly or through arithmetic on small
/// integers. Their elements become symbols.
llvm::StringSet<> findSizeInputs(const onnx::GraphProto &graph);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_SIZEINPUTS_H

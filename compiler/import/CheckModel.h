#ifndef FREESTONE_COMPILER_IMPORT_CHECKMODEL_H
#define FREESTONE_COMPILER_IMPORT_CHECKMODEL_H

#include "onnx/onnx_pb.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace freestone::importer {

/// Checks the preconditions of import: operator sets are known; every name is defined once, before its uses, and
/// without cycles; nodes have the inputs, outputs and attributes of their operators. `error` is one sentence about the
/// first violation.
llvm::LogicalResult checkModel(const onnx::ModelProto &model, std::string &error);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_CHECKMODEL_H

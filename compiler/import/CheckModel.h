#ifndef FREESTONE_COMPILER_IMPORT_CHECKMODEL_H
#define FREESTONE_COMPILER_IMPORT_CHECKMODEL_H

#include "onnx/onnx_pb.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace freestone::importer {

/// Checks what must hold before a model is walked: its operator sets are known; every name is made once, before its
/// uses, and without cycles; nodes have the inputs, outputs and attributes of their operators. One sentence says what
/// does not hold.
llvm::LogicalResult checkModel(const onnx::ModelProto &model, std::string &error);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_CHECKMODEL_H

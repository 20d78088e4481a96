#ifndef FREESTONE_COMPILER_IMPORT_SCHEMAS_H
#define FREESTONE_COMPILER_IMPORT_SCHEMAS_H

#include "onnx/onnx_pb.h"
#include <optional>
#include <string>
#include <vector>

// Wraps the parts of ONNX's library that throw: no exception leaves these functions.
namespace freestone::importer {

/// What ONNX says of an operator as of one version of its operator set.
struct OperatorSchema {
  int sinceVersion = 0;
  bool deprecated = false;
  /// Whether ONNX defines it by other operators, for some types at least.
  bool hasBody = false;
};

/// The newest version of a domain's operator set that this build knows; 0 for unknown domains.
int newestOperatorSet(const std::string &domain);

std::optional<OperatorSchema> findSchema(const std::string &domain, const std::string &op, int opset);

/// Checks number of inputs and outputs, and names and kinds of attributes; the complaint, or nothing.
std::string verifyNode(const onnx::NodeProto &node, int opset);

/// Checks that inputs which are tensors (of others the type is unset) hold what the operator takes: bools, integers,
/// real numbers; the complaint, or nothing.
std::string verifyInputTypes(const onnx::NodeProto &node, int opset, const std::vector<onnx::TypeProto> &inputTypes);

/// The operator's definition by other operators, for these types of inputs (unset: absent). Nothing if ONNX gives none.
std::optional<onnx::FunctionProto> functionBody(const onnx::NodeProto &node, int opset,
                                                const std::vector<onnx::TypeProto> &inputTypes);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_SCHEMAS_H

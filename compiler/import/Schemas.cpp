#include "compiler/import/Schemas.h"

#include "onnx/defs/schema.h"
#include <exception>

namespace freestone::importer {
namespace {

const onnx::OpSchema *schemaOf(const std::string &domain, const std::string &op, int opset) {
  return onnx::OpSchemaRegistry::Schema(op, opset, domain == "ai.onnx" ? std::string() : domain);
}

/// The operator set version that a body requires of a domain; 0 if it is the caller's.
int64_t opsetOf(const onnx::FunctionProto &function, const std::string &domain) {
  for (const onnx::OperatorSetIdProto &set : function.opset_import())
    if (set.domain() == domain)
      return set.version();
  return 0;
}

} // namespace

int newestOperatorSet(const std::string &domain) {
  const auto &ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto range = ranges.find(domain == "ai.onnx" ? std::string() : domain);
  return range == ranges.end() ? 0 : range->second.second;
}

std::optional<OperatorSchema> findSchema(const std::string &domain, const std::string &op, int opset) {
  const onnx::OpSchema *schema = schemaOf(domain, op, opset);
  if (!schema)
    return std::nullopt;
  return OperatorSchema{schema->since_version(), schema->Deprecated(),
                        schema->HasFunction() || schema->HasContextDependentFunction()};
}

std::string verifyNode(const onnx::NodeProto &node, int opset) {
  const onnx::OpSchema *schema = schemaOf(node.domain(), node.op_type(), opset);
  if (!schema)
    return {};
  try {
    schema->Verify(node);
  } catch (const std::exception &complaint) {
    return complaint.what();
  }
  return {};
}

std::optional<onnx::FunctionProto> functionBody(const onnx::NodeProto &node, int opset,
                                                const std::vector<onnx::TypeProto> &inputTypes) {
  const onnx::OpSchema *schema = schemaOf(node.domain(), node.op_type(), opset);
  if (!schema)
    return std::nullopt;
  try {
    std::optional<onnx::FunctionProto> body;
    if (const onnx::FunctionProto *function = schema->GetFunction(opset)) {
      body = *function;
    } else if (schema->HasContextDependentFunction()) {
      onnx::FunctionBodyBuildContextImpl types(node, inputTypes);
      onnx::FunctionProto built;
      if (schema->BuildContextDependentFunction(types, built, opset))
        body = std::move(built);
    }
    // Attributes that the node leaves out have their defaults.
    if (body)
      for (const auto &[name, attribute] : schema->attributes())
        if (attribute.default_value.type() != onnx::AttributeProto::UNDEFINED)
          *body->add_attribute_proto() = attribute.default_value;
    bool isDefault = node.domain().empty() || node.domain() == "ai.onnx";
    if (body && isDefault && !opsetOf(*body, "")) {
      onnx::OperatorSetIdProto *set = body->add_opset_import();
      set->set_version(opset);
    }
    return body;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

} // namespace freestone::importer

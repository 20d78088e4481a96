#include "compiler/import/Schemas.h"

#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"
#include <algorithm>
#include <exception>
#include <set>

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

/// Widths aside: exporters write narrow floats before the operator sets that allow them.
std::string kindOf(int elementType) {
  switch (elementType) {
  case onnx::TensorProto::BOOL:
    return "bools";
  case onnx::TensorProto::STRING:
    return "strings";
  case onnx::TensorProto::COMPLEX64:
  case onnx::TensorProto::COMPLEX128:
    return "complex numbers";
  case onnx::TensorProto::INT2:
  case onnx::TensorProto::INT4:
  case onnx::TensorProto::INT8:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::INT64:
  case onnx::TensorProto::UINT2:
  case onnx::TensorProto::UINT4:
  case onnx::TensorProto::UINT8:
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::UINT32:
  case onnx::TensorProto::UINT64:
    return "integers";
  default:
    return "real numbers";
  }
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

std::string verifyInputTypes(const onnx::NodeProto &node, int opset, const std::vector<onnx::TypeProto> &inputTypes) {
  const onnx::OpSchema *schema = schemaOf(node.domain(), node.op_type(), opset);
  if (!schema || schema->inputs().empty())
    return {};
  for (size_t index = 0; index < inputTypes.size(); ++index) {
    if (!inputTypes[index].has_tensor_type() || !inputTypes[index].tensor_type().elem_type())
      continue;
    // The last one stands for all that a variadic operator takes.
    const onnx::OpSchema::FormalParameter &parameter = schema->inputs()[std::min(index, schema->inputs().size() - 1)];
    std::set<std::string> taken;
    for (onnx::DataType each : parameter.GetTypes())
      if (const onnx::TypeProto &type = onnx::Utils::DataTypeUtils::ToTypeProto(each); type.has_tensor_type())
        taken.insert(kindOf(type.tensor_type().elem_type()));
    std::string kind = kindOf(inputTypes[index].tensor_type().elem_type());
    if (taken.empty() || taken.count(kind))
      continue;
    std::string list;
    for (const std::string &each : taken)
      list += (list.empty() ? "" : ", ") + each;
    return "input " + std::to_string(index) + " ('" + parameter.GetName() + "') holds " + kind +
           ", but the operator takes " + list;
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

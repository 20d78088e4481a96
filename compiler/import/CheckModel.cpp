#include "compiler/import/CheckModel.h"
#include "compiler/import/Registry.h"
#include "compiler/import/Schemas.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <vector>

using namespace llvm;

namespace freestone::importer {
namespace {

/// Nesting depth at which bodies are refused.
constexpr int maxNesting = 32;

using OpsetVersions = std::map<std::string, int>;
using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::string canonicalDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }
std::string printedDomain(const std::string &domain) { return domain.empty() ? "ai.onnx" : domain; }

std::string oneLine(std::string text) {
  for (char &c : text)
    if (c == '\n' || c == '\r')
      c = ' ';
  return text;
}

std::string describe(const onnx::NodeProto &node) {
  std::string name = !node.name().empty() ? node.name() : node.output_size() ? node.output(0) : "";
  return "node '" + name + "' (" + node.op_type() + ")";
}

class Checker {
public:
  Checker(const onnx::ModelProto &model, std::string &error) : model(model), error(error) {}

  LogicalResult check();

private:
  struct Names {
    const Names *outer;
    StringSet<> made;
    bool has(StringRef name) const { return made.contains(name) || (outer && outer->has(name)); }
  };

  LogicalResult fail(const Twine &message) {
    error = message.str();
    return failure();
  }
  template <typename Sets>
  LogicalResult readOpsets(const Sets &sets, const std::string &owner, OpsetVersions &versions);
  LogicalResult checkFunction(const onnx::FunctionProto &function, const OpsetVersions &modelOpsets);
  LogicalResult checkGraph(const onnx::GraphProto &graph, const Names *outer, const OpsetVersions &opsets, int depth);
  LogicalResult checkNodes(const Nodes &nodes, Names &names, const OpsetVersions &opsets, int depth);
  LogicalResult checkOperator(const onnx::NodeProto &node, const OpsetVersions &opsets);
  LogicalResult explainMissing(const Nodes &nodes, const onnx::NodeProto &user, const std::string &name);

  const onnx::ModelProto &model;
  std::string &error;
};

template <typename Sets>
LogicalResult Checker::readOpsets(const Sets &sets, const std::string &owner, OpsetVersions &versions) {
  for (const onnx::OperatorSetIdProto &set : sets) {
    std::string domain = canonicalDomain(set.domain());
    int newest = newestOperatorSet(domain);
    if (set.version() < 1 || (newest && set.version() > newest))
      return fail(owner + " uses opset " + Twine(set.version()) + " of " + printedDomain(domain) +
                  ", but opsets 1 to " + Twine(newest) + " are known; export it for one of those");
    versions[domain] = std::min<int64_t>(set.version(), 1 << 20);
  }
  return success();
}

LogicalResult Checker::check() {
  OpsetVersions opsets;
  if (failed(readOpsets(model.opset_import(), "the model", opsets)))
    return failure();
  opsets.insert({"", 1});
  for (const onnx::FunctionProto &function : model.functions())
    if (failed(checkFunction(function, opsets)))
      return failure();
  return checkGraph(model.graph(), nullptr, opsets, 0);
}

LogicalResult Checker::checkFunction(const onnx::FunctionProto &function, const OpsetVersions &modelOpsets) {
  OpsetVersions opsets;
  if (failed(readOpsets(function.opset_import(), "function '" + function.name() + "'", opsets)))
    return failure();
  opsets.insert(modelOpsets.begin(), modelOpsets.end());
  Names names{nullptr, {}};
  for (const std::string &input : function.input())
    names.made.insert(input);
  if (failed(checkNodes(function.node(), names, opsets, 0)))
    return failure();
  for (const std::string &output : function.output())
    if (!names.has(output))
      return fail("function '" + function.name() + "' makes no output '" + output + "'");
  return success();
}

LogicalResult Checker::checkGraph(const onnx::GraphProto &graph, const Names *outer, const OpsetVersions &opsets,
                                  int depth) {
  if (depth > maxNesting)
    return fail("graphs within graphs are nested too deeply");
  if (graph.sparse_initializer_size())
    return fail("sparse initializers are not supported; make them dense");
  Names names{outer, {}};
  for (const onnx::ValueInfoProto &input : graph.input())
    if (input.name().empty() || !names.made.insert(input.name()).second)
      return fail("the input name '" + input.name() + "' is empty or given twice");
  StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    if (tensor.name().empty() || !initializers.insert(tensor.name()).second)
      return fail("the initializer name '" + tensor.name() + "' is empty or given twice");
    names.made.insert(tensor.name());
  }
  if (failed(checkNodes(graph.node(), names, opsets, depth)))
    return failure();
  for (const onnx::ValueInfoProto &output : graph.output())
    if (!names.has(output.name()))
      return fail("output '" + output.name() + "' is made by no node");
  return success();
}

LogicalResult Checker::checkNodes(const Nodes &nodes, Names &names, const OpsetVersions &opsets, int depth) {
  for (const onnx::NodeProto &node : nodes) {
    for (const std::string &input : node.input())
      if (!input.empty() && !names.has(input))
        return explainMissing(nodes, node, input);
    if (failed(checkOperator(node, opsets)))
      return failure();
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g() && failed(checkGraph(attribute.g(), &names, opsets, depth + 1)))
        return failure();
      for (const onnx::GraphProto &graph : attribute.graphs())
        if (failed(checkGraph(graph, &names, opsets, depth + 1)))
          return failure();
    }
    for (const std::string &output : node.output())
      if (!output.empty() && !names.made.insert(output).second)
        return fail(describe(node) + " makes '" + output + "', which was made before");
  }
  return success();
}

LogicalResult Checker::checkOperator(const onnx::NodeProto &node, const OpsetVersions &opsets) {
  for (const onnx::FunctionProto &function : model.functions())
    if (function.name() == node.op_type() && canonicalDomain(function.domain()) == canonicalDomain(node.domain()))
      return success();
  auto opset = opsets.find(canonicalDomain(node.domain()));
  if (opset == opsets.end())
    return fail(describe(node) + " is of domain '" + node.domain() + "', whose operator set the model does not import");
  std::optional<OperatorSchema> schema = findSchema(opset->first, node.op_type(), opset->second);
  if (!schema) {
    // An exporter's operator in ONNX's own domain.
    if (Registry::instance().find(opset->first, node.op_type(), opset->second))
      return success();
    if (!newestOperatorSet(opset->first))
      return success(); // another vendor's domain: unsupported, not invalid
    return fail(describe(node) + ": " + printedDomain(opset->first) + " has no operator '" + node.op_type() +
                "' at opset " + Twine(opset->second));
  }
  if (schema->deprecated)
    return fail(describe(node) + ": the operator is deprecated at opset " + Twine(opset->second) +
                "; convert the model");
  std::string complaint = verifyNode(node, opset->second);
  return complaint.empty() ? success() : fail(describe(node) + ": " + oneLine(complaint));
}

/// Why `name` is undefined: no node makes it, a later node makes it, or it depends on its own user.
LogicalResult Checker::explainMissing(const Nodes &nodes, const onnx::NodeProto &user, const std::string &name) {
  StringMap<const onnx::NodeProto *> makers;
  for (const onnx::NodeProto &node : nodes)
    for (const std::string &output : node.output())
      makers.insert({output, &node});
  const onnx::NodeProto *maker = makers.lookup(name);
  if (!maker)
    return fail(describe(user) + " reads '" + name + "', which no node, input or initializer makes");
  // The maker's transitive operands; if the user is among them, there is a cycle.
  std::vector<const onnx::NodeProto *> pending = {maker};
  StringSet<> seen;
  while (!pending.empty()) {
    const onnx::NodeProto *node = pending.back();
    pending.pop_back();
    if (node == &user)
      return fail(describe(user) + " is part of a cycle: what it reads as '" + name + "' depends on its own result");
    for (const std::string &input : node->input())
      if (const onnx::NodeProto *next = makers.lookup(input); next && seen.insert(input).second)
        pending.push_back(next);
  }
  return fail(describe(user) + " reads '" + name + "' before " + describe(*maker) +
              " makes it; the nodes of a model must be in order");
}

} // namespace

LogicalResult checkModel(const onnx::ModelProto &model, std::string &error) { return Checker(model, error).check(); }

} // namespace freestone::importer

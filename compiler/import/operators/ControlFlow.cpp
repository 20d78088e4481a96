// Branches and loops. A branch whose condition is known while importing is taken there.
#include "compiler/import/GraphImporter.h"
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

const onnx::GraphProto *bodyOf(Node &node, StringRef name) {
  const onnx::AttributeProto *attribute = node.attribute(name);
  if (attribute && attribute->has_g())
    return &attribute->g();
  node.reject("the body '" + name + "' is missing");
  return nullptr;
}

void ifNode(Node &node) {
  Tensor condition = node.input(0);
  const onnx::GraphProto *whenTrue = bodyOf(node, "then_branch"), *whenFalse = bodyOf(node, "else_branch");
  if (!condition || !whenTrue || !whenFalse)
    return;
  const Content *known = condition.constant();
  if (!known || known->size() != 1) {
    node.refuse("a branch by a condition that only the run knows is not supported");
    return;
  }
  bool holds = known->front().asConstantInteger() != 0;
  auto outputs = node.importer().importBody(holds ? *whenTrue : *whenFalse, {});
  if (!outputs)
    return;
  for (auto [index, output] : enumerate(*outputs))
    node.setOutput(index, output);
}

} // namespace

void registerControlFlow(Registry &registry) { registry.addMany("If", {1}, ifNode); }

} // namespace freestone::importer

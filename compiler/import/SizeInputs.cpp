#include "compiler/import/SizeInputs.h"

#include "llvm/ADT/STLExtras.h"
#include <iterator>

using namespace llvm;

namespace freestone::importer {
namespace {

/// Which inputs of an operator decide sizes (a bit for each).
struct SizeOperands {
  StringRef op;
  unsigned inputs;
};

constexpr SizeOperands sizeOperands[] = {
    {"Reshape", 1 << 1},        {"Expand", 1 << 1},  {"Tile", 1 << 1},          {"ConstantOfShape", 1 << 0},
    {"Slice", 1 << 1 | 1 << 2}, {"Pad", 1 << 1},     {"TopK", 1 << 1},          {"Range", 1 << 0 | 1 << 1 | 1 << 2},
    {"Split", 1 << 1},          {"OneHot", 1 << 1},  {"SplitToSequence", 1 << 1}, {"CenterCropPad", 1 << 1},
    {"Resize", 1 << 3},         {"AffineGrid", 1 << 1}, {"Col2Im", 1 << 1 | 1 << 2}, {"BlackmanWindow", 1 << 0},
    {"HannWindow", 1 << 0},     {"HammingWindow", 1 << 0},
};

/// Operators through which a size is computed from sizes.
constexpr StringRef sizeArithmetic[] = {"Add",  "Sub",   "Mul",     "Div",       "Mod",   "Neg",    "Abs",        "Min",
                                        "Max",  "Cast",  "Concat",  "Squeeze",   "Slice", "Gather", "Unsqueeze",  "Where",
                                        "Flatten", "Reshape", "Identity", "ReduceProd", "Split", "CastLike"};

unsigned sizeInputsOf(StringRef op) {
  const auto *found = llvm::find_if(sizeOperands, [&](const SizeOperands &entry) { return entry.op == op; });
  return found == std::end(sizeOperands) ? 0 : found->inputs;
}

} // namespace

StringSet<> findSizeInputs(const onnx::GraphProto &graph) {
  // Backwards: what decides sizes, and what that is computed from.
  StringSet<> wanted;
  for (int index = graph.node_size(); index-- > 0;) {
    const onnx::NodeProto &node = graph.node(index);
    if (!node.domain().empty() && node.domain() != "ai.onnx")
      continue;
    unsigned decides = sizeInputsOf(node.op_type());
    bool passesOn = llvm::is_contained(sizeArithmetic, node.op_type()) &&
                    llvm::any_of(node.output(), [&](const std::string &name) { return wanted.contains(name); });
    for (auto [position, name] : enumerate(node.input()))
      if (!name.empty() && ((decides >> position & 1) || passesOn))
        wanted.insert(name);
  }
  StringSet<> inputs;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (wanted.contains(input.name()))
      inputs.insert(input.name());
  return inputs;
}

} // namespace freestone::importer

#include "compiler/import/SizeInputs.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/import/Counting.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace freestone::importer {
namespace {

constexpr int64_t any = sym::Interval::minusInfinity;

/// An input of an operator that determines sizes, and the least valid value of its elements.
struct SizeOperand {
  StringRef op;
  int input;
  int64_t least;
};

constexpr SizeOperand sizeOperands[] = {
    {"Reshape", 1, -1},
    {"Expand", 1, 0},
    {"Tile", 1, 0},
    {"ConstantOfShape", 0, 0},
    {"Slice", 1, any},
    {"Slice", 2, any},
    {"Pad", 1, any},
    {"TopK", 1, 0},
    {"Range", 0, any},
    {"Range", 1, any},
    {"Range", 2, any},
    {"Split", 1, 0},
    {"OneHot", 1, 0},
    {"SplitToSequence", 1, 0},
    {"CenterCropPad", 1, 0},
    {"Resize", 3, 0},
    {"AffineGrid", 1, 0},
    {"Col2Im", 1, 0},
    {"Col2Im", 2, 0},
    {"BlackmanWindow", 0, 0},
    {"HannWindow", 0, 0},
    {"HammingWindow", 0, 0},
    {"Squeeze", 1, any},
    {"Unsqueeze", 1, any},
    {"CumSum", 1, any},
    {"CumProd", 1, any},
    {"Slice", 3, any},
    {"Slice", 4, any},
    {"Pad", 3, any},
    {"DFT", 1, 1},
    {"STFT", 1, 1},
    {"STFT", 3, 1},
    {"Loop", 0, any},
    {"Resize", 2, 0},
    {"Upsample", 1, 0},
    {"DFT", 2, any},
    {"MaxUnpool", 2, 0},
    {"MelWeightMatrix", 0, 0},
    {"MelWeightMatrix", 1, 1},
};

/// Operators that compute sizes from sizes.
constexpr StringRef sizeArithmetic[] = {"Add",       "Sub",   "Mul",     "Div",     "Mod",      "Neg",        "Abs",
                                        "Min",       "Max",   "Cast",    "Concat",  "Squeeze",  "Slice",      "Gather",
                                        "Unsqueeze", "Where", "Flatten", "Reshape", "Identity", "ReduceProd", "Split",
                                        "CastLike",  "Floor", "Ceil",    "Relu"};

/// The least valid value of an operand that determines sizes; nothing for others.
std::optional<int64_t> leastOf(StringRef op, int64_t input) {
  for (const SizeOperand &operand : sizeOperands)
    if (operand.op == op && operand.input == input)
      return operand.least;
  // The axes of every reduction.
  return op.starts_with("Reduce") && input == 1 ? std::optional(any) : std::nullopt;
}

/// From inputs that determine sizes back to the values that they are computed from, which `wanted` has afterwards.
void collectWanted(const onnx::GraphProto &graph, StringMap<int64_t> &wanted) {
  for (int index = graph.node_size(); index-- > 0;) {
    const onnx::NodeProto &node = graph.node(index);
    if (!node.domain().empty() && node.domain() != "ai.onnx")
      continue;
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (!attribute.has_g())
        continue;
      // A branch gives what the node gives.
      if (node.op_type() == "If")
        for (auto [inner, outer] : zip(attribute.g().output(), node.output()))
          if (auto found = wanted.find(outer); found != wanted.end())
            wanted.try_emplace(inner.name(), found->second);
      collectWanted(attribute.g(), wanted);
      // The limit of what counts its iterations.
      std::optional<Counting> counting = node.op_type() == "Loop" ? findCounting(attribute.g()) : std::nullopt;
      if (counting && !counting->limit.constant)
        wanted.try_emplace(counting->limit.name, any);
    }
    bool passesOn = llvm::is_contained(sizeArithmetic, node.op_type()) &&
                    llvm::any_of(node.output(), [&](const std::string &name) { return wanted.contains(name); });
    for (auto [position, name] : enumerate(node.input())) {
      std::optional<int64_t> least = leastOf(node.op_type(), position);
      // Before operator set 11 scales were the second input, which then became the region to crop.
      if (node.op_type() == "Resize" && position == 1 && node.input_size() == 2)
        least = 0;
      if (name.empty() || (!least && !passesOn))
        continue;
      int64_t &bound = wanted.try_emplace(name, any).first->second;
      bound = std::max(bound, least.value_or(any));
    }
  }
}

} // namespace

StringMap<int64_t> findSizeInputs(const onnx::GraphProto &graph) {
  StringMap<int64_t> wanted, inputs;
  collectWanted(graph, wanted);
  for (const onnx::ValueInfoProto &input : graph.input())
    if (auto found = wanted.find(input.name()); found != wanted.end())
      inputs[input.name()] = found->second;
  return inputs;
}

} // namespace freestone::importer

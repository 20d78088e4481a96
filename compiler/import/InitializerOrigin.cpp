#include "compiler/import/InitializerOrigin.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace freestone::importer {
namespace {

using Kind = InitializerOrigin::Kind;

/// The name without its number: `view_12` as `view`.
StringRef withoutNumber(StringRef name) {
  auto [stem, number] = name.rsplit('_');
  return !number.empty() && all_of(number, isDigit) ? stem : name;
}

/// Numbered names that exporters and file optimizers give to computed values: `val_12`, `onnx::MatMul_34`,
/// `/layer/Constant_output_0`, `const_fold_opt__5`, `678`.
bool isCountedUp(StringRef name) {
  StringRef stem = withoutNumber(name).rtrim('_');
  return name.starts_with("onnx::") || name.starts_with("/") || all_of(name, isDigit) ||
         (stem != name && is_contained({"val", "const_fold_opt", "Constant", "const", "tensor_constant"}, stem));
}

/// A constant tensor in the module's code: `layer.lifted_tensor_0`.
bool isLifted(StringRef name) {
  StringRef leaf = withoutNumber(name.substr(name.rfind('.') + 1));
  return leaf == "lifted_tensor" || leaf == "_tensor_constant";
}

/// Names in an exported program for results of operators that only move elements.
bool isMoved(StringRef name) {
  return is_contained({"val", "view", "reshape", "transpose", "permute", "t", "slice", "select", "unsqueeze", "squeeze",
                       "expand", "clone", "alias", "detach", "contiguous", "flatten", "_to_copy"},
                      withoutNumber(name));
}

/// Names for results of operators that create tensors.
bool isFilled(StringRef name) {
  return is_contained({"arange", "ones", "zeros", "full", "empty", "eye", "linspace", "scalar_tensor_default",
                       "ones_like", "zeros_like", "full_like"},
                      withoutNumber(name));
}

/// The name of a module's parameter in an exported program.
std::string quoteParameter(StringRef name) {
  std::string text = "p_" + name.lower();
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

/// The origin of a value computed from `folded`. A single initializer that was only moved keeps its origin.
InitializerOrigin describeFolded(StringRef name, ArrayRef<std::string> folded) {
  InitializerOrigin origin{Kind::Computed};
  size_t moves = 0;
  for (const std::string &part : folded)
    if (StringRef(part).contains('.'))
      origin.sources.push_back(part);
    else
      moves += isMoved(part);
  bool isWhole = isMoved(name) && origin.sources.size() + moves == folded.size();
  // The parameters of the outermost module have no path.
  if (origin.sources.empty() && moves + 1 == folded.size()) {
    auto rest = find_if(folded, [](StringRef part) { return !isMoved(part); });
    if (!isFilled(*rest)) {
      origin.sources.push_back(*rest);
      isWhole = isMoved(name);
    }
  }
  if (all_of(origin.sources, isLifted))
    origin.kind = Kind::Constant;
  else if (isWhole)
    origin.kind = Kind::Named;
  if (origin.sources.size() != 1)
    return origin;
  origin.quoted = isWhole && isCountedUp(name) ? quoteParameter(origin.sources.front()) : name.str();
  return origin;
}

} // namespace

std::vector<std::string> readList(StringRef note) {
  std::vector<std::string> texts;
  for (StringRef rest = note; rest.contains('\'');) {
    auto [text, after] = rest.split('\'').second.split('\'');
    texts.push_back(text.str());
    rest = after;
  }
  return texts;
}

std::map<std::string, InitializerOrigin> findOrigins(const onnx::GraphProto &graph) {
  StringMap<const onnx::ValueInfoProto *> notes;
  for (const onnx::ValueInfoProto &info : graph.value_info())
    if (info.metadata_props_size())
      notes[info.name()] = &info;
  bool tellsKinds = false;
  std::map<std::string, InitializerOrigin> origins;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    InitializerOrigin &origin = origins[tensor.name()];
    if (isLifted(tensor.name()))
      origin.kind = Kind::Constant;
    else if (isCountedUp(tensor.name()))
      origin.kind = Kind::Computed;
    const onnx::ValueInfoProto *info = notes.lookup(tensor.name());
    if (!info)
      continue;
    for (const onnx::StringStringEntryProto &note : info->metadata_props()) {
      if (note.key() == "pkg.onnxscript.optimizer.folded_from")
        origin = describeFolded(tensor.name(), readList(note.value()));
      else if (note.key() == "pkg.torch.onnx.original_node_name")
        origin.quoted = note.value();
      else if (note.key() != "pkg.torch.export.graph_signature.InputSpec.kind")
        continue;
      else if (note.value() == "PARAMETER")
        origin.kind = Kind::Parameter;
      else if (note.value() == "BUFFER")
        origin.kind = Kind::Buffer;
      else if (note.value() == "CONSTANT_TENSOR")
        origin.kind = Kind::Constant;
    }
    tellsKinds |= origin.kind == Kind::Parameter;
  }
  // If the exporter lists everything that it took from the module, initializers without a path were made by it.
  if (tellsKinds)
    for (auto &[name, origin] : origins)
      if (origin.kind == Kind::Named && origin.sources.empty() && !StringRef(name).contains('.'))
        origin.kind = Kind::Computed;
  return origins;
}

} // namespace freestone::importer

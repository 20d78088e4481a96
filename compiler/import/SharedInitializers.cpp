#include "compiler/import/SharedInitializers.h"

#include "compiler/import/ModelFile.h"
#include "compiler/weights/NamePatterns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace freestone::importer {
namespace {

using Kind = InitializerOrigin::Kind;

bool isFloat(const onnx::TensorProto &tensor) {
  switch (tensor.data_type()) {
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
  case onnx::TensorProto::DOUBLE:
    return true;
  default:
    return false;
  }
}

/// Whether at most one dimension has several elements.
bool isVector(const onnx::TensorProto &tensor) {
  return tensor.dims_size() > 0 && count_if(tensor.dims(), [](int64_t size) { return size != 1; }) <= 1;
}

StringRef noteOf(const onnx::NodeProto &node, StringRef key) {
  for (const onnx::StringStringEntryProto &note : node.metadata_props())
    if (note.key() == key)
      return note.value();
  return "";
}

/// The operands in a node's line of the exported program: `%x`, `%p_norm_weight`, without the `%`.
std::vector<std::string> readQuoted(StringRef line) {
  std::vector<std::string> names;
  for (StringRef rest = line.split("(args = ").second; rest.contains('%');) {
    rest = rest.split('%').second;
    StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
    if (!name.empty())
      names.push_back(name.str());
    rest = rest.drop_front(name.size());
  }
  return names;
}

/// Whether a quoted name is a parameter, a buffer or a constant of the module.
bool isOfModule(StringRef quoted) {
  return quoted.starts_with("p_") || quoted.starts_with("b_") || quoted.starts_with("c_");
}

bool isMove(const onnx::NodeProto &node) {
  return is_contained({"Identity", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Expand", "Cast", "Flatten"},
                      node.op_type());
}

/// A layer's name for a vector in this input; empty if it is no scale, bias or statistic. The factor of a product has
/// no name: `*`.
StringRef roleOf(const onnx::NodeProto &node, int64_t input) {
  StringRef op = node.op_type();
  if (op == "BatchNormalization" && input > 0)
    return ArrayRef<StringRef>{"weight", "bias", "running_mean", "running_var"}[std::min<int64_t>(input, 4) - 1];
  if (op.ends_with("Normalization") && (input == 1 || input == 2))
    return input == 1 ? "weight" : "bias";
  if ((op == "Conv" || op == "ConvTranspose" || op == "Gemm") && input == 2)
    return "bias";
  if (op == "PRelu" && input == 1)
    return "weight";
  if (op == "Add" || op == "Sub")
    return "bias";
  return op == "Mul" || op == "Div" ? "*" : "";
}

/// A use of an initializer by a node.
struct Use {
  int64_t node, input;
};

class Separation {
public:
  Separation(ModelFile &file, std::map<std::string, InitializerOrigin> &origins, const TiePatterns &patterns)
      : file(file), graph(*file.mutableModel().mutable_graph()), origins(origins), tie(patterns.tie),
        untie(patterns.untie) {
    survey();
  }

  SharedInitializers run();
  std::optional<std::string> findUnmatched() const {
    std::optional<std::string> unused = tie.findUnused();
    return unused ? unused : untie.findUnused();
  }

private:
  void survey();
  void surveyBody(const onnx::GraphProto &body);
  std::string placeOf(const onnx::NodeProto &node) const;
  StringRef findRole(const Use &use, int depth = 0) const;
  std::vector<std::string> findLostNames(const std::string &name, ArrayRef<std::string> quoted) const;
  std::string keyOf(const onnx::TensorProto &tensor, const Use &use) const;
  bool isNamingIdentity(const Use &use) const;
  void separate(int index);
  std::string chooseName(const onnx::TensorProto &tensor, const Use &use, InitializerOrigin &origin) const;
  void explainTie(const onnx::TensorProto &tensor, ArrayRef<Use> uses, const Twine &reason);
  void addCopy(int index, ArrayRef<Use> uses);
  void tieTransposed();

  ModelFile &file;
  onnx::GraphProto &graph;
  std::map<std::string, InitializerOrigin> &origins;
  NamePatterns tie, untie;
  SharedInitializers result;
  /// Uses of initializers, in the main graph.
  StringMap<SmallVector<Use>> uses;
  /// Nodes that only move elements, by their first operand.
  StringMap<SmallVector<Use>> readers;
  /// All names of values.
  StringSet<> taken;
  /// Values used by bodies or outputs of the main graph, besides nodes.
  StringSet<> takenElsewhere;
  /// Quoted names of the exported program that are in the file.
  StringSet<> quotable;
  bool isPyTorch = false;
};

void Separation::surveyBody(const onnx::GraphProto &body) {
  for (const onnx::TensorProto &tensor : body.initializer())
    taken.insert(tensor.name());
  for (const onnx::ValueInfoProto &info : body.output())
    takenElsewhere.insert(info.name());
  for (const onnx::NodeProto &node : body.node()) {
    for (const std::string &name : node.input())
      takenElsewhere.insert(name);
    for (const std::string &name : node.output())
      taken.insert(name);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        surveyBody(attribute.g());
  }
}

void Separation::survey() {
  isPyTorch = file.model().producer_name() == "pytorch";
  for (const onnx::ValueInfoProto &info : graph.input())
    taken.insert(info.name());
  for (const onnx::ValueInfoProto &info : graph.output())
    takenElsewhere.insert(info.name());
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    taken.insert(tensor.name());
    uses[tensor.name()];
    quotable.insert(origins[tensor.name()].quoted);
  }
  for (auto [index, node] : enumerate(graph.node())) {
    for (auto [input, name] : enumerate(node.input())) {
      Use use{int64_t(index), int64_t(input)};
      if (auto known = uses.find(name); known != uses.end())
        known->second.push_back(use);
      readers[name].push_back(use);
    }
    for (const std::string &name : node.output()) {
      taken.insert(name);
      quotable.insert(name);
    }
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        surveyBody(attribute.g());
  }
}

/// The module path of a node, `blocks.0.norm`; else the name of the node.
std::string Separation::placeOf(const onnx::NodeProto &node) const {
  if (StringRef scopes = noteOf(node, "pkg.torch.onnx.name_scopes"); !scopes.empty())
    if (std::vector<std::string> path = readList(scopes); path.size() > 1)
      return path[path.size() - 2];
  if (StringRef name = node.name(); isPyTorch && name.starts_with("/")) {
    std::string path = name.drop_front().rsplit('/').first.str();
    std::replace(path.begin(), path.end(), '/', '.');
    return name.count('/') > 1 ? path : "";
  }
  return !node.name().empty() ? node.name() : node.output_size() ? node.output(0) : node.op_type();
}

/// The role of a vector in the node that uses it, or in the first node after it that computes.
StringRef Separation::findRole(const Use &use, int depth) const {
  const onnx::NodeProto &node = graph.node(use.node);
  if (!isMove(node))
    return roleOf(node, use.input);
  auto next = readers.find(use.input == 0 && node.output_size() ? node.output(0) : "");
  return depth < 8 && next != readers.end() ? findRole(next->second.front(), depth + 1) : "";
}

/// Names quoted by a node for parameters that are missing in the file, where another initializer replaces them.
/// Computed values may have lost their number, `permute_1` to `permute`.
std::vector<std::string> Separation::findLostNames(const std::string &name, ArrayRef<std::string> quoted) const {
  auto stemOf = [](StringRef text) { return text.rtrim("0123456789").rtrim('_'); };
  const InitializerOrigin &origin = origins[name];
  std::vector<std::string> lost;
  for (const std::string &text : quoted) {
    StringRef value = text;
    bool isComputed = !origin.sources.empty() && stemOf(value) == stemOf(name);
    if ((isOfModule(value) || isComputed) && !quotable.contains(value))
      lost.push_back(text);
  }
  return lost;
}

/// PyTorch's older exporter writes a parameter that equals another as an Identity of it, under its own name.
bool Separation::isNamingIdentity(const Use &use) const {
  const onnx::NodeProto &node = graph.node(use.node);
  return isPyTorch && node.op_type() == "Identity" && node.metadata_props_size() == 0 &&
         StringRef(node.name()).starts_with("Identity_") && !takenElsewhere.contains(node.output(0));
}

/// Uses with equal keys share a parameter; the empty key is that of the initializer's own name.
std::string Separation::keyOf(const onnx::TensorProto &tensor, const Use &use) const {
  const onnx::NodeProto &node = graph.node(use.node);
  std::string which = node.op_type() + "/" + std::to_string(use.input);
  StringRef line = noteOf(node, "pkg.torch.onnx.fx_node");
  const InitializerOrigin &origin = origins[tensor.name()];
  if (!line.empty()) {
    std::vector<std::string> quoted = readQuoted(line), lost = findLostNames(tensor.name(), quoted);
    // A layer may use both the parameter and an equal one, such as its bias or its statistics.
    StringRef role = roleOf(node, use.input);
    bool isOther = !role.empty() && any_of(lost, [&](StringRef name) { return name.ends_with(("_" + role).str()); });
    if (is_contained(quoted, origin.quoted) && !isOther)
      return "";
    if (!lost.empty())
      return join(lost, ",") + "/" + which;
  }
  if (isNamingIdentity(use))
    return node.output(0) + "/" + which;
  bool isTold = isPyTorch && line.empty();
  bool mayDiffer = origin.kind != Kind::Constant && origin.kind != Kind::Computed;
  if (isTold || !mayDiffer || !isVector(tensor) || findRole(use).empty())
    return "";
  return placeOf(node) + "/" + (isPyTorch ? which : std::to_string(use.node));
}

/// `PLACE.NAME`, with the name quoted in the exported program, else the layer's name for it.
std::string Separation::chooseName(const onnx::TensorProto &tensor, const Use &use, InitializerOrigin &origin) const {
  const onnx::NodeProto &node = graph.node(use.node);
  if (isNamingIdentity(use))
    return node.output(0);
  std::string place = placeOf(node), flat = StringRef(place).lower();
  std::replace(flat.begin(), flat.end(), '.', '_');
  StringRef role = findRole(use), own = StringRef(tensor.name()).substr(StringRef(tensor.name()).rfind('.') + 1);
  StringRef leaf = role == "*" ? (own == "bias" ? "scale" : own) : role.empty() ? own : role;
  SmallVector<std::pair<StringRef, StringRef>> told;
  std::vector<std::string> lost = findLostNames(tensor.name(), readQuoted(noteOf(node, "pkg.torch.onnx.fx_node")));
  for (StringRef text : lost)
    if (StringRef rest = text.drop_front(isOfModule(text) ? 2 : 0);
        flat.empty() || !isOfModule(text) || rest.consume_front(flat + "_"))
      told.push_back({text, rest});
  auto found = find_if(told, [&](const auto &pair) { return pair.second.equals_insensitive(leaf); });
  if (found == told.end() && told.size() == 1) {
    found = told.begin();
    leaf = found->second;
  }
  if (found != told.end() && isOfModule(found->first))
    origin.kind = found->first.starts_with("b_")   ? Kind::Buffer
                  : found->first.starts_with("c_") ? Kind::Constant
                                                   : Kind::Parameter;
  std::string name = (place.empty() ? leaf : place + "." + leaf).str();
  std::string unique = name;
  for (int number = 2; taken.contains(unique); ++number)
    unique = name + "_" + std::to_string(number);
  return unique;
}

void Separation::addCopy(int index, ArrayRef<Use> taking) {
  const onnx::TensorProto &tensor = graph.initializer(index);
  UntiedInitializer copy;
  copy.of = tensor.name();
  InitializerOrigin origin = origins[copy.of];
  origin.quoted.clear();
  copy.name = chooseName(tensor, taking.front(), origin);
  taken.insert(copy.name);
  origins[copy.name] = origin;
  if (isNamingIdentity(taking.front()))
    copy.identity = taking.front().node;
  else
    for (const Use &use : taking) {
      copy.inputs.push_back({use.node, use.input});
      graph.mutable_node(use.node)->set_input(use.input, copy.name);
    }
  file.copyInitializer(index, copy.name);
  result.untied.push_back(std::move(copy));
}

void Separation::explainTie(const onnx::TensorProto &tensor, ArrayRef<Use> taking, const Twine &reason) {
  std::vector<std::string> places;
  for (const Use &use : taking)
    if (std::string place = "'" + placeOf(graph.node(use.node)) + "'"; !is_contained(places, place))
      places.push_back(place);
  if (places.size() > 1)
    result.ties[tensor.name()] = ("taken by " + join(places, ", ") + ": " + reason).str();
}

void Separation::separate(int index) {
  const onnx::TensorProto &tensor = graph.initializer(index);
  std::optional<StringRef> isTied = tie.match(tensor.name()), isUntied = untie.match(tensor.name());
  SmallVector<Use> &all = uses[tensor.name()];
  if (all.size() < 2 || origins[tensor.name()].kind == Kind::Constant)
    return;
  std::vector<std::pair<std::string, SmallVector<Use>>> groups;
  for (const Use &use : all) {
    std::string key = isTied ? "" : isUntied ? std::to_string(use.node) : keyOf(tensor, use);
    auto group = find_if(groups, [&](const auto &known) { return known.first == key; });
    if (group == groups.end())
      group = groups.insert(key.empty() ? groups.begin() : groups.end(), {key, {}});
    group->second.push_back(use);
  }
  // Bodies and outputs use the initializer by its name.
  bool isTakenElsewhere = takenElsewhere.contains(tensor.name()) && !groups.front().first.empty();
  for (const auto &[key, group] : ArrayRef(groups).drop_front(isTakenElsewhere ? 0 : 1))
    addCopy(index, group);
  if (isTakenElsewhere)
    return;
  StringRef kept = isVector(tensor) ? "no scales and biases of layers" : "only vectors are untied by themselves";
  explainTie(tensor, groups.front().second,
             isTied                                      ? ("tied by '" + *isTied + "'").str()
             : isPyTorch && groups.front().first.empty() ? "so it is in the module that was exported"
                                                         : kept);
}

/// The bytes of a float matrix; empty for other tensors, or without data.
static ArrayRef<char> elementsOf(ModelFile &file, int index, size_t &width) {
  const onnx::TensorProto &tensor = file.model().graph().initializer(index);
  if (!isFloat(tensor) || tensor.dims_size() != 2 || tensor.dims(0) < 2 || tensor.dims(1) < 2)
    return {};
  std::string ignored;
  FailureOr<ArrayRef<char>> raw = file.rawInitializer(index, ignored);
  int64_t count = tensor.dims(0) * tensor.dims(1);
  if (failed(raw) || raw->empty() || raw->size() % count)
    return {};
  width = raw->size() / count;
  return *raw;
}

static bool isTransposed(ArrayRef<char> one, ArrayRef<char> other, int64_t rows, int64_t columns, size_t width) {
  bool isConstant = true;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const char *element = &one[(row * columns + column) * width];
      if (memcmp(element, &other[(column * rows + row) * width], width))
        return false;
      isConstant &= !memcmp(element, one.data(), width);
    }
  return !isConstant;
}

/// Finds matrices made by the exporter that are transposed copies of others, by their elements.
void Separation::tieTransposed() {
  for (int copy = 0; copy < graph.initializer_size(); ++copy) {
    const onnx::TensorProto &matrix = graph.initializer(copy);
    const InitializerOrigin &origin = origins[matrix.name()];
    bool isMade = origin.kind == Kind::Computed || (origin.kind == Kind::Named && !origin.sources.empty());
    size_t width = 0, otherWidth = 0;
    ArrayRef<char> elements = isMade ? elementsOf(file, copy, width) : ArrayRef<char>();
    if (elements.empty() || untie.match(matrix.name()) || uses[matrix.name()].empty())
      continue;
    for (int other = 0; other < graph.initializer_size(); ++other) {
      const onnx::TensorProto &original = graph.initializer(other);
      Kind kind = origins[original.name()].kind;
      if (other == copy || (kind != Kind::Parameter && kind != Kind::Named) || original.dims_size() != 2 ||
          original.dims(0) != matrix.dims(1) || original.dims(1) != matrix.dims(0) ||
          original.data_type() != matrix.data_type() || uses[original.name()].empty() ||
          result.transposed.contains(original.name()))
        continue;
      ArrayRef<char> others = elementsOf(file, other, otherWidth);
      if (otherWidth != width || !isTransposed(elements, others, matrix.dims(0), matrix.dims(1), width))
        continue;
      result.transposed[matrix.name()] = original.name();
      result.ties[original.name()] +=
          (result.ties.contains(original.name()) ? "; " : "") + ("'" + matrix.name() + "' is its transposed copy");
      break;
    }
  }
}

SharedInitializers Separation::run() {
  int count = graph.initializer_size();
  std::vector<int64_t> identities;
  for (int index = 0; index < count; ++index)
    if (isFloat(graph.initializer(index)))
      separate(index);
  tieTransposed();
  for (const UntiedInitializer &copy : result.untied)
    if (copy.identity)
      identities.push_back(*copy.identity);
  // Up to here positions are those of the file.
  sort(identities, std::greater<>());
  for (int64_t identity : identities)
    graph.mutable_node()->DeleteSubrange(identity, 1);
  return std::move(result);
}

} // namespace

FailureOr<SharedInitializers> separateInitializers(ModelFile &file, std::map<std::string, InitializerOrigin> &origins,
                                                   const TiePatterns &patterns, std::string &unmatched) {
  Separation separation(file, origins, patterns);
  SharedInitializers shared = separation.run();
  if (std::optional<std::string> pattern = separation.findUnmatched()) {
    unmatched = *pattern;
    return failure();
  }
  return shared;
}

} // namespace freestone::importer

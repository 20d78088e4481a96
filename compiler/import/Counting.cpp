#include "compiler/import/Counting.h"

#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace llvm;

namespace freestone::importer {
namespace {

/// A loop's body, or a side of a branch in it, read from its outputs backwards.
class Body {
public:
  explicit Body(const onnx::GraphProto &body, const Body *outer = nullptr) : body(body), outer(outer) {}

  std::optional<Counting> find(StringRef condition) const;

private:
  std::optional<Counting> findInBranch(const onnx::NodeProto &branch) const;
  const Body &getLoop() const { return outer ? outer->getLoop() : *this; }
  const onnx::NodeProto *getMaker(StringRef name) const;
  StringRef strip(StringRef name) const;
  Counting::Number getNumber(StringRef name) const;
  bool readStep(StringRef next, Counting &counting) const;

  const onnx::GraphProto &body;
  const Body *outer;
};

/// Comparisons of what counts with the limit: with the limit on the right, is it below, and may it be reached?
struct Relation {
  bool isLess, includes;
};

std::optional<Relation> relationOf(StringRef op) {
  return StringSwitch<std::optional<Relation>>(op)
      .Case("Less", Relation{true, false})
      .Case("LessOrEqual", Relation{true, true})
      .Case("Greater", Relation{false, false})
      .Case("GreaterOrEqual", Relation{false, true})
      .Default(std::nullopt);
}

} // namespace

const onnx::NodeProto *Body::getMaker(StringRef name) const {
  for (const onnx::NodeProto &node : body.node())
    if (node.output_size() == 1 && node.output(0) == name)
      return &node;
  return outer ? outer->getMaker(name) : nullptr;
}

/// The value that this one is a copy of, whatever its type or shape.
StringRef Body::strip(StringRef name) const {
  while (const onnx::NodeProto *maker = getMaker(name)) {
    StringRef op = maker->op_type();
    if (op != "Identity" && op != "Cast" && op != "CastLike" && op != "Reshape" && op != "Squeeze" && op != "Unsqueeze")
      break;
    name = maker->input(0);
  }
  return name;
}

static std::optional<int64_t> integerOf(const onnx::TensorProto &tensor) {
  bool isLong = tensor.data_type() == onnx::TensorProto::INT64, isInt = tensor.data_type() == onnx::TensorProto::INT32;
  bool isBool = tensor.data_type() == onnx::TensorProto::BOOL;
  if (isLong && tensor.int64_data_size() == 1)
    return tensor.int64_data(0);
  if ((isInt || isBool) && tensor.int32_data_size() == 1)
    return tensor.int32_data(0);
  auto read = [&](auto value) -> std::optional<int64_t> {
    if (tensor.raw_data().size() != sizeof(value))
      return std::nullopt;
    std::memcpy(&value, tensor.raw_data().data(), sizeof(value));
    return value;
  };
  return isLong ? read(int64_t()) : isInt ? read(int32_t()) : isBool ? read(char()) : std::nullopt;
}

static std::optional<int64_t> constantOf(const onnx::NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() == "value")
      return integerOf(attribute.t());
    if (attribute.name() == "value_int")
      return attribute.i();
    if (attribute.name() == "value_ints" && attribute.ints_size() == 1)
      return attribute.ints(0);
  }
  return std::nullopt;
}

Counting::Number Body::getNumber(StringRef name) const {
  name = strip(name);
  if (const onnx::NodeProto *maker = getMaker(name); maker && maker->op_type() == "Constant")
    return {constantOf(*maker), name};
  for (const onnx::TensorProto &tensor : body.initializer())
    if (tensor.name() == name)
      return {integerOf(tensor), name};
  return outer ? outer->getNumber(name) : Counting::Number{std::nullopt, name};
}

/// A side of a branch that asks for both, as "and" of languages that leave out what no longer matters.
std::optional<Counting> Body::findInBranch(const onnx::NodeProto &branch) const {
  const onnx::GraphProto *sides[2] = {};
  for (const onnx::AttributeProto &attribute : branch.attribute())
    if (attribute.has_g() && attribute.g().output_size() == 1)
      sides[attribute.name() == "else_branch"] = &attribute.g();
  if (!sides[0] || !sides[1])
    return std::nullopt;
  std::optional<Counting> found = find(branch.input(0));
  found = found ? found : Body(*sides[0], this).find(sides[0]->output(0).name());
  if (found) {
    found->isAlone = false;
    found->falses.push_back(Body(*sides[1], this).getNumber(sides[1]->output(0).name()));
  }
  return found;
}

/// Whether the value is what a carried one is in the next iteration, and how much that is more.
bool Body::readStep(StringRef next, Counting &counting) const {
  const onnx::NodeProto *maker = getMaker(strip(next));
  if (!maker || (maker->op_type() != "Add" && maker->op_type() != "Sub") || maker->input_size() != 2)
    return false;
  counting.isSubtracted = maker->op_type() == "Sub";
  for (int64_t state = 0; state + 2 < body.input_size() && state + 1 < body.output_size(); ++state) {
    if (strip(body.output(state + 1).name()) != StringRef(maker->output(0)))
      continue;
    for (int place = 0; place < (counting.isSubtracted ? 1 : 2); ++place)
      if (strip(maker->input(place)) == StringRef(body.input(state + 2).name())) {
        counting.state = state;
        counting.step = getNumber(maker->input(1 - place));
        return true;
      }
  }
  return false;
}

std::optional<Counting> Body::find(StringRef condition) const {
  const onnx::NodeProto *maker = getMaker(strip(condition));
  if (maker && maker->op_type() == "If")
    return findInBranch(*maker);
  if (!maker || maker->input_size() != 2)
    return std::nullopt;
  if (maker->op_type() == "And") {
    std::optional<Counting> found = find(maker->input(0));
    found = found ? found : find(maker->input(1));
    if (found)
      found->isAlone = false;
    return found;
  }
  std::optional<Relation> relation = relationOf(maker->op_type());
  Counting counting;
  for (int place = 0; relation && place < 2; ++place)
    if (getLoop().readStep(maker->input(place), counting)) {
      counting.limit = getNumber(maker->input(1 - place));
      counting.falls = relation->isLess == (place == 1);
      counting.includes = relation->includes;
      return counting;
    }
  return std::nullopt;
}

std::optional<Counting> findCounting(const onnx::GraphProto &body) {
  return body.output_size() > 1 ? Body(body).find(body.output(0).name()) : std::nullopt;
}

} // namespace freestone::importer

// Branches and loops. A branch with a condition known during import is inlined. A loop whose number of iterations is a
// size is a scan. A short one is unrolled where it carries sequences, or sizes follow from its iterations; others are
// built by WhileLoop.
#include "compiler/expressions/Scan.h"
#include "compiler/import/Counting.h"
#include "compiler/import/GraphImporter.h"
#include "compiler/import/Registry.h"
#include "compiler/import/SizeInputs.h"
#include "compiler/import/operators/Regions.h"
#include "compiler/import/operators/ValueForms.h"
#include "compiler/import/operators/WhileLoop.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Longer loops are not unrolled.
constexpr int64_t maxUnrolled = 64;
/// The same for loops that could run as loops, in models that are not trained.
constexpr int64_t maxUnrolledInference = 4;

/// Names for sizes that both branches of a node give: equal pairs have one name.
using JoinedSizes = DenseMap<std::pair<Expr, Expr>, Expr>;

bool areAlike(graph::TensorType lhs, graph::TensorType rhs) {
  return lhs.getRank() == rhs.getRank() && lhs.getElementType() == rhs.getElementType();
}

/// A type that both values can be passed as: sizes that differ are new symbols.
mlir::Type joinTypes(Node &node, graph::TensorType lhs, graph::TensorType rhs, JoinedSizes &joined) {
  if (!areAlike(lhs, rhs)) {
    node.refuse("its branches give tensors of different ranks or types, and only the run knows which one it takes: "
                "unsqueeze or cast one of them");
    return lhs;
  }
  Shape shape;
  SizeFacts &facts = node.builder().sizeFacts();
  for (auto [l, r] : zip_equal(lhs.getShape(), rhs.getShape())) {
    if (l == r && !facts.dependsOnData(l)) {
      shape.push_back(l);
      continue;
    }
    Expr &size = joined[{l, r}];
    Expr left = facts.greatest(l), right = facts.greatest(r);
    if (!size)
      size = left && right ? facts.freshCount("joined", facts.simplify(Expr::max(left, right)))
                           : facts.fresh("joined", SymbolOrigin::Data, sym::Interval::size());
    shape.push_back(size);
  }
  return lhs.withShape(shape);
}

/// Builds a branch that gives values of these forms. Without `areKnown` they are joined with those of what the branch
/// gives, and nothing is returned where that is not only tensors.
std::optional<SmallVector<mlir::Value>> buildBranch(Node &node, mlir::Region &region, const onnx::GraphProto &graph,
                                                    SmallVector<ValueForm> &forms, bool areKnown) {
  return buildRegion(node, region, {}, [&](const Values &) -> std::optional<Values> {
    std::optional<Values> outputs = node.importer().importBody(graph, {});
    if (!outputs)
      return std::nullopt;
    bool isFirst = forms.empty(), areTensors = true;
    Values tensors;
    for (auto [index, output] : enumerate(*outputs)) {
      if (!areKnown) {
        std::optional<ValueForm> form = formOfValue(node.builder(), output);
        if (form && !isFirst)
          form = joinForms(node.builder(), forms[index], *form);
        if (!form)
          return std::nullopt;
        isFirst ? forms.push_back(*form) : void(forms[index] = *form);
        areTensors &= form->isTensor();
      }
      if (areKnown || areTensors)
        llvm::append_range(tensors, flatten(node.builder(), output, forms[index]));
    }
    return (areKnown || areTensors) && !node.builder().stopped() ? std::optional(tensors) : std::nullopt;
  });
}

void ifNode(Node &node) {
  Tensor condition = node.input(0);
  const onnx::GraphProto *whenTrue = bodyOf(node, "then_branch"), *whenFalse = bodyOf(node, "else_branch");
  if (!condition || !whenTrue || !whenFalse)
    return;
  if (whenTrue->output_size() != whenFalse->output_size()) {
    node.reject("its branches give different numbers of results");
    return;
  }
  auto take = [&](bool holds) {
    if (auto outputs = node.importer().importBody(holds ? *whenTrue : *whenFalse, {}))
      for (auto [index, output] : enumerate(*outputs))
        node.setOutput(index, output);
  };
  if (std::optional<int64_t> holds = knownScalar(condition))
    return take(*holds != 0);
  ModelBuilder &builder = node.builder();
  Tensor scalar = reshape(condition, {});
  if (!scalar)
    return;
  auto op = graph::IfOp::create(builder, builder.getLoc(), mlir::TypeRange(), scalar.value());
  SmallVector<ValueForm> forms;
  auto build = [&](bool areKnown) {
    auto left = buildBranch(node, op.getThenRegion(), *whenTrue, forms, areKnown);
    auto right = builder.stopped() ? std::nullopt : buildBranch(node, op.getElseRegion(), *whenFalse, forms, areKnown);
    return std::pair(left, right);
  };
  auto [left, right] = build(/*areKnown=*/false);
  if (!builder.stopped() && (!left || !right)) {
    // Both are built again, with what they give in the forms that fit both.
    op.erase();
    op = graph::IfOp::create(builder, builder.getLoc(), mlir::TypeRange(), scalar.value());
    std::tie(left, right) = build(/*areKnown=*/true);
  }
  if (!left || !right)
    return;
  bool differ = any_of(zip_equal(*left, *right), [](auto sides) {
    return !areAlike(tensorType(std::get<0>(sides)), tensorType(std::get<1>(sides)));
  });
  if (Expr holds = differ && scalar.content() ? scalar.content()->front().asExpr() : Expr()) {
    if (std::optional<bool> known = builder.assumeAtEntry(holds, "the condition, which decides a rank,")) {
      op.erase();
      return take(*known);
    }
  }
  SmallVector<mlir::Type> types;
  JoinedSizes joined;
  for (auto [l, r] : zip_equal(*left, *right))
    types.push_back(joinTypes(node, tensorType(l), tensorType(r), joined));
  if (builder.stopped())
    return;
  op = withResults(builder, op, types);
  Values results;
  for (mlir::Value result : op.getResults())
    results.push_back(builder.fromValue(result));
  ArrayRef<ModelValue> rest = results;
  for (auto [index, form] : enumerate(forms))
    node.setOutput(index, restore(form, rest));
}

/// Unrolls a loop; nothing if its trip count or conditions are unknown during import.
bool unroll(Node &node, const onnx::GraphProto &body, int64_t trips) {
  ModelBuilder &builder = node.builder();
  Values carried;
  for (int64_t index = 2; index < node.inputCount(); ++index)
    carried.push_back(node.value(index));
  std::vector<SmallVector<Tensor>> collected(body.output_size() - 1 - carried.size());
  Tensor goOn = builder.scalar(1, builder.getI1Type());
  for (int64_t trip = 0; trip < trips && knownScalar(goOn) != 0; ++trip) {
    Values arguments = {builder.integer(trip), goOn};
    llvm::append_range(arguments, carried);
    std::optional<Values> outputs = node.importer().importBody(body, arguments);
    if (!outputs)
      return false;
    goOn = outputs->front().tensor;
    assert(knownScalar(goOn) && "nothing but the limit ends an unrolled loop");
    for (size_t index = 0; index < carried.size(); ++index)
      carried[index] = (*outputs)[index + 1];
    for (size_t index = 0; index < collected.size(); ++index)
      collected[index].push_back(unsqueeze((*outputs)[1 + carried.size() + index].tensor, {0}));
  }
  for (auto [index, value] : enumerate(carried))
    node.setOutput(index, value);
  for (auto [index, parts] : enumerate(collected)) {
    if (parts.empty())
      return node.refuse("a loop that never runs collects nothing"), false;
    node.setOutput(carried.size() + index, concat(parts, 0));
  }
  return true;
}

/// Whether a Constant node is a bool that is true.
bool isTrue(const onnx::NodeProto &constant) {
  for (const onnx::AttributeProto &attribute : constant.attribute())
    if (attribute.name() == "value")
      return attribute.t().has_raw_data() ? !attribute.t().raw_data().empty() && attribute.t().raw_data()[0]
                                          : attribute.t().int32_data_size() == 1 && attribute.t().int32_data(0);
  return false;
}

/// Whether a loop goes on to its limit, once it has begun: its body passes the condition on, or makes a constant.
bool passesOn(const onnx::GraphProto &body) {
  std::string name = body.output(0).name();
  for (int index = body.node_size(); index-- > 0;) {
    const onnx::NodeProto &node = body.node(index);
    if (node.output_size() != 1 || node.output(0) != name)
      continue;
    if (node.op_type() == "Constant")
      return isTrue(node);
    if (node.op_type() != "Identity")
      return false;
    name = node.input(0);
  }
  return name == body.input(1).name();
}

/// Builds a loop of `count` iterations as a scan of their numbers. Returns whether it did.
bool scanNumbers(Node &node, const onnx::GraphProto &body, Expr count) {
  ModelBuilder &builder = node.builder();
  std::vector<Tensor> carried;
  for (int64_t index = 2; index < node.inputCount(); ++index) {
    carried.push_back(node.input(index));
    if (!carried.back())
      return false;
  }
  Tensor numbers = iota(builder, {Expr::max({count, builder.size(0)})}, 0, builder.getI64Type());
  std::vector<Tensor> results = scan(builder, carried, {numbers}, [&](ArrayRef<Tensor> arguments) {
    Values values = {arguments.back(), builder.scalar(1, builder.getI1Type())};
    llvm::append_range(values, arguments.drop_back());
    std::vector<Tensor> made = importTensors(node, body, values);
    if (!made.empty())
      made.erase(made.begin());
    return made;
  });
  for (auto [index, result] : enumerate(results))
    node.setOutput(index, result);
  return !results.empty();
}

/// What is known of a loop that counts: its iterations at most, and whether nothing else ends it.
struct Counted {
  Expr most;
  bool isAll;
};

/// The value of a number in a body: a constant, one from outside, or one that the loop carries unchanged.
Tensor valueOf(Node &node, const onnx::GraphProto &body, const Counting::Number &number) {
  if (number.constant)
    return node.builder().integer(*number.constant);
  for (int64_t state = 0; state + 2 < node.inputCount(); ++state)
    if (StringRef(body.input(state + 2).name()) == number.name)
      return StringRef(body.output(state + 1).name()) == number.name ? node.value(state + 2).tensor : Tensor();
  return node.importer().tensorNamed(number.name);
}

/// The number of iterations of a loop that counts up to a limit, or down; nothing where sizes don't tell it.
std::optional<Counted> countIterations(Node &node, const onnx::GraphProto &body) {
  std::optional<Counting> counting = findCounting(body);
  if (!counting || counting->state + 2 >= node.inputCount())
    return std::nullopt;
  auto numberOf = [](Tensor tensor) {
    bool isKnown = tensor && tensor.isInteger() && tensor.content() && tensor.content()->size() == 1;
    return isKnown ? tensor.content()->front().asExpr() : Expr();
  };
  Expr first = numberOf(node.value(counting->state + 2).tensor);
  Expr last = numberOf(valueOf(node, body, counting->limit));
  std::optional<int64_t> step = knownScalar(valueOf(node, body, counting->step));
  for (const Counting::Number &number : counting->falses)
    if (knownScalar(valueOf(node, body, number)) != 0)
      return std::nullopt;
  if (!first || !last || !step || *step == 0 || (*step < 0) == (counting->falls == counting->isSubtracted))
    return std::nullopt;
  ModelBuilder &builder = node.builder();
  Expr ahead = (counting->falls ? first - last : last - first) + (counting->includes ? 1 : 0);
  auto iterations = [&](int64_t least) {
    Expr count = Expr::max(Expr::ceilDiv(ahead, std::abs(*step)), builder.size(least));
    return builder.sizeFacts().simplify(count);
  };
  // The first iteration asks the loop's own condition, which is mostly the same comparison.
  Tensor start = node.optionalInput(1);
  const Content *known = start ? start.content() : nullptr;
  if (!start || knownScalar(start) == 1)
    return Counted{iterations(1), counting->isAlone};
  auto relation = counting->includes ? graph::CompareKind::le : graph::CompareKind::lt;
  Tensor same = compare(relation, builder.integer(counting->falls ? last : first),
                        builder.integer(counting->falls ? first : last));
  bool isSame =
      known && known->size() == 1 && same.content() && same.content()->front().asExpr() == known->front().asExpr();
  return Counted{iterations(isSame ? 0 : 1), isSame && counting->isAlone};
}

void loop(Node &node) {
  const onnx::GraphProto *body = bodyOf(node, "body");
  if (!body)
    return;
  int64_t states = std::max<int64_t>(node.inputCount() - 2, 0);
  if (body->input_size() != states + 2 || body->output_size() < states + 1) {
    node.reject("its body does not fit what it carries");
    return;
  }
  Tensor limit = node.optionalInput(0), condition = node.optionalInput(1);
  const Content *content = limit ? limit.content() : nullptr;
  Expr bound = content ? content->front().asExpr() : Expr();
  // Exporters write the greatest integer where there is no limit.
  bool isEndless = !limit || (bound && bound.asConstant().value_or(0) >= std::numeric_limits<int32_t>::max());
  if (isEndless)
    bound = Expr();
  bool goesOn = passesOn(*body), runsOut = bound && goesOn && (!node.has(1) || knownScalar(condition) == 1);
  if (std::optional<Counted> counted = countIterations(node, *body)) {
    bound = bound ? Expr::min(bound, counted->most) : counted->most;
    goesOn = counted->isAll && (isEndless || content);
    runsOut = goesOn;
  }
  std::optional<int64_t> trips = bound ? bound.asConstant() : std::nullopt;
  bool carriesSequence = false;
  for (int64_t index = 2; index < node.inputCount(); ++index)
    carriesSequence |= node.value(index).kind != ModelValue::Kind::Tensor;
  // Unrolled loops have gradients.
  int64_t most = node.builder().options.keepWeights ? maxUnrolled : maxUnrolledInference;
  bool isShort = runsOut && trips && *trips > 0 && *trips <= most;
  bool readsTrip = findSizeInputs(*body).contains(body->input(0).name());
  // The elements of unrolled sequences may have any shapes.
  if ((isShort && readsTrip) || (carriesSequence && runsOut && trips && *trips <= maxUnrolled)) {
    unroll(node, *body, *trips);
    return;
  }
  if (runsOut && !readsTrip && !carriesSequence) {
    if (scanNumbers(node, *body, bound) || node.builder().stopped())
      return;
    if (isShort) {
      unroll(node, *body, *trips);
      return;
    }
  }
  if (!bound && node.builder().options.maxTrip > 0)
    bound = node.builder().size(node.builder().options.maxTrip);
  bool canUnroll = runsOut && trips && *trips > 0 && *trips <= maxUnrolled;
  LoopForm form = {bound, isEndless || content ? Tensor() : limit, runsOut, goesOn, readsTrip, canUnroll};
  if (!buildWhile(node, *body, form) && canUnroll)
    unroll(node, *body, *trips);
}

} // namespace

void registerControlFlow(Registry &registry) {
  registry.addMany("If", {1}, ifNode);
  registry.addMany("Loop", {1}, loop);
}

} // namespace freestone::importer

#include "test/grad/GradientCheck.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/grad/Differentiate.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace freestone::interpreter;

namespace freestone::grad {

using namespace expressions;

namespace {

graph::TensorType typeOf(Value value) { return cast<graph::TensorType>(value.getType()); }

/// Pseudorandom numbers that depend on the seed alone.
class Draw {
public:
  explicit Draw(uint64_t seed) : state(seed * 2654435761u + 1) {}

  /// In [0, 1).
  double next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  }

private:
  uint64_t state;
};

void setResults(func::FuncOp function, ArrayRef<Value> results) {
  Operation *end = function.getBody().front().getTerminator();
  end->setOperands(results);
  SmallVector<Type> types = llvm::map_to_vector(results, [](Value result) { return result.getType(); });
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
  function.removeResAttrsAttr();
}

std::vector<unsigned> wantedOf(func::FuncOp function) {
  std::vector<unsigned> wanted;
  for (BlockArgument argument : function.getArguments())
    if (isDifferentiable(argument) && !function.getArgAttr(argument.getArgNumber(), "test.fixed"))
      wanted.push_back(argument.getArgNumber());
  return wanted;
}

} // namespace

std::vector<unsigned> GradientCheck::getWanted(func::FuncOp function) { return wantedOf(function); }

OwningOpRef<ModuleOp> GradientCheck::parse(StringRef text) {
  auto module = parseSourceString<ModuleOp>(("func.func @main" + text).str(), &context);
  if (!module)
    ADD_FAILURE() << "does not parse or verify: " << text.str();
  return module;
}

std::vector<HostTensor> GradientCheck::drawInputs(func::FuncOp function, const Sizes &sizes, uint64_t seed) {
  auto valueOf = [&](StringRef symbol) -> std::optional<int64_t> {
    auto found = sizes.find(symbol.str());
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<HostTensor> inputs;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    SmallVector<int64_t> dims;
    int64_t count = 1;
    for (sym::Expr extent : typeOf(argument).getShape()) {
      dims.push_back(*extent.evaluate(valueOf));
      count *= dims.back();
    }
    Draw draw(seed + number);
    Type type = typeOf(argument).getElementType();
    if (isa<FloatType>(type)) {
      double low = -1, high = 1;
      if (auto range = function.getArgAttrOfType<ArrayAttr>(number, "test.range")) {
        low = cast<FloatAttr>(range[0]).getValueAsDouble();
        high = cast<FloatAttr>(range[1]).getValueAsDouble();
      }
      std::vector<double> elements(count);
      for (double &element : elements)
        element = low + draw.next() * (high - low);
      inputs.push_back(f64(dims, elements));
    } else if (type.isInteger(1)) {
      std::vector<uint8_t> elements(count);
      for (uint8_t &element : elements)
        element = draw.next() < 0.5;
      inputs.push_back(i1(dims, elements));
    } else {
      StringRef below = function.getArgAttrOfType<StringAttr>(number, "test.below").getValue();
      int64_t end;
      if (below.getAsInteger(10, end))
        end = *valueOf(below);
      std::vector<int64_t> elements(count);
      for (int64_t &element : elements)
        element = static_cast<int64_t>(draw.next() * end);
      inputs.push_back(i64(dims, elements));
    }
  }
  return inputs;
}

void GradientCheck::makeLoss(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  GraphBuilder builder(function.getLoc(), end);
  Tensor loss;
  SmallVector<Value> results(end->getOperands());
  for (Value result : results) {
    if (!isDifferentiable(result))
      continue;
    unsigned number = function.getNumArguments();
    NamedAttrList fixed(ArrayRef<NamedAttribute>{builder.getNamedAttr("test.fixed", builder.getUnitAttr())});
    (void)function.insertArgument(number, result.getType(), fixed.getDictionary(&context), function.getLoc());
    Tensor weighted = sum(Tensor(builder, result) * Tensor(builder, function.getArgument(number)));
    loss = loss ? loss + weighted : weighted;
  }
  setResults(function, loss.value());
}

LogicalResult GradientCheck::addGradients(func::FuncOp function) {
  SmallVector<Value> wanted, results = {function.getBody().front().getTerminator()->getOperand(0)};
  for (unsigned number : getWanted(function))
    wanted.push_back(function.getArgument(number));
  FailureOr<SmallVector<Value>> gradients = differentiate(results.front(), wanted);
  if (failed(gradients))
    return failure();
  for (auto [value, gradient] : llvm::zip_equal(wanted, *gradients))
    EXPECT_EQ(value.getType(), gradient.getType());
  llvm::append_range(results, *gradients);
  setResults(function, results);
  return verify(function);
}

void GradientCheck::compare(func::FuncOp function, const Sizes &sizes) {
  std::string where;
  for (const auto &[symbol, size] : sizes)
    where += symbol + " = " + std::to_string(size) + ", ";
  std::vector<HostTensor> inputs = drawInputs(function, sizes, 17);
  FailureOr<std::vector<HostTensor>> results = interpret(function, inputs, weights, true);
  ASSERT_TRUE(succeeded(results)) << where;
  std::vector<unsigned> wanted = getWanted(function);
  ASSERT_EQ(results->size(), wanted.size() + 1);

  OwningOpRef<func::FuncOp> alone(function.clone());
  setResults(*alone, alone->getBody().front().getTerminator()->getOperand(0));
  auto lossAt = [&] { return reals(interpret(*alone, inputs, weights, true)->front()).front(); };
  for (auto [position, number] : llvm::enumerate(wanted)) {
    std::vector<double> gradient = reals((*results)[position + 1]);
    auto *elements = reinterpret_cast<double *>(inputs[number].bytes.data());
    // Checks a subset of the elements of large arguments.
    size_t stride = gradient.size() / 24 + 1;
    for (size_t i = 0; i < gradient.size(); i += stride) {
      double before = elements[i], step = 1e-5;
      elements[i] = before + step;
      double above = lossAt();
      elements[i] = before - step;
      double below = lossAt();
      elements[i] = before;
      double expected = (above - below) / (2 * step);
      ASSERT_NEAR(gradient[i], expected, 2e-7 * std::max(1.0, std::abs(expected)))
          << where << "argument " << number << ", element " << i;
    }
  }
}

void GradientCheck::checkAt(StringRef text, const Sizes &sizes) {
  auto module = parse(text);
  if (!module)
    return;
  auto function = module->lookupSymbol<func::FuncOp>("main");
  makeLoss(function);
  ASSERT_TRUE(succeeded(addGradients(function))) << text.str();
  // The size of a result may be bound only at run time.
  compare(function, sizes);
}

static SmallVector<std::string> getSymbols(func::FuncOp function) {
  llvm::SetVector<StringAttr> symbols;
  for (Type type : function.getArgumentTypes())
    for (sym::Expr extent : cast<graph::TensorType>(type).getShape())
      extent.collectSymbols(symbols);
  return llvm::map_to_vector(symbols, [](StringAttr symbol) { return symbol.str(); });
}

void GradientCheck::check(StringRef text, bool empty) {
  SCOPED_TRACE(text.str());
  auto module = parse(text);
  if (!module)
    return;
  SmallVector<std::string> symbols = getSymbols(module->lookupSymbol<func::FuncOp>("main"));
  std::vector<std::vector<int64_t>> draws = {{3, 5, 2, 7, 3}, {1, 1, 1, 1, 1}, {7, 2, 3, 5, 2}, {2, 1, 7, 1, 5}};
  // Two random draws, different for each text.
  for (Draw random(llvm::xxh3_64bits(text)); draws.size() < 6;) {
    std::vector<int64_t> &sizes = draws.emplace_back(5);
    for (int64_t &size : sizes)
      size = 1 + static_cast<int64_t>(random.next() * 9);
  }
  if (empty)
    draws.push_back({0, 3, 2, 3, 2});
  for (const std::vector<int64_t> &draw : draws) {
    Sizes sizes;
    for (auto [index, symbol] : llvm::enumerate(symbols))
      sizes[symbol] = draw[index % draw.size()];
    checkAt(text, sizes);
    if (symbols.empty() || HasFatalFailure())
      return;
  }
}

void GradientCheck::checkTwice(StringRef text) {
  SCOPED_TRACE(text.str());
  auto module = parse(text);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  makeLoss(function);
  ASSERT_TRUE(succeeded(addGradients(function)));
  Operation *end = function.getBody().front().getTerminator();
  GraphBuilder builder(function.getLoc(), end);
  Tensor total;
  for (Value gradient : end->getOperands().drop_front()) {
    Tensor squared = sum(square(Tensor(builder, gradient)));
    total = total ? total + squared : squared;
  }
  setResults(function, total.value());
  SmallVector<std::string> symbols = getSymbols(function);
  ASSERT_TRUE(succeeded(addGradients(function)));
  for (const std::vector<int64_t> &draw : {std::vector<int64_t>{3, 5, 2, 7}, {1, 1, 1, 1}}) {
    Sizes sizes;
    for (auto [index, symbol] : llvm::enumerate(symbols))
      sizes[symbol] = draw[index % draw.size()];
    compare(function, sizes);
  }
}

std::vector<std::vector<double>> GradientCheck::differentiateAt(StringRef text, ArrayRef<HostTensor> inputs) {
  auto module = parse(text);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  Operation *end = function.getBody().front().getTerminator();
  GraphBuilder builder(function.getLoc(), end);
  setResults(function, sum(Tensor(builder, end->getOperand(0))).value());
  if (failed(addGradients(function))) {
    ADD_FAILURE() << "no gradient: " << text.str();
    return {};
  }
  FailureOr<std::vector<HostTensor>> results = interpret(function, inputs, weights);
  std::vector<std::vector<double>> gradients;
  for (const HostTensor &gradient : ArrayRef(*results).drop_front())
    gradients.push_back(reals(gradient));
  return gradients;
}

std::vector<HostTensor> GradientCheck::runBuilt(ArrayRef<std::string> signature, Build build,
                                                ArrayRef<HostTensor> inputs) {
  std::string text = "(";
  for (auto [index, type] : llvm::enumerate(signature))
    text += (index ? ", %a" : "%a") + std::to_string(index) + ": !graph.tensor<" + type + ">";
  auto module = parse(text + ") { return }");
  auto function = module->lookupSymbol<func::FuncOp>("main");
  OpBuilder builder(function.getBody().front().getTerminator());
  setResults(function, build(builder, function.getArguments()));
  if (failed(verify(*module))) {
    ADD_FAILURE() << "does not verify";
    return {};
  }
  auto results = interpret(function, inputs, weights);
  if (succeeded(results))
    return *results;
  ADD_FAILURE() << "does not run";
  return {};
}

std::string GradientCheck::getRefusal(StringRef text) {
  auto module = parse(text);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  auto function = module->lookupSymbol<func::FuncOp>("main");
  makeLoss(function);
  EXPECT_TRUE(failed(addGradients(function)));
  return message;
}

} // namespace freestone::grad

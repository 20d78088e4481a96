#include "compiler/frontend/FrontendGraph.h"
#include "compiler/dialect/sym/Syntax.h"
#include "compiler/frontend/Operations.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace freestone::frontend {

mlir::Type elementTypeNamed(mlir::MLIRContext *context, StringRef name) {
  mlir::Builder builder(context);
  if (std::optional<mlir::Type> type = StringSwitch<std::optional<mlir::Type>>(name)
                                           .Case("f16", builder.getF16Type())
                                           .Case("bf16", builder.getBF16Type())
                                           .Case("f32", builder.getF32Type())
                                           .Case("f64", builder.getF64Type())
                                           .Default(std::nullopt))
    return *type;
  bool isUnsigned = name.consume_front("u");
  unsigned width = 0;
  if ((!isUnsigned && !name.consume_front("i")) || name.getAsInteger(10, width) ||
      !is_contained({1u, 8u, 16u, 32u, 64u}, width) || (isUnsigned && width == 1))
    return {};
  return isUnsigned ? builder.getIntegerType(width, false) : builder.getIntegerType(width);
}

FrontendGraph::FrontendGraph(mlir::MLIRContext *context) {
  model.module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context), "graph");
  model.weights = std::make_unique<WeightStore>();
  mlir::OpBuilder ir(model.module->getBodyRegion());
  auto main = mlir::func::FuncOp::create(ir, ir.getUnknownLoc(), "main", ir.getFunctionType({}, {}));
  main.addEntryBlock();
  builder = std::make_unique<importer::ModelBuilder>(main, *model.weights);
  builder->setInsertionPointToEnd(&main.getBody().front());
}

bool FrontendGraph::isRefused() {
  std::optional<Refusal> refusal = builder->takeRefusal();
  if (refusal)
    reason = refusal->reason;
  return refusal.has_value();
}

FrontendGraph::Result FrontendGraph::keep(Tensor tensor) {
  if (isRefused() || !tensor)
    return std::nullopt;
  tensors.push_back(tensor);
  return tensors.size() - 1;
}

std::optional<Expr> FrontendGraph::parse(StringRef size) {
  std::string error;
  FailureOr<Expr> expr = sym::parseExpr(builder->getContext(), size, &error);
  if (failed(expr)) {
    refuse("the size '" + size + "' can't be read: " + error);
    return std::nullopt;
  }
  return builder->current(*expr);
}

void FrontendGraph::declareSymbol(StringRef name, sym::Interval range) {
  if (!builder->sizeFacts().restrict(name, range))
    ranges[name] = range;
}

sym::Interval FrontendGraph::declaredRange(StringRef symbol) const {
  auto declared = ranges.find(symbol);
  return declared == ranges.end() ? sym::Interval::size() : declared->second;
}

FrontendGraph::Result FrontendGraph::addPort(StringRef name, bool isState, StringRef type, ArrayRef<Expr> dims) {
  mlir::Type elementType = elementTypeNamed(builder->getContext(), type);
  if (!elementType) {
    refuse("'" + name + "' has elements of type " + type + ", which are not supported");
    return std::nullopt;
  }
  Tensor tensor = builder->fromValue(builder->function().getBody().front().addArgument(
      graph::TensorType::get(dims, elementType), mlir::NameLoc::get(builder->getStringAttr(name))));
  arguments.push_back({name.str(), isState, tensor});
  return keep(tensor);
}

FrontendGraph::Result FrontendGraph::addInput(StringRef name, StringRef type, ArrayRef<StringRef> shape,
                                              StringRef symbol) {
  Shape dims;
  for (StringRef size : shape) {
    std::optional<Expr> extent = parse(size);
    if (!extent)
      return std::nullopt;
    if (auto multiple = extent->asMultiple())
      builder->sizeFacts().symbol(multiple->first, SymbolOrigin::Dimension, declaredRange(multiple->first));
    dims.push_back(*extent);
  }
  Result number = addPort(name, /*isState=*/false, type, dims);
  if (number && !symbol.empty()) {
    Tensor tensor = tensors[*number];
    if (!tensor.isInteger() || !tensor.elementCount().isConstant(1)) {
      refuse("the input '" + name + "' is no single integer, which could be the size '" + symbol + "'");
      return std::nullopt;
    }
    Expr size = builder->sizeFacts().element(symbol, arguments.size() - 1, 0, declaredRange(symbol));
    tensor.impl()->content = Content{size};
  }
  return number;
}

FrontendGraph::Result FrontendGraph::addState(StringRef name, StringRef type, ArrayRef<int64_t> dims) {
  return addPort(name, /*isState=*/true, type, builder->sizes(dims));
}

bool FrontendGraph::updateState(StringRef name, size_t tensor) {
  auto state = find_if(arguments, [&](const Port &port) { return port.isState && port.name == name; });
  if (state == arguments.end())
    return refuse("there is no state '" + name + "'");
  if (has(tensor) && tensors[tensor].type() != state->tensor.type())
    return refuse("the state '" + name + "' has another type and shape than its new value");
  return addResult(name, /*isState=*/true, tensor);
}

FrontendGraph::Result FrontendGraph::addWeight(StringRef name, StringRef type, ArrayRef<int64_t> dims) {
  mlir::Type elementType = elementTypeNamed(builder->getContext(), type);
  if (!elementType) {
    refuse("'" + name + "' has elements of type " + type + ", which are not supported");
    return std::nullopt;
  }
  auto tensor = graph::TensorType::getStatic(dims, elementType);
  auto location = mlir::NameLoc::get(builder->getStringAttr(name));
  mlir::OpBuilder &ir = *builder;
  return keep(builder->fromValue(graph::WeightOp::create(ir, location, tensor, name, /*live=*/true)));
}

FrontendGraph::Result FrontendGraph::addConstant(StringRef type, ArrayRef<int64_t> dims, ArrayRef<char> bytes) {
  importer::TensorData data;
  data.type = elementTypeNamed(builder->getContext(), type);
  data.count = 1;
  for (int64_t dim : dims)
    data.count *= dim;
  if (!data.type || importer::countBytes(data.type, data.count) != static_cast<int64_t>(bytes.size())) {
    refuse("a constant has " + Twine(bytes.size()) + " bytes, which do not fit " + Twine(data.count) +
           " elements of type " + type);
    return std::nullopt;
  }
  data.dims.assign(dims.begin(), dims.end());
  data.bytes = bytes;
  return keep(builder->fromData(data));
}

std::vector<size_t> FrontendGraph::apply(StringRef name, ArrayRef<int64_t> operands, StringRef attributes,
                                         StringRef node) {
  SmallVector<Tensor> given;
  for (int64_t operand : operands) {
    if (!has(operand)) {
      refuse("the operation '" + name + "' has an operand that does not exist");
      return {};
    }
    given.push_back(tensors[operand]);
  }
  Expected<json::Value> parsed = json::parse(attributes.empty() ? "{}" : attributes);
  if (!parsed || !parsed->getAsObject()) {
    if (!parsed)
      consumeError(parsed.takeError());
    refuse("the attributes of '" + name + "' are no JSON object");
    return {};
  }
  builder->setLoc(mlir::NameLoc::get(builder->getStringAttr(node.empty() ? name : node)));
  Call call(*builder, name, given, *parsed->getAsObject());
  SmallVector<Tensor> results = build(call);
  if (isRefused() || results.empty() || !areBuilt(results)) {
    if (reason.empty())
      refuse("the operation '" + name + "' was not built");
    return {};
  }
  std::vector<size_t> numbers;
  for (Tensor result : results) {
    tensors.push_back(result);
    numbers.push_back(tensors.size() - 1);
  }
  return numbers;
}

bool FrontendGraph::addResult(StringRef name, bool isState, size_t tensor) {
  if (!has(tensor))
    return refuse("the value of '" + name + "' does not exist");
  results.push_back({name.str(), isState, tensors[tensor]});
  return true;
}

bool FrontendGraph::addOutput(StringRef name, size_t tensor) { return addResult(name, /*isState=*/false, tensor); }

json::Value FrontendGraph::describe(size_t number) const {
  Tensor tensor = tensors[number];
  json::Array shape;
  for (Expr extent : tensor.shape())
    if (std::optional<int64_t> size = extent.asConstant())
      shape.push_back(*size);
    else
      shape.push_back(extent.str());
  return json::Array{typeName(tensor.elementType()), std::move(shape)};
}

mlir::FailureOr<ImportedModel> FrontendGraph::finish(std::string &complaint) {
  mlir::func::FuncOp main = builder->function();
  SmallVector<mlir::Value> values;
  for (const Port &result : results)
    values.push_back(result.tensor.value());
  if (isRefused()) {
    complaint = takeReason();
    return mlir::failure();
  }
  // Verified as a whole below, when the function has its type.
  mlir::func::ReturnOp::create(*builder, values);
  main.setType(
      builder->getFunctionType(main.getBody().front().getArgumentTypes(), mlir::ValueRange(values).getTypes()));
  builder->recordSizes();
  for (auto [index, port] : enumerate(arguments))
    main.setArgAttr(index, port.attribute(), builder->getStringAttr(port.name));
  for (auto [index, port] : enumerate(results))
    main.setResultAttr(index, port.attribute(), builder->getStringAttr(port.name));
  mlir::ScopedDiagnosticHandler handler(builder->getContext(), [&](mlir::Diagnostic &diagnostic) {
    complaint += (complaint.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  if (failed(mlir::verify(*model.module)))
    return mlir::failure();
  return std::move(model);
}

} // namespace freestone::frontend

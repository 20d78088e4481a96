#include "test/interpreter/RunText.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace freestone::interpreter {

RunText::RunText() {
  DialectRegistry registry;
  graph::registerGraphDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

std::vector<HostTensor> RunText::run(StringRef text, ArrayRef<HostTensor> inputs, bool wide) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto function = module ? module->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
  if (!function) {
    ADD_FAILURE() << "does not parse or verify, or has no @main: " << text.str();
    return {};
  }
  FailureOr<std::vector<HostTensor>> results = interpret(function, inputs, weights, wide);
  if (succeeded(results))
    return *results;
  ADD_FAILURE() << "does not run: " << text.str();
  return {};
}

std::vector<HostTensor> RunText::runMain(const Twine &text, ArrayRef<HostTensor> inputs) {
  return run(("func.func @main" + text).str(), inputs);
}

std::string RunText::getError(StringRef text, ArrayRef<HostTensor> inputs) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto function = module ? module->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
  if (function)
    (void)interpret(function, inputs, weights);
  return message;
}

std::string RunText::print(StringRef text) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  if (module)
    module->print(stream);
  return printed;
}

HostTensor RunText::f32(ArrayRef<int64_t> dims, ArrayRef<float> elements) {
  return HostTensor::copy(Float32Type::get(&context), dims, elements);
}

HostTensor RunText::f64(ArrayRef<int64_t> dims, ArrayRef<double> elements) {
  return HostTensor::copy(Float64Type::get(&context), dims, elements);
}

HostTensor RunText::i64(ArrayRef<int64_t> dims, ArrayRef<int64_t> elements) {
  return HostTensor::copy(IntegerType::get(&context, 64), dims, elements);
}

HostTensor RunText::i1(ArrayRef<int64_t> dims, ArrayRef<uint8_t> elements) {
  return HostTensor::copy(IntegerType::get(&context, 1), dims, elements);
}

HostTensor RunText::random(ArrayRef<int64_t> dims, uint64_t seed) {
  std::vector<float> elements(getNumElements(dims));
  uint64_t state = seed * 2654435761u + 1;
  for (float &element : elements) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    element = static_cast<float>(static_cast<int32_t>(state >> 32)) / 2147483648.0f;
  }
  return f32(dims, elements);
}

std::vector<double> reals(const HostTensor &tensor) {
  Tensor wide = Tensor::fromHost(tensor);
  return {wide.data<double>(), wide.data<double>() + wide.size()};
}

std::vector<int64_t> integers(const HostTensor &tensor) {
  Tensor wide = Tensor::fromHost(tensor);
  return {wide.data<int64_t>(), wide.data<int64_t>() + wide.size()};
}

void expectNear(const HostTensor &tensor, ArrayRef<double> expected, double tolerance) {
  std::vector<double> actual = reals(tensor);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

} // namespace freestone::interpreter

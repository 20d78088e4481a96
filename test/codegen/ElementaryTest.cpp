// Accuracy of the elementary functions: every function, f32 and f64, against a wider libm, in units in the last place.
#include "compiler/codegen/cpu/math/ExpandMath.h"

#include "compiler/codegen/cpu/TargetMachine.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "test/codegen/LoadedObjects.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace mlir;
using namespace freestone;

namespace {

/// Of all vectors but those that fill a register of the machine.
constexpr int64_t lanes = 8;
constexpr int64_t mostLanes = 16;

template <typename T> struct Wider;
template <> struct Wider<float> {
  using Type = double;
};
template <> struct Wider<double> {
  using Type = long double;
};

/// One compiled function over arrays.
template <typename T> class Compiled {
public:
  explicit Compiled(const std::string &operation, bool binary, int64_t lanes = ::lanes, std::string flags = "")
      : binary(binary), lanes(lanes), flags(std::move(flags)) {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source(operation), &context);
    RewritePatternSet patterns(&context);
    DeviceDescription device = llvm::cantFail(DeviceDescription::get("host"));
    codegen::populateExpandMathPatterns(patterns, device.vectorBytes);
    if (failed(applyPatternsGreedily(*module, std::move(patterns))))
      return;
    PassManager passes(&context);
    passes.addPass(createSCFToControlFlowPass());
    passes.addPass(createConvertVectorToLLVMPass());
    passes.addPass(createConvertMathToLLVMPass());
    passes.addPass(createFinalizeMemRefToLLVMConversionPass());
    passes.addPass(createArithToLLVMConversionPass());
    passes.addPass(createConvertFuncToLLVMPass());
    passes.addPass(createConvertControlFlowToLLVMPass());
    passes.addPass(createReconcileUnrealizedCastsPass());
    if (failed(passes.run(*module)))
      return;
    std::unique_ptr<llvm::TargetMachine> machine = codegen::createTargetMachine(device);
    llvm::LLVMContext llvmContext;
    codegen::CodeCounts counts;
    std::unique_ptr<llvm::Module> translated =
        codegen::translateToLLVM(*module, device, *machine, llvmContext, counts);
    FailureOr<codegen::Object> object = failure();
    if (translated)
      object = codegen::emitObject(*translated, *machine);
    if (failed(object))
      return;
    objects = llvm::cantFail(test::LoadedObjects::load(*object, device));
    function = reinterpret_cast<Function>(llvm::cantFail(objects->find("_mlir_ciface_f")));
  }

  std::vector<T> operator()(std::vector<T> &a, std::vector<T> &b) {
    std::vector<T> result(a.size());
    StridedMemRefType<T, 1> x = view(a), y = view(b), r = view(result);
    function(&x, &y, &r);
    return result;
  }
  bool ok() const { return function != nullptr; }

private:
  using Function = void (*)(void *, void *, void *);

  static StridedMemRefType<T, 1> view(std::vector<T> &values) {
    return {values.data(), values.data(), 0, {static_cast<int64_t>(values.size())}, {1}};
  }

  std::string source(const std::string &operation) const {
    std::string type = sizeof(T) == 4 ? "f32" : "f64", array = "memref<?x" + type + ">";
    std::string vector = "vector<" + std::to_string(lanes) + "x" + type + ">";
    return "func.func @f(%a: " + array + ", %b: " + array + ", %r: " + array +
           ") attributes {llvm.emit_c_interface} {\n"
           "  %zero = arith.constant 0 : index\n  %step = arith.constant " +
           std::to_string(lanes) +
           " : index\n"
           "  %end = memref.dim %a, %zero : " +
           array +
           "\n"
           "  scf.for %i = %zero to %end step %step {\n"
           "    %x = vector.load %a[%i] : " +
           array + ", " + vector +
           "\n"
           "    %y = vector.load %b[%i] : " +
           array + ", " + vector +
           "\n"
           "    %z = math." +
           operation + (binary ? " %x, %y" : " %x") + flags + " : " + vector +
           "\n"
           "    vector.store %z, %r[%i] : " +
           array + ", " + vector + "\n  }\n  return\n}\n";
  }

  bool binary;
  int64_t lanes;
  std::string flags;
  MLIRContext context;
  std::optional<test::LoadedObjects> objects;
  Function function = nullptr;
};

/// Distance of `actual` from the exact `expected`, in units in the last place of T at `expected`.
template <typename T> double ulps(T actual, typename Wider<T>::Type expected) {
  T rounded = static_cast<T>(expected);
  if (std::isnan(rounded) || std::isnan(actual))
    return std::isnan(rounded) == std::isnan(actual) ? 0 : std::numeric_limits<double>::infinity();
  if (rounded == actual)
    return 0;
  if (std::isinf(rounded) || std::isinf(actual)) {
    // The last finite number and infinity are neighbours.
    T largest = std::numeric_limits<T>::max();
    return std::abs(rounded) >= largest && std::abs(actual) >= largest && std::signbit(rounded) == std::signbit(actual)
               ? 1
               : std::numeric_limits<double>::infinity();
  }
  T magnitude = std::max(std::abs(rounded), std::numeric_limits<T>::min());
  T unit = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(std::abs((static_cast<typename Wider<T>::Type>(actual) - expected) / unit));
}

struct Range {
  double low, high;
  bool logarithmic; // magnitudes spread over their exponents
};

template <typename T> std::vector<T> sample(Range range, unsigned count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<T> values;
  for (double special : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0})
    if (special >= range.low && special <= range.high)
      values.push_back(static_cast<T>(special));
  if (range.low == -HUGE_VAL)
    values.insert(values.end(), {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()});
  if (range.high == HUGE_VAL)
    values.push_back(std::numeric_limits<T>::infinity());
  double limit = sizeof(T) == 4 ? 127 : 1000; // exponents
  while (values.size() < count) {
    double value;
    if (range.logarithmic) {
      value = std::exp2((uniform(random) * 2 - 1) * limit);
      if (range.low < 0 && uniform(random) < 0.5)
        value = -value;
    } else {
      value = range.low + (range.high - range.low) * uniform(random);
    }
    if (value >= range.low && value <= range.high)
      values.push_back(static_cast<T>(value));
  }
  values.resize((values.size() + mostLanes - 1) / mostLanes * mostLanes, T(1));
  return values;
}

template <typename T>
double worst(const std::string &operation, typename Wider<T>::Type (*reference)(typename Wider<T>::Type), Range range,
             int64_t lanes = ::lanes) {
  static_assert(sizeof(typename Wider<T>::Type) > sizeof(T));
  Compiled<T> compiled(operation, false, lanes);
  EXPECT_TRUE(compiled.ok());
  std::vector<T> inputs = sample<T>(range, 200000, 1), results = compiled(inputs, inputs);
  double worst = 0;
  T where = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double error = ulps<T>(results[i], reference(inputs[i]));
    if (error > worst)
      worst = error, where = inputs[i];
    if (inputs[i] == 0 && reference(inputs[i]) == 0)
      EXPECT_EQ(std::signbit(results[i]), std::signbit(reference(inputs[i]))) << operation << " of zero";
  }
  llvm::outs() << operation << (sizeof(T) == 4 ? " f32 " : " f64 ")
               << llvm::format("%.2f ULP at %.9g\n", worst, double(where));
  return worst;
}

constexpr double everything = HUGE_VAL;

struct Function {
  const char *operation;
  double (*narrow)(double);
  long double (*wide)(long double);
  Range range;
};

const Function functions[] = {
    {"exp", std::exp, std::exp, {-110, 90, false}},
    {"exp", std::exp, std::exp, {-everything, everything, true}},
    {"exp", std::exp, std::exp, {-200, -80, false}},
    {"exp2", std::exp2, std::exp2, {-160, 130, false}},
    {"expm1", std::expm1, std::expm1, {-everything, everything, true}},
    {"log", std::log, std::log, {-everything, everything, true}},
    {"log", std::log, std::log, {0.5, 2, false}},
    {"log2", std::log2, std::log2, {0, everything, true}},
    {"log1p", std::log1p, std::log1p, {-everything, everything, true}},
    {"sin", std::sin, std::sin, {-1000, 1000, false}},
    {"cos", std::cos, std::cos, {-1000, 1000, false}},
    {"tan", std::tan, std::tan, {-100, 100, false}},
    {"asin", std::asin, std::asin, {-1.1, 1.1, false}},
    {"acos", std::acos, std::acos, {-1.1, 1.1, false}},
    {"atan", std::atan, std::atan, {-everything, everything, true}},
    {"sinh", std::sinh, std::sinh, {-everything, everything, true}},
    {"cosh", std::cosh, std::cosh, {-everything, everything, true}},
    {"tanh", std::tanh, std::tanh, {-everything, everything, true}},
    {"tanh", std::tanh, std::tanh, {-3, 3, false}},
    {"asinh", std::asinh, std::asinh, {-everything, everything, true}},
    {"acosh", std::acosh, std::acosh, {-everything, everything, true}},
    {"atanh", std::atanh, std::atanh, {-1.1, 1.1, false}},
    {"erf", std::erf, std::erf, {-everything, everything, true}},
    {"erf", std::erf, std::erf, {-4, 4, false}},
};

class Elementary : public testing::TestWithParam<Function> {};

TEST_P(Elementary, SinglePrecisionIsWithinTwoUlp) {
  const Function &function = GetParam();
  EXPECT_LE(worst<float>(function.operation, function.narrow, function.range), 2);
}

TEST_P(Elementary, SinglePrecisionInWholeRegistersIsWithinTwoUlp) {
  const Function &function = GetParam();
  EXPECT_LE(worst<float>(function.operation, function.narrow, function.range, mostLanes), 2);
}

TEST_P(Elementary, DoublePrecisionIsWithinFourUlp) {
  const Function &function = GetParam();
  EXPECT_LE(worst<double>(function.operation, function.wide, function.range), 4);
}

INSTANTIATE_TEST_SUITE_P(Functions, Elementary, testing::ValuesIn(functions));

/// Also next to multiples of π/2, and where a result that is nearly 0 has the full accuracy.
TEST_F(Elementary, SinesOfLargeAnglesAreWithinTwoUlp) {
  for (const auto &[operation, reference] :
       {std::pair<const char *, double (*)(double)>{"sin", std::sin}, {"cos", std::cos}})
    for (double limit : {2.0, 0x1p20, 0x1p50})
      for (int64_t lanes : {::lanes, mostLanes})
        EXPECT_LE(worst<float>(operation, reference, {-limit, limit, false}, lanes), 2) << limit;
}

TEST_F(Elementary, ExponentialsOfSharesAreNormalNumbersOrZero) {
  for (int64_t lanes : {::lanes, mostLanes}) {
    Compiled<float> compiled("exp", false, lanes, " fastmath<afn>");
    ASSERT_TRUE(compiled.ok());
    std::vector<float> inputs = sample<float>({-everything, -1e-30, true}, 100000, 1);
    for (Range range : {Range{-90, 1, false}, Range{-88, -86, false}, Range{-110, -80, false}})
      llvm::append_range(inputs, sample<float>(range, 100000, 2));
    std::vector<float> results = compiled(inputs, inputs);
    for (auto [x, result] : llvm::zip_equal(inputs, results)) {
      double expected = std::exp(static_cast<double>(x));
      ASSERT_TRUE(std::fpclassify(result) != FP_SUBNORMAL) << "exp(" << x << ") = " << result;
      if (result == 0)
        ASSERT_LT(expected, 0x1p-125) << "exp(" << x << ")";
      else
        ASSERT_LE(ulps<float>(result, expected), 2) << "exp(" << x << ") = " << result;
    }
  }
}

template <typename T>
double worstPower(typename Wider<T>::Type (*reference)(typename Wider<T>::Type, typename Wider<T>::Type)) {
  Compiled<T> compiled("powf", true);
  EXPECT_TRUE(compiled.ok());
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> bases, exponents;
  for (T x : {T(0), T(-0.0), T(1), T(-1), T(2), T(-2), T(0.5), T(-0.5), infinity, -infinity, nan})
    for (T y : {T(0), T(-0.0), T(1), T(-1), T(2), T(-2), T(3), T(-3), T(0.5), T(-0.5), infinity, -infinity, nan})
      bases.push_back(x), exponents.push_back(y);
  std::vector<T> xs = sample<T>({1e-4, 1e4, false}, 100000, 2), ys = sample<T>({-9, 9, false}, 100000, 3);
  bases.insert(bases.end(), xs.begin(), xs.end());
  exponents.insert(exponents.end(), ys.begin(), ys.end());
  bases.resize(bases.size() / lanes * lanes);
  exponents.resize(bases.size());
  std::vector<T> results = compiled(bases, exponents);
  double worst = 0;
  for (size_t i = 0; i < bases.size(); ++i) {
    double error = ulps<T>(results[i], reference(bases[i], exponents[i]));
    EXPECT_LE(error, 4) << "pow(" << bases[i] << ", " << exponents[i] << ") = " << results[i];
    worst = std::max(worst, error);
  }
  return worst;
}

TEST_F(Elementary, Power) {
  EXPECT_LE(worstPower<float>(std::pow), 2);
  EXPECT_LE(worstPower<double>(std::pow), 4);
}

} // namespace

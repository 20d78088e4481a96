// Operators that the conformance cases do not reach: definitions by functions of the model, and what is folded.
#include "test/import/TextModel.h"

#include "compiler/interpreter/Interpreter.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace freestone;
using namespace freestone::test;
using interpreter::HostTensor;

namespace {

std::vector<float> run(Imported &model, const std::vector<float> &x, std::vector<int64_t> dims) {
  mlir::Type type = mlir::Float32Type::get(model.context.get());
  auto outputs = interpreter::interpret(model.main(), {HostTensor::copy<float>(type, dims, x)}, *model.model.weights);
  EXPECT_TRUE(mlir::succeeded(outputs));
  return mlir::succeeded(outputs) ? outputs->front().elements<float>().vec() : std::vector<float>();
}

TEST(Operator, FunctionsOfTheModelAreInlined) {
  Imported model = importBytes(serialize(R"(
    agraph (float[n] x) => (float[n] y) { y = local.affine<scale = 3.0>(x) }
    <domain: "local", opset_import: ["" : 20]>
    affine <scale> (v) => (w) { factor = Constant<value_float: float = @scale>() w = Mul(v, factor) }
  )", "<ir_version: 10, opset_import: [\"\" : 20, \"local\" : 1]>"));
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(run(model, {1, 2, -1}, {3}), (std::vector<float>{3, 6, -3}));
}

TEST(Operator, AFunctionThatCallsItselfIsRefused) {
  Imported model = importBytes(serialize(R"(
    agraph (float[n] x) => (float[n] y) { y = local.loop(x) }
    <domain: "local", opset_import: ["" : 20, "local" : 1]>
    loop (v) => (w) { w = local.loop(v) }
  )", "<ir_version: 10, opset_import: [\"\" : 20, \"local\" : 1]>"));
  EXPECT_FALSE(model.model.module);
  EXPECT_NE(model.reason().find("nested too deeply"), std::string::npos) << model.reason();
}

TEST(Operator, NumbersTakeTheTypeBesideThem) {
  Imported model = importText("agraph (float[n] x) => (float[n] y) { y = HardSwish(x) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(run(model, {-4, 0, 3, 6}, {4}), (std::vector<float>{0, 0, 3, 6}));
}

TEST(Operator, AxesOfAReductionMayBeAnInput) {
  Imported model = importText("agraph (float[a, b, c] x, int64[2] axes) => (float[p] y) { y = ReduceSum<keepdims = 0>(x, axes) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get()), i64 = mlir::IntegerType::get(model.context.get(), 64);
  auto x = HostTensor::copy<float>(f32, {2, 3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  auto over = [&](std::vector<int64_t> axes) {
    auto outputs = interpreter::interpret(model.main(), {x, HostTensor::copy<int64_t>(i64, {2}, axes)}, *model.model.weights);
    return mlir::succeeded(outputs) ? outputs->front().elements<float>().vec() : std::vector<float>();
  };
  EXPECT_EQ(over({0, 1}), (std::vector<float>{36, 42}));
  EXPECT_EQ(over({2, 1}), (std::vector<float>{21, 57}));
  EXPECT_EQ(over({-1, 0}), (std::vector<float>{18, 26, 34}));
}

TEST(Operator, AReshapeByAnInputResolvesEachSize) {
  Imported model = importText("agraph (float[a, b, c] x, int64[3] shape) => (float[p, q, r] y) { y = Reshape(x, shape) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get()), i64 = mlir::IntegerType::get(model.context.get(), 64);
  auto x = HostTensor::copy<float>(f32, {2, 3, 2}, std::vector<float>(12, 1));
  auto dims = [&](std::vector<int64_t> shape) {
    auto outputs = interpreter::interpret(model.main(), {x, HostTensor::copy<int64_t>(i64, {3}, shape)}, *model.model.weights);
    return mlir::succeeded(outputs) ? std::vector<int64_t>(outputs->front().dims) : std::vector<int64_t>();
  };
  EXPECT_EQ(dims({4, 3, 1}), (std::vector<int64_t>{4, 3, 1}));
  EXPECT_EQ(dims({0, -1, 1}), (std::vector<int64_t>{2, 6, 1}));
  EXPECT_EQ(dims({-1, 0, 0}), (std::vector<int64_t>{2, 3, 2}));
}

TEST(Operator, SequencesExistOnlyWhileImporting) {
  Imported model = importText(R"(agraph (float[4, n] x) => (float[p, q] y) {
    two = Constant<value_int = 2>() parts = SplitToSequence<axis = 0>(x, two) one = Constant<value_int = 1>()
    y = SequenceAt(parts, one)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "2, n");
  EXPECT_EQ(model.count<graph::SliceOp>(), 2);
}

TEST(Operator, TheTableNamesEveryEntry) {
  std::string table;
  llvm::raw_string_ostream os(table);
  printOperatorTable(os);
  EXPECT_NE(table.find("| Softmax | 1 to newest |"), std::string::npos);
  auto written = llvm::MemoryBuffer::getFile(DOCS "/operators.md");
  ASSERT_TRUE(bool(written));
  EXPECT_EQ((*written)->getBuffer().str(), table) << "print it again: import_report --operators > docs/operators.md";
}

} // namespace

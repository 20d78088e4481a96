// Shape programs fold into size expressions: which operations remain, and what the sizes are.
#include "test/import/TextModel.h"

using namespace freestone;
using namespace freestone::test;

namespace {

Imported importFile(const std::string &name) {
  Imported imported;
  auto model = importOnnx(imported.context.get(), std::string(MODELS) + "/" + name, {}, imported.error);
  if ((imported.succeeded = mlir::succeeded(model)))
    imported.model = std::move(*model);
  EXPECT_TRUE(imported.succeeded && imported.model.module) << imported.reason();
  return imported;
}

TEST(ShapeProgram, NothingIsLeftOfItInExportedModels) {
  for (const char *name : {"gpt.onnx", "gpt_unoptimized.onnx"}) {
    Imported gpt = importFile(name);
    EXPECT_EQ(gpt.outputShape(), "batch, sequence, 128");
    EXPECT_EQ(gpt.count<graph::SizesOp>(), 0);
    EXPECT_EQ(gpt.count<graph::ConcatOp>(), 0);
    EXPECT_EQ(gpt.count<graph::SoftmaxOp>(), 6);
    // The only integers are the positions, and the comparison of rows and columns in each mask.
    gpt.main().walk(
        [](graph::BinaryOp op) { EXPECT_FALSE(graph::getElementType(op).isInteger(64)) << "integers are added"; });
  }
  Imported cnn = importFile("cnn.onnx");
  EXPECT_EQ(cnn.outputShape(), "batch, 10");
  EXPECT_EQ(cnn.count<graph::ReshapeOp>(), 7); // six vectors over channels, and the flattening
  EXPECT_EQ(importFile("mlp.onnx").outputShape(), "batch, 10");
}

TEST(ShapeProgram, ShapeGatherConcatReshape) {
  Imported model = importText(R"(agraph (float[b, s, 12] x) => (float[p, q, r] y) {
    shape = Shape(x) zero = Constant<value_ints = [0]>() batch = Gather(shape, zero)
    four = Constant<value_ints = [4]>() rest = Constant<value_ints = [-1]>()
    target = Concat<axis = 0>(batch, rest, four) y = Reshape(x, target)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "b, 3*s, 4");
  EXPECT_EQ(model.countAll(), 1);
}

TEST(ShapeProgram, RangeExpandConstantOfShape) {
  Imported model = importText(R"(agraph (float[b, s] x) => (int64[p, q] y) {
    shape = Shape(x) one = Constant<value_int = 1>() zero = Constant<value_int = 0>() length = Gather(shape, one)
    positions = Range(zero, length, one) y = Expand(positions, shape)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "b, s");
  EXPECT_EQ(model.countAll(), 2); // iota, broadcast
}

TEST(ShapeProgram, ElementsThatDataDecideAreSymbols) {
  // The known elements of the shape stay known, and what only moves the others does not name them anew.
  Imported model = importText(R"(agraph (float[3, s] x, float[2] scales) => (float[p, q, r] y, float[t] z) {
    shape = Shape(x) reals = Cast<to = 1>(shape) scaled = Mul(reals, scales) whole = Cast<to = 7>(scaled)
    three = Constant<value_ints = [3]>() target = Concat<axis = 0>(three, whole) y = ConstantOfShape(target)
    one = Constant<value_ints = [1]>() two = Constant<value_ints = [2]>() zero = Constant<value_ints = [0]>()
    last = Slice(whole, one, two) column = Unsqueeze(last, one) flat = Squeeze(column, one) z = ConstantOfShape(flat)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(0), "3, size, size_1");
  EXPECT_EQ(model.outputShape(1), "size_1");
  EXPECT_EQ(model.count<graph::CountToOp>(), 2);
}

TEST(ShapeProgram, ReductionsOfKnownFloatsAreKnown) {
  // As detection networks take the largest of the sizes of one picture.
  Imported model = importText(R"(agraph (float[s] x) => (float[p] y) {
    shape = Shape(x) reals = Cast<to = 1>(shape) largest = ReduceMax<keepdims = 1>(reals) eight = Constant<value_float = 8.0>()
    parts = Div(largest, eight) whole = Ceil(parts) size = Cast<to = 7>(whole) y = ConstantOfShape(size)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "s ceildiv 8");
}

TEST(ShapeProgram, WhereEqualDecides) {
  Imported model = importText(R"(agraph (float[n, 1] x) => (float[p, q] y) {
    shape = Shape(x) minus = Constant<value_ints = [-1, -1]>() target = Constant<value_ints = [-1, 7]>()
    keep = Equal(target, minus) sizes = Where(keep, shape, target) y = Expand(x, sizes)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "n, 7");
  EXPECT_EQ(model.countAll(), 1);
}

TEST(ShapeProgram, LearningEqualityReplacesTheSymbolEverywhere) {
  Imported model = importText(R"(agraph (float[n, 8] x, float[m, 8] y) => (float[p, q] z, float[r, s] w) {
    w = Relu(y) z = Add(x, y)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(0), "n, 8");
  EXPECT_EQ(model.outputShape(1), "n, 8");
  EXPECT_EQ(model.main().getArgument(1).getType(), model.main().getArgument(0).getType());
}

TEST(ShapeProgram, EqualityOfExpressionsIsAssertedAtEntry) {
  Imported model = importText(R"(agraph (float[n, 2] x, float[m, 3] y) => (float[p] z) {
    flat = Constant<value_ints = [-1]>() a = Reshape(x, flat) b = Reshape(y, flat) z = Add(a, b)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_TRUE(model.main()->hasAttr("graph.assertions"));
}

TEST(ShapeProgram, ElementsOfAnInputBecomeSymbols) {
  Imported model = importText("agraph (float[n] x, int64[2] shape) => (float[p, q] y) { y = Expand(x, shape) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  auto bound = model.main()->getAttrOfType<mlir::DictionaryAttr>("graph.value_symbols");
  ASSERT_TRUE(bound && bound.contains("shape_0"));
  EXPECT_EQ(llvm::cast<mlir::DenseI64ArrayAttr>(bound.get("shape_0")).asArrayRef(), llvm::ArrayRef<int64_t>({1, 0}));
}

/// The longest definition of a size in a model.
size_t longestDefinition(Imported &model) {
  size_t longest = 0;
  if (auto definitions = model.main()->getAttrOfType<mlir::ArrayAttr>("graph.definitions"))
    for (auto definition : definitions.getAsRange<mlir::ArrayAttr>())
      longest = std::max(longest, llvm::cast<sym::ExprAttr>(definition[1]).getExpr().str().size());
  return longest;
}

TEST(ShapeProgram, SizesThatManyElementsDecideStaySmall) {
  for (const char *body :
       {"agraph (float[a, b, c, d, e] x, int64[6] shape) => (float[p, q, r, s, t, u] y) { y = Reshape(x, shape) }",
        "agraph (float[a, b, c, d, e] x, int64[3] axes) => (float[p, q] y) { y = ReduceSum<keepdims = 0>(x, axes) }",
        "agraph (float[a, b, c, d, e] x, int64[3] axes) => (float[p, q] y) { y = Squeeze(x, axes) }",
        "agraph (float[a, b] x, int64[4] axes) => (float[p, q, r, s, t, u] y) { y = Unsqueeze(x, axes) }"}) {
    Imported model = importText(body);
    ASSERT_TRUE(model.model.module) << model.reason();
    EXPECT_LT(longestDefinition(model), 1000u) << body;
  }
}

TEST(ShapeProgram, SizesThatDependOnDataAreFreshSymbols) {
  Imported model = importText("agraph (float[n, 4] x) => (int64[p, q] y) { y = NonZero(x) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "2, nonzero");
}

TEST(ShapeProgram, NoSizeHasANameOfAPass) {
  onnx::ModelProto proto;
  proto.ParseFromString(serialize("agraph (float[n, 3] x) => (float[p, q] y) { y = Relu(x) }"));
  for (const char *name : {"#1", "%1"}) {
    auto *type = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    type->mutable_shape()->mutable_dim(0)->set_dim_param(name);
    Imported model = importBytes(proto.SerializeAsString());
    ASSERT_TRUE(model.model.module) << model.reason();
    EXPECT_EQ(model.outputShape(), "\"_" + std::string(name) + "\", 3");
  }
}

TEST(ShapeProgram, DimensionsNamedAsMultiplesShareTheirSymbol) {
  onnx::ModelProto proto;
  proto.ParseFromString(serialize("agraph (float[n, m] x) => (float[p, q] y) { y = Relu(x) }"));
  auto *shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("32*units");
  shape->mutable_dim(1)->set_dim_param("units");
  Imported model = importBytes(proto.SerializeAsString());
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "32*units, units");
  // Sums are labels: exporters write them where the data do not keep them.
  shape->mutable_dim(0)->set_dim_param("units + 1");
  Imported sum = importBytes(proto.SerializeAsString());
  ASSERT_TRUE(sum.model.module) << sum.reason();
  EXPECT_EQ(sum.outputShape(), "\"units + 1\", units");
}

TEST(ShapeProgram, BoundsOfAMultipleAreThoseOfItsSymbol) {
  onnx::ModelProto proto;
  proto.ParseFromString(serialize("agraph (float[n, 4] x) => (float[p, q] y) { y = Relu(x) }"));
  auto *shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("32*units");
  Imported bound = importBytes(proto.SerializeAsString(), {{{"32*units", 96, 96}}});
  ASSERT_TRUE(bound.model.module) << bound.reason();
  EXPECT_EQ(bound.outputShape(), "96, 4");
  Imported empty = importBytes(proto.SerializeAsString(), {{{"32*units", 33, 63}}});
  EXPECT_EQ(empty.reason(), "the range of 'units' is empty or negative");
}

TEST(ShapeProgram, BoundSizesAreConstants) {
  ImportOptions options{{{"n", 3, 3}}};
  Imported model = importText("agraph (float[n, 4] x) => (float[p, q] y) { y = Relu(x) }", options);
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "3, 4");
}

TEST(ShapeProgram, ScansStayLoops) {
  Imported model = importText(R"(agraph (float[2] first, float[3, 2] x) => (float[2] last, float[3, 2] all) {
    last, all = Scan<num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] n, float[2] o) { n = Add(s, e) o = Identity(n) }>(first, x)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.count<graph::ScanOp>(), 1);
  EXPECT_EQ(model.count<graph::BinaryOp>(), 1);
  EXPECT_EQ(model.outputShape(1), "3, 2");
}

TEST(ShapeProgram, BranchesByKnownConditionsAreTaken) {
  Imported model = importText(R"(agraph (float[n] x) => (float[m] y) {
    shape = Shape(x) size = Size(shape) one = Constant<value_int = 1>() isVector = Equal(size, one)
    y = If(isVector) <then_branch = t () => (float[m] a) { a = Relu(x) }, else_branch = e () => (float[m] b) { b = Exp(x) }>
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.count<graph::UnaryOp>(), 0);
}

} // namespace

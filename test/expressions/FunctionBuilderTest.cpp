#include "compiler/expressions/FunctionBuilder.h"
#include "test/expressions/GraphFunction.h"

using namespace llvm;

namespace freestone::expressions {
namespace {

/// A front end that counts the constants too large for the program.
class FrontEnd : public FunctionBuilder {
public:
  explicit FrontEnd(mlir::func::FuncOp function) : FunctionBuilder(function) {
    setInsertionPointToEnd(&function.getBody().front());
    setLoc(mlir::NameLoc::get(getStringAttr("add_7")));
  }

  std::vector<size_t> largeConstants;

private:
  mlir::Value createLargeConstant(const Content &content, graph::TensorType type) override {
    largeConstants.push_back(content.size());
    return create<graph::WeightOp>(type, getStringAttr("large")).getResult();
  }
};

class FunctionBuilderTest : public GraphFunction {
protected:
  /// Inputs of these types; their sizes are only known not to be negative.
  void begin(ArrayRef<graph::TensorType> arguments) {
    GraphFunction::begin(SmallVector<mlir::Type>(arguments));
    builder.emplace(*function);
    for (graph::TensorType type : arguments)
      for (Expr extent : type.getShape())
        if (std::optional<StringRef> symbol = extent.asSymbol())
          builder->sizeFacts().symbol(*symbol, SymbolOrigin::Dimension, sym::Interval::size());
  }
  Tensor argument(unsigned index) { return Tensor(*builder, function->getArgument(index)); }
  std::string reason() {
    std::optional<Refusal> refusal = builder->takeRefusal();
    return refusal ? refusal->reason : "";
  }

  std::optional<FrontEnd> builder;
};

TEST_F(FunctionBuilderTest, WhatIsKnownLeavesNothingBehind) {
  begin({f32({"b", "s"})});
  Tensor dims = builder->vector(argument(0).shape());
  Tensor count = reduce(ReduceKind::mul, dims, {0}), half = concat({dims, builder->vector({2})}, 0);
  ASSERT_TRUE(count.content());
  EXPECT_EQ(count.content()->front().asExpr(), size("b*s"));
  EXPECT_EQ((*gather(half, builder->integer(-1), 0).constant())[0].asConstantInteger(), 2);
  EXPECT_EQ((*(iota(*builder, {size("3")}, 0, builder->getI64Type()) * 5.0 + 1.0).constant())[2].asConstantInteger(),
            11);
  EXPECT_EQ(operations(), "");
  EXPECT_EQ(half.value().getType(), i64({"3"}));
  EXPECT_EQ(operations(), "sizes");
}

TEST_F(FunctionBuilderTest, QuotientsOfSizesAreFractions) {
  begin({f32({"b", "s"})});
  mlir::Type f32 = builder->getF32Type();
  Tensor b = builder->scalar(size("b"), f32), s = builder->scalar(size("s"), f32);
  auto whole = [&](Tensor x) { return cast(x, builder->getI64Type()).content()->front().asExpr(); };
  EXPECT_EQ(whole(floor(b / s)), size("b floordiv s"));
  EXPECT_EQ(whole(unary(UnaryKind::ceil, b / s + 1.0)), size("(b + s) ceildiv s"));
  EXPECT_EQ(whole(b * 0.75), size("(3*b) floordiv 4"));
  // 0.6 is rounded, and so is its product.
  EXPECT_EQ((b * 0.6).content(), nullptr);
  EXPECT_EQ(operations(), "sizes cast constant binary");
  (b / s).value();
  EXPECT_EQ(operations(), "sizes cast constant binary sizes cast sizes cast binary cast");
}

TEST_F(FunctionBuilderTest, EqualSizesAreLearnt) {
  begin({f32({"a", "n"}), f32({"b", "n"})});
  Tensor before = argument(1), total = argument(0) + before;
  EXPECT_EQ(total.type(), f32({"a", "n"}));
  EXPECT_EQ(before.type(), f32({"a", "n"}));
  EXPECT_EQ(function->getArgument(1).getType(), f32({"a", "n"}));
  EXPECT_EQ(builder->current(size("b + 1")), size("a + 1"));
  EXPECT_TRUE(builder->sizeFacts().assertions().empty());
  EXPECT_EQ(operations(), "binary");
}

TEST_F(FunctionBuilderTest, NamesOfReplacedSizesAreNotGivenAgain) {
  begin({f32({"a", "n"})});
  SizeFacts &facts = builder->sizeFacts();
  Expr first = facts.fresh("size", SymbolOrigin::Dimension, sym::Interval::size());
  ASSERT_TRUE(builder->makeEqual(first, size("a"), "sizes"));
  EXPECT_EQ(builder->current(first), size("a"));
  Expr second = builder->define("size", size("a + n"));
  EXPECT_NE(second, first);
  EXPECT_EQ(builder->current(second), second);
}

TEST_F(FunctionBuilderTest, SizesOfAtMostOneAreBroadcast) {
  begin({f32({"n", "n"}), f32({"min(n, 1)", "n"})});
  EXPECT_EQ((argument(0) + argument(1)).type(), f32({"n", "n"}));
  EXPECT_EQ((argument(1) + argument(0)).type(), f32({"n", "n"}));
  ASSERT_EQ(builder->sizeFacts().assertions().size(), 1u);
  EXPECT_EQ(builder->sizeFacts().assertions()[0].lhs, size("min(n, 1)"));
  EXPECT_EQ(builder->sizeFacts().assertions()[0].rhs, size("1"));
}

TEST_F(FunctionBuilderTest, LongSizesHaveNames) {
  begin({f32({"n"})});
  Expr half = size("(n + 7*min(n, 1)) floordiv 8 - (n + 15*min(n, 1) + 8) floordiv 16 + 1");
  Tensor numbers = iota(*builder, {half, half}, 0, builder->getI64Type());
  EXPECT_EQ(numbers.type(), i64({"size", "size"}));
  EXPECT_EQ(builder->sizeFacts().symbols().find("size")->second.definition, half);
  // What is equal by definition needs no check.
  EXPECT_TRUE(builder->makeEqual(size("size"), half, "sizes"));
  EXPECT_TRUE(builder->sizeFacts().assertions().empty());
  EXPECT_EQ(builder->current(size("size")), size("size"));
}

TEST_F(FunctionBuilderTest, WhatCanNotBeLearntIsCheckedAtEntry) {
  begin({f32({"a"}), f32({"b"})});
  Tensor doubled = concat({argument(0), argument(0)}, 0), tripled = concat({argument(1), argument(1), argument(1)}, 0);
  EXPECT_EQ((doubled * tripled).type(), f32({"2*a"}));
  ASSERT_FALSE(builder->sizeFacts().assertions().empty());
  EXPECT_EQ(builder->sizeFacts().assertions()[0].text,
            "at node 'add_7': sizes of what is combined element by element must be equal");
}

TEST_F(FunctionBuilderTest, SizesThatMayBeNegativeAreCheckedAtEntry) {
  begin({f32({"1", "2", "h", "8"}), f32({"2", "2", "3", "3"})});
  Window bare{{3, 3}, {1, 1}, {1, 1}, shape({"0", "0"}), shape({"0", "0"})};
  EXPECT_EQ(windowReduce(ReduceKind::max, argument(0), bare).type(), f32({"1", "2", "h - 2", "6"}));
  ASSERT_EQ(builder->sizeFacts().assertions().size(), 1u);
  EXPECT_EQ(builder->sizeFacts().assertions()[0].lhs, size("min(h - 2, 0)"));
  EXPECT_EQ(builder->sizeFacts().assertions()[0].text, "at node 'add_7': a size must not be negative");
  // Another result of this size needs no other check, and one with a border none at all.
  EXPECT_TRUE(windowReduce(ReduceKind::max, argument(0), bare));
  Window bordered{{3, 3}, {1, 1}, {1, 1}, shape({"1", "1"}), shape({"1", "1"})};
  EXPECT_TRUE(windowReduce(ReduceKind::max, argument(0), bordered));
  EXPECT_EQ(builder->sizeFacts().assertions().size(), 1u);
}

TEST_F(FunctionBuilderTest, SizesThatAreNeverEqualAreRefused) {
  begin({f32({"3", "1"}), f32({"4", "1"})});
  EXPECT_FALSE(argument(0) + argument(1));
  EXPECT_EQ(reason(), "sizes of what is combined element by element must be equal, but are 3 and 4");
  EXPECT_FALSE(reshape(argument(0), shape({"2"})));
  EXPECT_EQ(reason(), "numbers of elements before and after a reshape must be equal, but are 3 and 2");
  EXPECT_EQ(operations(), "");
}

TEST_F(FunctionBuilderTest, NothingIsLearntFromWhatMayNeverRun) {
  begin({f32({"a"}), f32({"b"})});
  {
    FunctionBuilder::RegionScope inside(*builder);
    EXPECT_EQ((argument(0) + argument(1)).type(), f32({"a"}));
    EXPECT_TRUE(argument(1) * argument(0));
    EXPECT_EQ(operations(), "assert_sizes reshape broadcast binary reshape broadcast binary");
  }
  // Another region asserts for itself.
  FunctionBuilder::RegionScope inside(*builder);
  EXPECT_TRUE(argument(0) + argument(1));
  EXPECT_EQ(operations(),
            "assert_sizes reshape broadcast binary reshape broadcast binary assert_sizes reshape broadcast binary");
  EXPECT_TRUE(builder->sizeFacts().assertions().empty());
  EXPECT_EQ(argument(1).type(), f32({"b"}));
}

TEST_F(FunctionBuilderTest, ComplaintsOfTheVerifierAreRefusals) {
  begin({f32({"n"})});
  EXPECT_FALSE(softmax(argument(0), 3) && !builder->stopped());
  EXPECT_NE(reason(), "");
}

TEST_F(FunctionBuilderTest, LargeConstantsAreKeptByTheFrontEnd) {
  begin({});
  Tensor small = iota(*builder, {size("64")}, 0, builder->getI32Type());
  Tensor large = iota(*builder, {size("65")}, 0, builder->getI32Type());
  EXPECT_EQ(small.value().getDefiningOp()->getName().getStringRef(), "graph.constant");
  EXPECT_EQ(large.value().getDefiningOp()->getName().getStringRef(), "graph.weight");
  EXPECT_EQ(builder->largeConstants, std::vector<size_t>{65});
}

TEST_F(FunctionBuilderTest, WeightsAreMadeOnDemandAndOnce) {
  begin({});
  Tensor weight = builder->fromWeight("w", {2, 3}, builder->getF32Type(), std::nullopt);
  EXPECT_EQ(weight.type(), f32({"2", "3"}));
  EXPECT_EQ(operations(), "");
  EXPECT_EQ(weight.value(), weight.value());
  EXPECT_EQ(operations(), "weight");
}

TEST_F(FunctionBuilderTest, DataGiveNewSizes) {
  begin({f32({"n"})});
  Tensor places = nonZero(argument(0));
  EXPECT_EQ(places.type(), i64({"1", "nonzero"}));
  EXPECT_TRUE(builder->sizeFacts().dependsOnData(places.dim(1)));
  Tensor chosen = gather(argument(0), reshape(places, {places.dim(1)}), 0);
  EXPECT_EQ(chosen.type(), f32({"nonzero"}));
}

TEST_F(FunctionBuilderTest, SizesOfDataAreCompared) {
  begin({f32({"n"}), f32({"n"})});
  Tensor one = nonZero(argument(0)), other = nonZero(argument(1));
  // What data decide keeps its symbol: it is bound where it is found, before anything tells that both are equal.
  EXPECT_EQ((one + other).type(), i64({"1", "nonzero"}));
  EXPECT_EQ(other.type(), i64({"1", "nonzero_1"}));
  Tensor doubled = concat({one, one}, 1), tripled = concat({other, other, other}, 1);
  EXPECT_EQ((doubled + tripled).type(), i64({"1", "2*nonzero"}));
  ASSERT_EQ(builder->sizeFacts().assertions().size(), 2u);
  EXPECT_EQ(builder->sizeFacts().assertions()[0].lhs, size("nonzero"));
  EXPECT_EQ(builder->sizeFacts().assertions()[0].rhs, size("nonzero_1"));
}

TEST_F(FunctionBuilderTest, LongSizesOfDataHaveNames) {
  begin({f32({"n"})});
  Expr found = nonZero(argument(0)).dim(1);
  Expr half = size("(nonzero + 7*min(nonzero, 1)) floordiv 8 - (nonzero + 15*min(nonzero, 1) + 8) floordiv 16 + 1");
  Expr name = builder->define("size", half);
  EXPECT_EQ(name, size("size"));
  EXPECT_TRUE(builder->sizeFacts().dependsOnData(name));
  EXPECT_FALSE(builder->sizeFacts().dependsOnData(builder->sizeFacts().greatest(name)));
  // What holds before the run may replace the name, once it is compared; what data decide may not.
  EXPECT_TRUE(builder->makeEqual(name, found, "sizes"));
  EXPECT_EQ(builder->current(name), name);
  EXPECT_TRUE(builder->makeEqual(name, size("n"), "sizes"));
  EXPECT_EQ(builder->current(name), size("n"));
  ASSERT_EQ(builder->sizeFacts().assertions().size(), 2u);
  EXPECT_EQ(builder->sizeFacts().assertions()[1].lhs, half);
  // A branch's data are unknown outside of it.
  FunctionBuilder::RegionScope region(*builder);
  EXPECT_EQ(builder->define("size", half + 1), half + 1);
}

} // namespace
} // namespace freestone::expressions

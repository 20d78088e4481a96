// Operators that the conformance cases do not cover: definitions by functions of the model, and folding.
#include "test/import/TextModel.h"

#include "compiler/interpreter/Interpreter.h"

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
  )",
                                         "<ir_version: 10, opset_import: [\"\" : 20, \"local\" : 1]>"));
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(run(model, {1, 2, -1}, {3}), (std::vector<float>{3, 6, -3}));
}

TEST(Operator, AFunctionThatCallsItselfIsRefused) {
  Imported model = importBytes(serialize(R"(
    agraph (float[n] x) => (float[n] y) { y = local.loop(x) }
    <domain: "local", opset_import: ["" : 20, "local" : 1]>
    loop (v) => (w) { w = local.loop(v) }
  )",
                                         "<ir_version: 10, opset_import: [\"\" : 20, \"local\" : 1]>"));
  EXPECT_FALSE(model.model.module);
  EXPECT_NE(model.reason().find("nested too deeply"), std::string::npos) << model.reason();
}

TEST(Operator, RecurrentLayersHaveOneType) {
  EXPECT_EQ(importText("agraph (double[t, b, 2] x, float[1, 4, 2] w, float[1, 4, 4] r) => (float[s, d, c, h] y) {"
                       " y = RNN<hidden_size = 4>(x, w, r) }")
                .reason(),
            "node 'y' (RNN, opset 20): the input, its weights, biases and first states must be floats of one type");
}

/// As of PyTorch's packed sequences, whose number is that of the lengths.
TEST(Operator, LengthsOfSequencesMayHaveASizeOfTheirOwn) {
  Imported model = importText("agraph (float[t, b, 2] x, float[1, 4, 2] w, float[1, 4, 4] r, int32[n] l) => "
                              "(float[s, d, c, h] y) { y = RNN<hidden_size = 4>(x, w, r, , l) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "t, 1, b, 4");
}

TEST(Operator, NumbersTakeTheTypeBesideThem) {
  Imported model = importText("agraph (float[n] x) => (float[n] y) { y = HardSwish(x) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(run(model, {-4, 0, 3, 6}, {4}), (std::vector<float>{0, 0, 3, 6}));
}

TEST(Operator, AxesOfAReductionMayBeAnInput) {
  Imported model =
      importText("agraph (float[a, b, c] x, int64[2] axes) => (float[p] y) { y = ReduceSum<keepdims = 0>(x, axes) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get()), i64 = mlir::IntegerType::get(model.context.get(), 64);
  auto x = HostTensor::copy<float>(f32, {2, 3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  auto over = [&](std::vector<int64_t> axes) {
    auto outputs =
        interpreter::interpret(model.main(), {x, HostTensor::copy<int64_t>(i64, {2}, axes)}, *model.model.weights);
    return mlir::succeeded(outputs) ? outputs->front().elements<float>().vec() : std::vector<float>();
  };
  EXPECT_EQ(over({0, 1}), (std::vector<float>{36, 42}));
  EXPECT_EQ(over({2, 1}), (std::vector<float>{21, 57}));
  EXPECT_EQ(over({-1, 0}), (std::vector<float>{18, 26, 34}));
}

constexpr const char *trainingHeader = "<ir_version: 10, opset_import: [\"\" : 20, \"ai.onnx.preview.training\" : 1]>";

TEST(Operator, GradientDifferentiatesWhatIsBeforeIt) {
  // The softmax is also used after the gradient: differentiation must not remove it.
  Imported model = importBytes(serialize(R"(agraph (float[3] x) => (float[3] dx, float[3] p) {
    p = Softmax(x) q = Mul(p, x) y = ReduceSum<keepdims = 0>(q)
    dx = ai.onnx.preview.training.Gradient<xs = ["x"], y = "y">(x)
  })",
                                         trainingHeader));
  ASSERT_TRUE(model.model.module) << model.reason();
  std::vector<float> x = {0.5, -1, 2}, p;
  double sum = 0, mean = 0;
  for (float value : x)
    sum += std::exp(value);
  for (float value : x)
    p.push_back(std::exp(value) / sum), mean += p.back() * value;
  std::vector<float> gradient = run(model, x, {3});
  ASSERT_EQ(gradient.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(gradient[i], p[i] * (1 + x[i] - mean), 1e-5);
}

TEST(Operator, GradientsOfGradientsAreTakenToo) {
  Imported model = importBytes(serialize(R"(agraph (float x) => (float ddx) {
    three = Constant<value_float = 3.0>() y = Pow(x, three)
    dx = ai.onnx.preview.training.Gradient<xs = ["x"], y = "y">(x)
    ddx = ai.onnx.preview.training.Gradient<xs = ["x"], y = "dx">(x)
  })",
                                         trainingHeader));
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(run(model, {2}, {}), (std::vector<float>{12}));
}

TEST(Operator, GradientsThatCanNotBeTakenAreRefused) {
  auto reason = [](const std::string &body) {
    return importBytes(serialize("agraph (float[3] x) => (float[3] dx) {" + body + "}", trainingHeader)).reason();
  };
  EXPECT_NE(reason("dx = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"x\">(x)").find("not one float"),
            std::string::npos);
  EXPECT_NE(reason("y = ReduceSum<keepdims = 0>(x) dx = ai.onnx.preview.training.Gradient<xs = [\"z\"], y = \"y\">(x)")
                .find("'z'"),
            std::string::npos);
  EXPECT_NE(reason("c = Constant<value_floats = [1.0, 2.0, 3.0]>() z = Mul(c, x) y = ReduceSum<keepdims = 0>(z) "
                   "dx = ai.onnx.preview.training.Gradient<xs = [\"c\"], y = \"y\">(c)")
                .find("constant"),
            std::string::npos);
}

TEST(Operator, AReshapeByAnInputResolvesEachSize) {
  Imported model =
      importText("agraph (float[a, b, c] x, int64[3] shape) => (float[p, q, r] y) { y = Reshape(x, shape) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get()), i64 = mlir::IntegerType::get(model.context.get(), 64);
  auto x = HostTensor::copy<float>(f32, {2, 3, 2}, std::vector<float>(12, 1));
  auto dims = [&](std::vector<int64_t> shape) {
    auto outputs =
        interpreter::interpret(model.main(), {x, HostTensor::copy<int64_t>(i64, {3}, shape)}, *model.model.weights);
    return mlir::succeeded(outputs) ? std::vector<int64_t>(outputs->front().dims) : std::vector<int64_t>();
  };
  EXPECT_EQ(dims({4, 3, 1}), (std::vector<int64_t>{4, 3, 1}));
  EXPECT_EQ(dims({0, -1, 1}), (std::vector<int64_t>{2, 6, 1}));
  EXPECT_EQ(dims({-1, 0, 0}), (std::vector<int64_t>{2, 3, 2}));
}

/// torch.onnx.export writes the zeros of a Conv3d without bias as [filters, 2].
TEST(Operator, AConvolutionsBiasMayBeOneNumberInAnyShape) {
  auto convolved = [](const std::string &filters, const std::string &bias) {
    return importText("agraph (float[n, 1, w] x, float[" + filters + ", 1, 1] k) => (float[n, c, v] y) { " + bias +
                      " y = Conv(x, k, b) }");
  };
  for (std::string filters : {"2", "2000"}) { // elements that are known while importing, and too many for that
    Imported model = convolved(filters, "v = Constant<value_float = 0.5>() s = Constant<value_ints = [" + filters +
                                            ", 2]>() b = Expand(v, s)");
    ASSERT_TRUE(model.model.module) << model.reason();
    mlir::Type f32 = mlir::Float32Type::get(model.context.get());
    int64_t count = std::stoi(filters);
    auto outputs = interpreter::interpret(model.main(),
                                          {HostTensor::copy<float>(f32, {1, 1, 2}, std::vector<float>{1, 2}),
                                           HostTensor::copy<float>(f32, {count, 1, 1}, std::vector<float>(count, 3))},
                                          *model.model.weights);
    ASSERT_TRUE(mlir::succeeded(outputs));
    EXPECT_EQ(outputs->front().dims, (std::vector<int64_t>{1, count, 2}));
    EXPECT_EQ(outputs->front().elements<float>().take_front(2).vec(), (std::vector<float>{3.5, 6.5}));
  }
  std::string reason = convolved("2", "b = Constant<value = float[1, 2] {1.0, 2.0}>()").reason();
  EXPECT_NE(reason.find("the bias must be a vector, but has the rank 2"), std::string::npos) << reason;
}

TEST(Operator, ResizeByAFractionTakesEverySize) {
  Imported model = importText(R"(agraph (float[1, 1, h, w] x) => (float[1, 1, p, q] y)
    { s = Constant<value_floats = [1.0, 1.0, 0.5, 1.5]>() y = Resize<mode = "nearest">(x, , s) })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "1, 1, h floordiv 2, w + w floordiv 2");
  EXPECT_EQ(run(model, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 1, 5, 3}),
            (std::vector<float>{1, 1, 2, 3, 7, 7, 8, 9}));
}

/// Each element as often, where coordinates and rounding say so; no index is looked up then.
TEST(Operator, ResizeByAWholeNumberRepeats) {
  auto resized = [](const std::string &width, const std::string &attributes) {
    Imported model = importText("agraph (float[1, " + width + R"(] x) => (float[1, q] y)
      { s = Constant<value_floats = [1.0, 3.0]>() y = Resize<mode = "nearest")" +
                                attributes + ">(x, , s) }");
    bool gathers = false;
    model.model.module->walk([&](graph::GatherOp) { gathers = true; });
    return std::pair(run(model, {1, 2, 3}, {1, 3}), gathers);
  };
  std::vector<float> thrice{1, 1, 1, 2, 2, 2, 3, 3, 3};
  for (std::string width : {"w", "3"}) {
    for (std::string mapping : {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"})
      for (std::string rounding : {"round_prefer_floor", "round_prefer_ceil"})
        EXPECT_EQ(resized(width, ", coordinate_transformation_mode = \"" + mapping + "\", nearest_mode = \"" +
                                     rounding + "\""),
                  std::pair(thrice, false));
    EXPECT_EQ(resized(width, ", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\""),
              std::pair(thrice, false));
    EXPECT_EQ(resized(width, ", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"ceil\""),
              std::pair(std::vector<float>{1, 2, 2, 2, 3, 3, 3, 3, 3}, true));
    EXPECT_EQ(resized(width, ", nearest_mode = \"floor\""),
              std::pair(std::vector<float>{1, 1, 1, 1, 2, 2, 2, 3, 3}, true));
  }
}

/// In f32 seven tenths are less, and six tenths are more.
TEST(Operator, ScalesOfAResizeAreTheFractionsThatTheyState) {
  auto resized = [](const std::string &size, const std::string &scale) {
    Imported model =
        importText("agraph (float[" + size + "] x) => (float[q] y) { s = Constant<value_floats = [" + scale + R"(]>()
      y = Resize<mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric">(x, , s) })");
    return run(model, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {10});
  };
  for (std::string size : {"w", "10"}) {
    EXPECT_EQ(resized(size, "0.7"), (std::vector<float>{1, 2, 3, 5, 6, 8, 9}));
    EXPECT_EQ(resized(size, "0.6"), (std::vector<float>{1, 2, 4, 6, 7, 9}));
    EXPECT_EQ(resized(size, "0.33333334"), (std::vector<float>{1, 4, 7}));
  }
}

TEST(Operator, ScalesOfAResizeMayBeAnInput) {
  Imported model = importText("agraph (float[1, w] x, float[2] s) => (float[p, q] y) { y = Resize(x, , s) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get());
  auto x = HostTensor::copy<float>(f32, {1, 5}, std::vector<float>{1, 2, 3, 4, 5});
  auto scaled = [&](float scale) {
    auto outputs = interpreter::interpret(
        model.main(), {x, HostTensor::copy<float>(f32, {2}, std::vector<float>{1, scale})}, *model.model.weights);
    return mlir::succeeded(outputs) ? outputs->front().elements<float>().vec() : std::vector<float>();
  };
  EXPECT_EQ(scaled(2), (std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(scaled(0.6f), (std::vector<float>{1, 3, 5}));
}

TEST(Operator, ARangeOfFloatsMayBeAnInput) {
  Imported model = importText("agraph (float a, float b, float c) => (float[n] y) { y = Range(a, b, c) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get());
  auto scalar = [&](float value) { return HostTensor::copy<float>(f32, {}, std::vector<float>{value}); };
  auto range = [&](float a, float b, float c) {
    auto outputs = interpreter::interpret(model.main(), {scalar(a), scalar(b), scalar(c)}, *model.model.weights);
    return mlir::succeeded(outputs) ? outputs->front().elements<float>().vec() : std::vector<float>();
  };
  EXPECT_EQ(range(0.5, 2, 0.5), (std::vector<float>{0.5, 1, 1.5}));
  EXPECT_EQ(range(3, 0, -2), (std::vector<float>{3, 1}));
  EXPECT_EQ(range(3, 0, 2), std::vector<float>());
}

TEST(Operator, BadShapesAndAttributesAreNamed) {
  auto reasonOf = [](const std::string &inputs, const std::string &node) {
    return importText("agraph (" + inputs + ") => (float[p, q, r, s] y) { y = " + node + " }").reason();
  };
  auto expect = [&](const std::string &inputs, const std::string &node, const std::string &reason) {
    std::string found = reasonOf(inputs, node);
    EXPECT_NE(found.find(reason), std::string::npos) << node << ": " << found;
  };
  std::string picture = "float[n, c, h, w] x";
  expect(picture + ", float[r, 4] b, int64[r] i", "RoiAlign<sampling_ratio = 0>(x, b, i)", "depends on data; set one");
  expect(picture + ", float[r, 5] b, int64[r] i", "RoiAlign<sampling_ratio = 1>(x, b, i)", "regions [R, 4]");
  expect(picture + ", float[8, c, 3, 3] w, float[n, 16, h, w] o", "DeformConv(x, w, o)", "the sizes of the offsets");
  expect("float[n, 10, 9] x", "Det(x)", "rows and columns");
  expect("float[n, k, 3] x, float[n, c, k] s", "NonMaxSuppression(x, s)", "boxes must have the shape");
  expect(picture + ", float[4] s", "Resize<mode = \"nearest\", antialias = 1>(x, , s)", "antialiasing needs");
  expect(picture + ", float[3] s", "Resize(x, , s)", "one scale for each axis");
}

TEST(Operator, SequencesOfKnownElementsExistOnlyWhileImporting) {
  Imported model = importText(R"(agraph (float[4, n] x) => (float[p, q] y) {
    two = Constant<value_int = 2>() parts = SplitToSequence<axis = 0>(x, two) one = Constant<value_int = 1>()
    y = SequenceAt(parts, one)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(), "2, n");
  EXPECT_EQ(model.count<graph::SliceOp>(), 2);
}

TEST(Operator, SequencesAmongTheInputsAreStacks) {
  Imported model = importText(R"(agraph (seq(float[r, w, 3]) s, float[w] x) => (seq(float[p, q, 3]) y, int64 l) {
    y = Identity(s) l = SequenceLength(s)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  auto shape = [&](unsigned index) {
    std::string text;
    for (sym::Expr size : mlir::cast<graph::TensorType>(model.main().getArgumentTypes()[index]).getShape())
      text += (text.empty() ? "" : ", ") + size.str();
    return text;
  };
  // What belongs to a sequence comes behind all inputs. The size of a tensor is the same for all elements.
  ASSERT_EQ(model.main().getNumArguments(), 3u);
  EXPECT_EQ(shape(0), "s_length, r, w, 3");
  EXPECT_EQ(shape(2), "s_length, 1");
  ASSERT_EQ(model.model.sequences.size(), 2u);
  const SequencePort &port = model.model.sequences[0];
  EXPECT_EQ(port.openAxes, (std::vector<int64_t>{0}));
  EXPECT_EQ(port.openNames, (std::vector<std::string>{"r"}));
  EXPECT_EQ(port.sizes, "sizes of s");
  EXPECT_EQ(model.model.report.inputs[0].kind, "sequence");
  EXPECT_EQ(model.model.report.inputs[0].type, "f32");
  EXPECT_EQ(model.outputShape(0), "r, w, 3");
}

TEST(Operator, ElementsOfASequenceMayDifferInRank) {
  Imported model =
      importText(R"(agraph (seq(float[n]) s, float[m, 3] x, seq(float[]) t) => (seq(float[]) y, seq(float[]) z) {
    y = SequenceInsert(s, x) z = Identity(t)
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(0), "max(m, 1)?, max(n, 3)");
  const SequencePort &any = model.model.sequences[1], &made = model.model.sequences[2];
  EXPECT_EQ(any.lacking, 5);
  EXPECT_EQ(any.openAxes.size(), 5u);
  EXPECT_EQ(made.lacking, 1);
  EXPECT_EQ(made.openAxes, (std::vector<int64_t>{0, 1}));
}

TEST(Operator, ProgramsAreForGreatSizesWhereThoseDecideARank) {
  auto assertionsOf = [](Imported &model) {
    auto list = model.main()->getAttrOfType<mlir::ArrayAttr>("graph.assertions");
    return list ? list.size() : 0;
  };
  Imported squeezed = importText("agraph (float[n, 1] x) => (float[m] y) { y = Squeeze(x) }");
  ASSERT_TRUE(squeezed.model.module) << squeezed.reason();
  EXPECT_EQ(squeezed.outputShape(), "n");
  EXPECT_EQ(assertionsOf(squeezed), 1u);
  const std::string branches = R"(agraph (int64[1] d, float[d] x) => (float[p] y) {
    one = Constant<value_int = 1>() is = Equal(d, one) r = Expand(x, d)
    y = If(is) <then_branch = a () => (float[q] t) { none = Constant<value_float = 0.0>() t = Identity(none) },
                else_branch = b () => (float[s] e) { e = Neg(r) }>
  })";
  Imported chosen = importText(branches);
  ASSERT_TRUE(chosen.model.module) << chosen.reason();
  EXPECT_EQ(chosen.count<graph::IfOp>(), 0);
  EXPECT_EQ(chosen.outputShape(), "d_0");
  EXPECT_GE(assertionsOf(chosen), 1u);
  ImportOptions one;
  one.dimBounds = {{"n", 1, 1, 1}};
  Imported scalar = importText("agraph (float[n, 1] x) => (float[m] y) { y = Squeeze(x) }", one);
  ASSERT_TRUE(scalar.model.module) << scalar.reason();
  EXPECT_EQ(scalar.outputShape(), "");
  Imported data = importText("agraph (float[n] x) => (int64 y) { p = NonZero(x) y = Squeeze(p) }");
  EXPECT_NE(data.reason().find("which only the run knows"), std::string::npos) << data.reason();
}

TEST(Operator, LoopsEndBeforeWhatTheyCollectChangesItsShape) {
  Imported model = importText(R"(agraph (int64 m, bool c, float[1] x) => (float[1] y, float[k, 1] all) {
    y, all = Loop(m, c, x) <body = b (int64 i, bool d, float[1] p) => (bool e, float[1] q, float[1] v) {
      e = Identity(d) five = Constant<value_floats = [1.0, 2.0, 3.0, 4.0, 5.0]>() one = Constant<value_ints = [1]>()
      zero = Constant<value_ints = [0]>() start = Unsqueeze(i, zero) end = Add(start, one)
      part = Slice(five, start, end) q = Add(p, part) v = Identity(q) }>
  })");
  ASSERT_TRUE(model.model.module) << model.reason();
  EXPECT_EQ(model.outputShape(0), "1");
  auto assertions = model.main()->getAttrOfType<mlir::ArrayAttr>("graph.assertions");
  ASSERT_TRUE(assertions);
  EXPECT_EQ(assertions.size(), 1u);
}

TEST(Operator, SequencesThatCannotBeCompiledAreRefused) {
  auto expectReason = [](const std::string &text, const std::string &part) {
    Imported model = importText(text);
    EXPECT_FALSE(model.model.module);
    EXPECT_NE(model.reason().find(part), std::string::npos) << model.reason();
  };
  expectReason("agraph (seq(float[n]) s, int64[m] x) => (seq(float[n]) y) { y = SequenceInsert(s, x) }",
               "holds tensors of other types; keep them in sequences of their own");
  expectReason("agraph (seq(float[]) s, int64 i) => (float[n] y) { y = SequenceAt(s, i) }",
               "only the run knows the rank of an element; declare the shapes");
  expectReason("agraph (seq(float[n]) s) => (float[k, n] y) { y = ConcatFromSequence<axis = 0, new_axis = 1>(s) }",
               "elements whose sizes only the run knows are concatenated; declare their sizes");
  expectReason("agraph (float[n] x, int64 i) => (float[n] y) { y = SequenceAt(x, i) }",
               "the first input is no sequence");
  ImportOptions training;
  training.keepWeights = true;
  Imported model = importText("agraph (seq(float[n]) s) => (int64 y) { y = SequenceLength(s) }", training);
  EXPECT_EQ(model.reason(), "a model that is trained takes no seq(tensor(float))");
}

} // namespace

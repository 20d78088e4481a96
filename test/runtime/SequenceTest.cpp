#include "test/runtime/Models.h"

#include <optional>

using namespace freestone;
using namespace freestone::test;

namespace {

/// Matrices of two columns.
struct Rows {
  explicit Rows(std::vector<std::vector<float>> values) : values(std::move(values)) {}
  std::vector<TensorRef> views() const {
    std::vector<TensorRef> views;
    for (const std::vector<float> &element : values)
      views.emplace_back(element.data(), std::vector<int64_t>{static_cast<int64_t>(element.size() / 2), 2});
    return views;
  }
  std::vector<std::vector<float>> values;
};

const Rows rows({{1, 2, 3, 4, 5, 6}, {7, 8}, {}, {9, 10, 11, 12}});

std::vector<std::vector<float>> doubled(const Rows &rows, float bias = 0) {
  std::vector<std::vector<float>> expected = rows.values;
  for (std::vector<float> &element : expected)
    for (float &value : element)
      value = 2 * value + bias;
  return expected;
}

std::vector<std::vector<float>> valuesOf(const std::optional<std::vector<Tensor>> &sequence) {
  std::vector<std::vector<float>> values;
  for (const Tensor &element : sequence.value()) {
    EXPECT_EQ(element.shape(), (std::vector<int64_t>{element.size() / 2, 2}));
    values.push_back(test::valuesOf<float>(element));
  }
  return values;
}

} // namespace

TEST(Sequence, HasElementsOfDifferentSizes) {
  Artifact artifact = loadTwice();
  ASSERT_EQ(artifact.inputs().size(), 2u);
  EXPECT_EQ(artifact.inputs()[0].kind, FREESTONE_OPTIONAL_SEQUENCE);
  EXPECT_EQ(artifact.inputs()[0].shape, (std::vector<std::string>{"m", "2"}));
  EXPECT_EQ(artifact.inputs()[1].kind, FREESTONE_OPTIONAL);
  ASSERT_EQ(artifact.outputs().size(), 1u);

  Instance instance(artifact, 2);
  instance.setSequence(0, rows.views());
  instance.setAbsent(1);
  instance.run();
  std::optional<std::vector<Tensor>> first = instance.sequence(0);
  EXPECT_EQ(valuesOf(first), doubled(rows));

  // Another number of elements, and a bias; what was taken stays.
  Rows others({{5, 6}});
  float bias = 1;
  instance.setSequence(0, others.views());
  instance.setSequence(1, {TensorRef(&bias, {})});
  instance.run();
  EXPECT_EQ(valuesOf(instance.sequence(0)), doubled(others, 1));
  EXPECT_EQ(valuesOf(first), doubled(rows));
}

TEST(Sequence, IsReadWhenARunBegins) {
  Instance instance(loadTwice(), 1);
  Rows own = rows;
  instance.setSequence(0, own.views());
  instance.setAbsent(1);
  instance.run();
  own.values[1] = {70, 80};
  instance.setSequence(0, own.views());
  own.values[1][0] = 71;
  instance.run();
  EXPECT_EQ(valuesOf(instance.sequence(0)), doubled(own));
}

TEST(Sequence, InAQueueBelongsToItsRun) {
  Instance instance(loadTwice(), 1);
  instance.setAbsent(1);
  Rows others({{5, 6}, {1, 2, 3, 4}});
  instance.setSequence(0, rows.views());
  int64_t first = instance.submit();
  instance.setSequence(0, others.views());
  int64_t second = instance.submit();
  instance.wait(first);
  EXPECT_EQ(valuesOf(instance.sequence(0)), doubled(rows));
  instance.wait(second);
  EXPECT_EQ(valuesOf(instance.sequence(0)), doubled(others));
}

TEST(Sequence, MayBeEmptyOrAbsent) {
  Instance instance(loadTwice(), 1);
  instance.setAbsent(1);
  instance.setSequence(0, {});
  instance.run();
  std::optional<std::vector<Tensor>> empty = instance.sequence(0);
  ASSERT_TRUE(empty.has_value());
  EXPECT_TRUE(empty->empty());
  instance.setAbsent(0);
  instance.run();
  EXPECT_FALSE(instance.sequence(0).has_value());
  instance.setSequence(0, rows.views());
  instance.run();
  EXPECT_EQ(valuesOf(instance.sequence(0)), doubled(rows));
}

TEST(Sequence, InOnePlaceIsNotCopied) {
  Instance instance(loadTwice(), 1);
  instance.setAbsent(1);
  std::vector<float> all = ramp(8);
  instance.setSequence(0, {TensorRef(all.data(), {2, 2}), TensorRef(all.data() + 4, {2, 2})});
  instance.run();
  std::vector<std::vector<float>> expected = {{2, 4, 6, 8}, {10, 12, 14, 16}};
  EXPECT_EQ(valuesOf(instance.sequence(0)), expected);
  uint64_t before = countersOf(instance).allocations;
  Rows apart({{1, 2, 3, 4}, {5, 6, 7, 8}});
  instance.setSequence(0, apart.views());
  instance.run();
  EXPECT_EQ(valuesOf(instance.sequence(0)), expected);
  EXPECT_EQ(countersOf(instance).allocations, before + 1);
}

TEST(Sequence, RefusesWhatDoesNotFit) {
  Instance instance(loadTwice(), 1);
  std::vector<float> values = ramp(6);
  auto refuse = [&](size_t index, std::vector<TensorRef> elements) {
    return errorOf(FREESTONE_MISMATCH, [&] { instance.setSequence(index, std::move(elements)); });
  };
  EXPECT_EQ(refuse(0, {TensorRef(values.data(), {3, 2}), TensorRef(values.data(), {6})}),
            "element 1 of input 'x' must have rank 2, but has rank 1");
  EXPECT_EQ(refuse(0, {TensorRef(reinterpret_cast<int32_t *>(values.data()), {3, 2})}),
            "element 0 of input 'x' must be f32, but is i32");
  EXPECT_EQ(refuse(1, {TensorRef(values.data(), {}), TensorRef(values.data(), {})}),
            "input 'bias' is optional: it takes one tensor or none, not 2");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.run(); }), "input 'x' is not set");
  instance.setAbsent(1);

  instance.setSequence(0, {TensorRef(values.data(), {3, 2}), TensorRef(values.data(), {2, 3})});
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "dimension 1 of element 1 of input 'x' must be 2, but is 3");
  std::vector<TensorRef> many(9, TensorRef(values.data(), {1, 2}));
  instance.setSequence(0, many);
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "the number of elements of input 'x', n, is 9, but must be at most 8");
  instance.setSequence(0, {TensorRef(values.data(), {int64_t(1) << 40, 0})});
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "dimension 1 of element 0 of input 'x' must be 2, but is 0");
}

TEST(Sequence, IsNoTensor) {
  Instance instance(loadTwice(), 1);
  std::vector<float> values = ramp(4);
  std::string message = "input 'x' is a sequence or an optional; use the functions for sequences";
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.setInput(0, viewOf(values)); }), message);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.setInput(2, viewOf(values)); }), "there is no input 2");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.setSequence(2, {}); }), "there is no input 2");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.setOutput(0, viewOf(values)); }),
            "output 'y' is a sequence or an optional; use the functions for sequences");
  Instance tensors(loadReverse(), 1);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { tensors.setSequence(0, {viewOf(values)}); }),
            "input 'x' is a tensor, no sequence");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { tensors.setAbsent(0); }), "input 'x' is a tensor, no sequence");

  instance.setSequence(0, rows.views());
  instance.setAbsent(1);
  check(freestone_instance_prepare(instance.get()));
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { (void)instance.sequence(0); }),
            "output 'y' has no elements before a run");
  instance.run();
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.output(0); }),
            "output 'y' is a sequence or an optional; use the functions for sequences");
  DLTensor view = {};
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT,
                    [&] { check(freestone_instance_output_element(instance.get(), 0, 4, &view)); }),
            "output 'y' has no element 4; it has 4");
  check(freestone_instance_output_element(instance.get(), 0, 1, &view));
  EXPECT_EQ(view.shape[0], 1);
  EXPECT_EQ(static_cast<float *>(view.data)[1], 16);
}

TEST(Sequence, StaysWithinTheLimitOfMemory) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.max_memory = 1 << 20;
  Instance instance(loadTwice(), options);
  std::vector<float> values(200000);
  instance.setAbsent(1);
  // Room for the greatest element of each.
  instance.setSequence(0, {TensorRef(values.data(), {100000, 2}), TensorRef(values.data(), {1, 2})});
  EXPECT_NE(errorOf(FREESTONE_OUT_OF_MEMORY, [&] { instance.run(); }).find("input 'x'"), std::string::npos);
  instance.setSequence(0, rows.views());
  instance.run();
  EXPECT_EQ(valuesOf(instance.sequence(0)), doubled(rows));
}

// Modules of the graph with state and several entries, compiled and run.
#include "test/driver/CompileModule.h"
#include "test/runtime/Models.h"

#include <cmath>
#include <cstdio>

using namespace freestone;
using namespace freestone::test;

namespace {

/// A step of gradient descent on (x·w - 1)², a counter, a matrix that is rotated in each step, two states that are
/// exchanged, values computed before their state is updated and read after, and outputs that are the same value.
const char *const training = R"mlir(
!w = !graph.tensor<[4, 3], f32>
!r = !graph.tensor<[3, 3], f32>
!y = !graph.tensor<[n, 3], f32>
!s = !graph.tensor<[], f32>
!i = !graph.tensor<[], i64>
!v = !graph.tensor<[5], f32>
func.func @main(%w: !w {graph.state = "fc.weight", graph.initial = "start"}, %steps: !i {graph.state = "steps"},
                %turning: !r {graph.state = "turning", graph.initial = "corner"},
                %left: !v {graph.state = "left", graph.initial = "five"}, %right: !v {graph.state = "right"},
                %x: !graph.tensor<[n, 4], f32> {graph.name = "x"}, %rate: !s {graph.name = "rate"})
    -> (!w {graph.state = "fc.weight"}, !i {graph.state = "steps"}, !r {graph.state = "turning"}, !v {graph.state = "left"},
        !v {graph.state = "right"}, !s {graph.name = "loss"}, !w {graph.name = "before"}, !s {graph.name = "sum"},
        !s {graph.name = "sum again"}, !graph.tensor<[n, 40], f32> {graph.name = "projected"}) {
  %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[n, 4], f32>, !w
  %one = graph.constant dense<1.0> : tensor<f32> -> !s
  %ones = graph.broadcast %one dims [] : !s -> !y
  %d = graph.binary sub %y, %ones : !y
  %dd = graph.binary mul %d, %d : !y
  %loss = graph.reduce add %dd axes [0, 1] : !y
  %g = graph.contract %x, %d batch [] x [] contract [0] x [0] : !graph.tensor<[n, 4], f32>, !y
  %rates = graph.broadcast %rate dims [] : !s -> !w
  %change = graph.binary mul %rates, %g : !w
  %new = graph.binary sub %w, %change : !w
  %sum = graph.reduce add %w axes [0, 1] : !w

  %i1 = graph.constant dense<1> : tensor<i64> -> !i
  %next = graph.binary add %steps, %i1 : !i
  %turned = graph.transpose %turning [1, 0] : !r
  %three = graph.broadcast %one dims [] : !s -> !r
  %more = graph.binary add %turned, %three : !r
  %p = graph.weight "projection" : !graph.tensor<[3, 40], f32>
  %projected = graph.contract %y, %p batch [] x [] contract [1] x [0] : !y, !graph.tensor<[3, 40], f32>
  return %new, %next, %more, %right, %left, %loss, %w, %sum, %sum, %projected
      : !w, !i, !r, !v, !v, !s, !w, !s, !s, !graph.tensor<[n, 40], f32>
}
func.func @evaluate(%w: !w {graph.state = "fc.weight"}, %x: !graph.tensor<[k, 4], f32> {graph.name = "x"})
    -> (!graph.tensor<[k, 3], f32> {graph.name = "y"}, !graph.tensor<[k, 40], f32> {graph.name = "projected"}) {
  %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[k, 4], f32>, !w
  %p = graph.weight "projection" : !graph.tensor<[3, 40], f32>
  %projected = graph.contract %y, %p batch [] x [] contract [1] x [0] : !graph.tensor<[k, 3], f32>, !graph.tensor<[3, 40], f32>
  return %y, %projected : !graph.tensor<[k, 3], f32>, !graph.tensor<[k, 40], f32>
}
)mlir";

Artifact compileTraining() {
  CompileModule module(training);
  module.addWeight("start", {4, 3}, ramp(12));
  module.addWeight("corner", {3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  module.addWeight("five", {5}, ramp(5));
  module.addWeight("projection", {3, 40}, ramp(120));
  std::string path = testing::TempDir() + "freestone_state.stone";
  module.finish(path);
  Artifact artifact = Artifact::load(path);
  std::remove(path.c_str());
  return artifact;
}

/// rows x inner times inner x columns.
std::vector<double> multiply(const std::vector<double> &a, const std::vector<double> &b, size_t inner, size_t columns) {
  size_t rows = a.size() / inner;
  std::vector<double> c(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      for (size_t k = 0; k < inner; ++k)
        c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return c;
}

/// The reference values of the module's states, and of a step.
struct Reference {
  std::vector<double> w, turning, left, right;
  int64_t steps = 0;

  Reference() : right(5) {
    for (int i = 1; i <= 12; ++i)
      w.push_back(i);
    for (int i = 0; i < 9; ++i)
      turning.push_back(i);
    for (int i = 1; i <= 5; ++i)
      left.push_back(i);
  }

  double step(const std::vector<double> &x, double rate) {
    std::vector<double> y = multiply(x, w, 4, 3), old = turning;
    double loss = 0;
    for (double &value : y) {
      value -= 1;
      loss += value * value;
    }
    for (size_t row = 0; row < y.size() / 3; ++row)
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 3; ++j)
          w[i * 3 + j] -= rate * x[row * 4 + i] * y[row * 3 + j];
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j)
        turning[i * 3 + j] = old[j * 3 + i] + 1;
    std::swap(left, right);
    ++steps;
    return loss;
  }
};

void expectNear(const std::vector<float> &actual, const std::vector<double> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-4 * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
}

std::vector<float> stateOf(const State &state, size_t index) {
  DLTensor view = state.tensor(index);
  int64_t count = 1;
  for (int axis = 0; axis < view.ndim; ++axis)
    count *= view.shape[axis];
  const auto *data = static_cast<const float *>(view.data);
  return {data, data + count};
}

} // namespace

TEST(State, EntriesAndStatesAreDescribed) {
  Artifact artifact = compileTraining();
  EXPECT_EQ(artifact.entries(), (std::vector<std::string>{"main", "evaluate"}));
  std::vector<std::string> names, initials;
  for (const StateInfo &state : artifact.states()) {
    names.push_back(state.name);
    initials.push_back(state.initial);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"fc.weight", "steps", "turning", "left", "right"}));
  EXPECT_EQ(initials, (std::vector<std::string>{"start", "", "corner", "five", ""}));
  EXPECT_EQ(artifact.states()[0].shape, (std::vector<int64_t>{4, 3}));
  // Both entries share what @init computes.
  char *json = nullptr;
  check(freestone_artifact_describe(artifact.get(), &json));
  std::string description = json;
  freestone_free(json);
  EXPECT_EQ(description.find("projection:packed:2"), std::string::npos);
}

TEST(State, StepsUpdateInPlace) {
  Artifact artifact = compileTraining();
  for (int threads : {1, 2, 3}) {
    State state(artifact);
    Instance trainer(artifact, "main", state, threads), evaluator(artifact, "evaluate", state, threads);
    Reference reference;
    float rate = 1e-3f;
    for (int64_t step = 0; step < 5; ++step) {
      // Batches of every size.
      int64_t rows = 3 + 14 * step;
      std::vector<float> x;
      for (int64_t i = 0; i < rows * 4; ++i)
        x.push_back(static_cast<float>((i * 7 + step) % 11) / 11 - 0.5f);
      std::vector<double> wide(x.begin(), x.end()), before = reference.w;
      trainer.setInput(0, {x.data(), {rows, 4}});
      trainer.setInput(1, {&rate, {}});
      trainer.run();
      std::vector<double> y = multiply(wide, before, 4, 3), projection;
      for (int i = 1; i <= 120; ++i)
        projection.push_back(i);
      double loss = reference.step(wide, rate), sum = 0;
      for (double value : before)
        sum += value;
      SCOPED_TRACE("step " + std::to_string(step) + " on " + std::to_string(threads));
      expectNear(valuesOf<float>(trainer.output(0)), {loss});
      expectNear(valuesOf<float>(trainer.output(1)), before);
      expectNear(valuesOf<float>(trainer.output(2)), {sum});
      expectNear(valuesOf<float>(trainer.output(3)), {sum});
      expectNear(valuesOf<float>(trainer.output(4)), multiply(y, projection, 3, 40));
      expectNear(stateOf(state, 0), reference.w);
      EXPECT_EQ(*state.data<int64_t>(1), reference.steps);
      expectNear(stateOf(state, 2), reference.turning);
      expectNear(stateOf(state, 3), reference.left);
      expectNear(stateOf(state, 4), reference.right);

      evaluator.setInput(0, {x.data(), {rows, 4}});
      evaluator.run();
      y = multiply(wide, reference.w, 4, 3);
      expectNear(valuesOf<float>(evaluator.output(0)), y);
      expectNear(valuesOf<float>(evaluator.output(1)), multiply(y, projection, 3, 40));
    }
  }
}

namespace {

/// A step of Adam over many tiles, and rows scaled by a reduction of all of them.
const char *const adam = R"mlir(
!w = !graph.tensor<[130, 270], f32>
!d = !graph.tensor<[n, 270], f32>
!s = !graph.tensor<[], f32>
func.func @main(%w: !w {graph.state = "w", graph.initial = "start"}, %m: !w {graph.state = "m"}, %v: !w {graph.state = "v"},
                %rows: !w {graph.state = "rows", graph.initial = "start"}, %x: !graph.tensor<[n, 130], f32> {graph.name = "x"},
                %t: !d {graph.name = "t"})
    -> (!w {graph.state = "w"}, !w {graph.state = "m"}, !w {graph.state = "v"}, !w {graph.state = "rows"}) {
  %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[n, 130], f32>, !w
  %d = graph.binary sub %y, %t : !d
  %g = graph.contract %x, %d batch [] x [] contract [0] x [0] : !graph.tensor<[n, 130], f32>, !d
  %half = graph.constant dense<0.5> : tensor<f32> -> !s
  %halves = graph.broadcast %half dims [] : !s -> !w
  %m0 = graph.binary mul %m, %halves : !w
  %m1 = graph.binary mul %g, %halves : !w
  %m2 = graph.binary add %m0, %m1 : !w
  %gg = graph.binary mul %g, %g : !w
  %v0 = graph.binary mul %v, %halves : !w
  %v1 = graph.binary mul %gg, %halves : !w
  %v2 = graph.binary add %v0, %v1 : !w
  %root = graph.unary sqrt %v2 : !w
  %below = graph.binary add %root, %halves : !w
  %q = graph.binary div %m2, %below : !w
  %step = graph.binary mul %q, %halves : !w
  %w2 = graph.binary sub %w, %step : !w

  %squares = graph.binary mul %rows, %rows : !w
  %sum = graph.reduce add %squares axes [1] : !w
  %sums = graph.broadcast %sum dims [0] : !graph.tensor<[130], f32> -> !w
  %scaled = graph.binary div %rows, %sums : !w
  return %w2, %m2, %v2, %scaled : !w, !w, !w, !w
}
)mlir";

} // namespace

TEST(State, ManyTilesUpdateInPlace) {
  constexpr size_t rows = 130, columns = 270;
  std::vector<float> start;
  for (size_t i = 0; i < rows * columns; ++i)
    start.push_back(static_cast<float>((i * 13) % 29) / 29 - 0.4f);
  CompileModule module(adam);
  module.addWeight("start", {rows, columns}, start);
  std::string path = testing::TempDir() + "freestone_adam.stone";
  module.finish(path);
  Artifact artifact = Artifact::load(path);
  std::remove(path.c_str());

  constexpr int64_t batch = 7;
  std::vector<float> x, t(batch * columns, 0.25f);
  for (size_t i = 0; i < batch * rows; ++i)
    x.push_back(static_cast<float>((i * 7) % 23) / 23 - 0.5f);
  std::vector<double> wideX(x.begin(), x.end());
  for (int threads : {1, 2, 4}) {
    Instance trainer(artifact, threads);
    trainer.setInput(0, {x.data(), {batch, rows}});
    trainer.setInput(1, {t.data(), {batch, columns}});
    std::vector<double> w(start.begin(), start.end()), m(w.size()), v(w.size()), scaled = w;
    for (int step = 0; step < 3; ++step) {
      trainer.run();
      std::vector<double> d = multiply(wideX, w, rows, columns);
      for (size_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (size_t j = 0; j < columns; ++j) {
          size_t at = i * columns + j;
          double gradient = 0;
          for (size_t k = 0; k < batch; ++k)
            gradient += wideX[k * rows + i] * (d[k * columns + j] - 0.25);
          m[at] = m[at] / 2 + gradient / 2;
          v[at] = v[at] / 2 + gradient * gradient / 2;
          w[at] -= m[at] / (std::sqrt(v[at]) + 0.5) / 2;
          sum += scaled[at] * scaled[at];
        }
        for (size_t j = 0; j < columns; ++j)
          scaled[i * columns + j] /= sum;
      }
    }
    SCOPED_TRACE(std::to_string(threads) + " threads");
    State state = trainer.state();
    expectNear(stateOf(state, 0), w);
    expectNear(stateOf(state, 1), m);
    expectNear(stateOf(state, 2), v);
    expectNear(stateOf(state, 3), scaled);
  }
}

namespace {

constexpr size_t cacheBatch = 3, cachePlaces = 200, cacheWidth = 70, countedPlaces = 4000;

/// A cache of keys that gets a row of each batch at every step, and how often each place was written, in all steps.
const char *const cache = R"mlir(
!c = !graph.tensor<[3, 200, 70], f32>
!t = !graph.tensor<[4000], i64>
func.func @main(%cache: !c {graph.state = "cache", graph.initial = "start"}, %times: !t {graph.state = "times"},
                %places: !graph.tensor<[n, 2], i64> {graph.name = "places"}, %rows: !graph.tensor<[n, 70], f32> {graph.name = "rows"})
    -> (!c {graph.state = "cache"}, !t {graph.state = "times"}, !graph.tensor<[3, 70], f32> {graph.name = "sums"}) {
  %new = graph.scatter_nd none %cache, %places, %rows : !c, !graph.tensor<[n, 2], i64>, !graph.tensor<[n, 70], f32>
  %sums = graph.reduce add %new axes [1] : !c
  %one = graph.constant dense<1> : tensor<i64> -> !graph.tensor<[n], i64>
  %p = graph.slice %places starts [0, 1] sizes [n, 1] steps [1, 1] : !graph.tensor<[n, 2], i64>
  %times2 = graph.scatter_nd add %times, %p, %one : !t, !graph.tensor<[n, 1], i64>, !graph.tensor<[n], i64>
  return %new, %times2, %sums : !c, !t, !graph.tensor<[3, 70], f32>
}
)mlir";

} // namespace

TEST(State, CachesAreWrittenWhereTheyLie) {
  CompileModule module(cache);
  std::vector<float> start = ramp(cacheBatch * cachePlaces * cacheWidth);
  module.addWeight("start", {cacheBatch, cachePlaces, cacheWidth}, start);
  std::string path = testing::TempDir() + "freestone_cache.stone";
  module.finish(path);
  Artifact artifact = Artifact::load(path);
  std::remove(path.c_str());

  for (int threads : {1, 2, 4}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Instance instance(artifact, threads);
    // Less than a copy of the smaller state takes: what a step needs besides is the sums of a few rows.
    EXPECT_LT(instance.planMemory({{"n", cacheBatch}}).arena_bytes, countedPlaces * sizeof(int64_t));
    std::vector<double> expected(start.begin(), start.end());
    std::vector<int64_t> times(countedPlaces);
    for (int64_t step = 0; step < 5; ++step) {
      std::vector<int64_t> places;
      std::vector<float> rows;
      for (size_t batch = 0; batch < cacheBatch; ++batch) {
        int64_t place = static_cast<int64_t>(batch * 90) + step / 2;
        places.insert(places.end(), {static_cast<int64_t>(batch), place});
        ++times[place];
        for (size_t i = 0; i < cacheWidth; ++i) {
          rows.push_back(static_cast<float>(step * 1000 + static_cast<int64_t>(batch * 100 + i)));
          expected[(batch * cachePlaces + place) * cacheWidth + i] = rows.back();
        }
      }
      instance.setInput(0, {places.data(), {cacheBatch, 2}});
      instance.setInput(1, {rows.data(), {cacheBatch, cacheWidth}});
      instance.run();
      std::vector<double> sums(cacheBatch * cacheWidth);
      for (size_t i = 0; i < expected.size(); ++i)
        sums[i / (cachePlaces * cacheWidth) * cacheWidth + i % cacheWidth] += expected[i];
      Tensor output = instance.output(0);
      expectNear({output.data<float>(), output.data<float>() + sums.size()}, sums);
    }
    State state = instance.state();
    expectNear(stateOf(state, 0), expected);
    EXPECT_EQ(std::vector<int64_t>(state.data<int64_t>(1), state.data<int64_t>(1) + countedPlaces), times);
  }
}

TEST(State, OutputsOfOneValueAreApart) {
  CompileModule module(R"mlir(
    func.func @main(%x: !graph.tensor<[n, 4], f32> {graph.name = "x"})
        -> (!graph.tensor<[n, 4], f32> {graph.name = "a"}, !graph.tensor<[n, 4], f32> {graph.name = "b"}) {
      return %x, %x : !graph.tensor<[n, 4], f32>, !graph.tensor<[n, 4], f32>
    })mlir");
  std::string path = testing::TempDir() + "freestone_twice.stone";
  module.finish(path);
  Artifact artifact = Artifact::load(path);
  std::remove(path.c_str());
  Instance instance(artifact, 2);
  std::vector<float> x = ramp(20);
  instance.setInput(0, {x.data(), {5, 4}});
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), x);
  EXPECT_EQ(valuesOf<float>(instance.output(1)), x);
}

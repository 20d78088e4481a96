// From hand-written task.programs to runs of the artifact, through the runtime's public interface.
#include "test/artifact/CompileTasks.h"
#include "test/runtime/Models.h"

#include <cmath>
#include <cstring>

using namespace freestone;
using namespace freestone::test;

namespace {

/// Programs over f32 in tiles of 4 elements: twice (y = 2x), reverse (y = x from the end, plus w[0]), total (y[0] = sum
/// of x, one tile), wrap (y = x rem 3).
const char *const floatPrograms = R"mlir(
module @twice {
  func.func @twice(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %x = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %py = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %py : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %sizes : !llvm.ptr -> i64
    %c4 = arith.constant 4 : i64
    %c1 = arith.constant 1 : i64
    %first = arith.muli %begin, %c4 : i64
    %last = arith.muli %end, %c4 : i64
    %stop = arith.minsi %last, %n : i64
    scf.for %i = %first to %stop step %c1 : i64 {
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %px : !llvm.ptr -> f32
      %r = arith.addf %v, %v : f32
      %pr = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %r, %pr : f32, !llvm.ptr
    }
    return
  }
}
module @reverse {
  func.func @reverse(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %x = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %pw = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %w = llvm.load %pw : !llvm.ptr -> !llvm.ptr
    %py = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %py : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %sizes : !llvm.ptr -> i64
    %c4 = arith.constant 4 : i64
    %c1 = arith.constant 1 : i64
    %first = arith.muli %begin, %c4 : i64
    %last = arith.muli %end, %c4 : i64
    %stop = arith.minsi %last, %n : i64
    %shift = llvm.load %w : !llvm.ptr -> f32
    scf.for %i = %first to %stop step %c1 : i64 {
      %m = arith.subi %n, %c1 : i64
      %j = arith.subi %m, %i : i64
      %px = llvm.getelementptr %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %px : !llvm.ptr -> f32
      %r = arith.addf %v, %shift : f32
      %pr = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %r, %pr : f32, !llvm.ptr
    }
    return
  }
}
module @total {
  func.func @total(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %x = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %py = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %py : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %sizes : !llvm.ptr -> i64
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 : i64 {
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %px : !llvm.ptr -> f32
      %r = arith.addf %s, %v : f32
      scf.yield %r : f32
    }
    llvm.store %sum, %y : f32, !llvm.ptr
    return
  }
}
module @wrap {
  func.func @wrap(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %x = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %py = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %py : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : i64
    %c3 = arith.constant 3.0 : f32
    scf.for %i = %begin to %end step %c1 : i64 {
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %px : !llvm.ptr -> f32
      %r = arith.remf %v, %c3 : f32
      %pr = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %r, %pr : f32, !llvm.ptr
    }
    return
  }
}
)mlir";

/// y = reverse of 2x plus 100, z = total of y, q = y rem 3; m must equal n, which is checked.
const char *const floatTasks = R"mlir(
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100000]>, #task.symbol<"m" dim 1, 0 in [0, 100000]>]
    assert [[#sym.expr<m>, #sym.expr<n>, "dimension 0 of input 'mask'"]] {
  %x = task.buffer input "x" : !graph.tensor<[n], f32>
  %mask = task.buffer input "mask" : !graph.tensor<[m], f32>
  %w = task.buffer weight "shift" : !graph.tensor<[1], f32>
  %h = task.buffer arena : !graph.tensor<[n], f32>
  %g = task.buffer arena : !graph.tensor<[n], f32>
  %y = task.buffer output "y" : !graph.tensor<[n], f32>
  %z = task.buffer output "z" : !graph.tensor<[1], f32>
  %q = task.buffer output "q" : !graph.tensor<[n], f32>
  task.phase "twice" after all [] same [] {
    task.space @twice(%x) to (%h) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>)
  }
  task.phase "reverse" after all [] same [] {
    task.space @reverse(%h, %w) to (%g) sizes [n] tiles n ceildiv 4 scratch 64 reads [?, ?] writes [4] sites [] : (!graph.tensor<[n], f32>, !graph.tensor<[1], f32>) -> (!graph.tensor<[n], f32>)
  }
  task.phase "again" after all [] same [] {
    task.space @reverse(%g, %w) to (%y) sizes [n] tiles n ceildiv 4 scratch 4*n reads [?, ?] writes [4] sites [] : (!graph.tensor<[n], f32>, !graph.tensor<[1], f32>) -> (!graph.tensor<[n], f32>)
  }
  task.phase "total and wrap" after all [] same [] {
    task.space @total(%y) to (%z) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!graph.tensor<[n], f32>) -> (!graph.tensor<[1], f32>)
    task.space @wrap(%y) to (%q) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>)
  }
}
)mlir";

Weights shiftBy(float value) {
  std::vector<char> bytes(sizeof(value));
  memcpy(bytes.data(), &value, sizeof(value));
  return {{"shift", bytes}};
}

std::vector<uint8_t> packFloats() { return compileTasks(std::string(floatTasks) + floatPrograms, shiftBy(100)); }

TEST(EndToEnd, ComputesForEverySizeAndNumberOfWorkers) {
  Artifact artifact = loadBytes(packFloats());
  EXPECT_EQ(artifact.inputs()[0].shape, std::vector<std::string>{"n"});
  for (int threads : {1, 2, 3, 4}) {
    Instance instance(artifact, threads);
    for (int64_t n : {5, 1, 1000, 0, 7, 4099}) {
      std::vector<float> x = ramp(n), y, q;
      float z = 0;
      for (float value : x) {
        y.push_back(2 * value + 200);
        q.push_back(std::fmod(y.back(), 3.0f));
        z += y.back();
      }
      instance.setInput(0, viewOf(x));
      instance.setInput(1, viewOf(x));
      for (int run = 0; run < 3; ++run) {
        instance.run();
        ASSERT_EQ(valuesOf<float>(instance.output(0)), y) << n << " on " << threads;
        ASSERT_EQ(valuesOf<float>(instance.output(1)), std::vector<float>{z}) << n << " on " << threads;
        ASSERT_EQ(valuesOf<float>(instance.output(2)), q) << n << " on " << threads;
      }
    }
  }
}

TEST(EndToEnd, CompilesToTheSameBytes) { EXPECT_EQ(packFloats(), packFloats()); }

TEST(EndToEnd, ChecksSizesAtEntry) {
  Artifact artifact = loadBytes(packFloats());
  Instance instance(artifact, 1);
  std::vector<float> x = ramp(5), mask = ramp(6), tooLong = ramp(100001);
  instance.setInput(0, viewOf(x));
  instance.setInput(1, viewOf(mask));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }), "dimension 0 of input 'mask' is 6, but must be 5");
  instance.setInput(0, viewOf(tooLong));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "dimension 0 of input 'x', n, is 100001, but must be at most 100000");
}

TEST(EndToEnd, ChecksMultiplesAtEntry) {
  std::string text = std::string(floatTasks) + floatPrograms;
  text.replace(text.find("in [0, 100000]>"), 15, "in [0, 100000] multiple_of 8>");
  Artifact artifact = loadBytes(compileTasks(text, shiftBy(100)));
  Instance instance(artifact, 1);
  std::vector<float> good = ramp(16), wrong = ramp(12);
  instance.setInput(0, viewOf(good));
  instance.setInput(1, viewOf(good));
  instance.run();
  instance.setInput(0, viewOf(wrong));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "dimension 0 of input 'x', n, is 12, but must be a multiple of 8");
  freestone_symbol_info symbol = {};
  symbol.struct_size = sizeof(symbol);
  check(freestone_artifact_symbol(artifact.get(), 0, &symbol));
  EXPECT_EQ(symbol.multiple_of, 8);
}

TEST(EndToEnd, BindsSymbolsOfScaledDimensions) {
  std::string text = std::string(floatTasks) + floatPrograms;
  text.replace(text.find("in [0, 100000]>"), 15, "scale 4 in [1, 6] multiple_of 2>");
  Artifact artifact = loadBytes(compileTasks(text, shiftBy(100)));
  Instance instance(artifact, 1);
  auto errorOfSize = [&](int64_t size) {
    std::vector<float> x = ramp(size);
    instance.setInput(0, viewOf(x));
    instance.setInput(1, viewOf(x));
    return errorOf(FREESTONE_MISMATCH, [&] { instance.run(); });
  };
  EXPECT_EQ(errorOfSize(12), "dimension 0 of input 'x', 4*n, is 12, but must be a multiple of 8");
  EXPECT_EQ(errorOfSize(30), "dimension 0 of input 'x', 4*n, is 30, but must be at most 24");
  EXPECT_EQ(errorOfSize(3), "dimension 0 of input 'x', 4*n, is 3, but must be at least 4");
}

/// y[i] = table[index[i]], with a site's message for an index out of range; n rows of m columns.
const char *const lookup = R"mlir(
module attributes {task.sites = ["node 'other': never", "node '/embed/Gather': an index is out of range"]} {
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>, #task.symbol<"m" dim 1, 0 in [0, 1000]>] {
  %table = task.buffer input "table" : !graph.tensor<[n], f32>
  %index = task.buffer input "index" : !graph.tensor<[m], i64>
  %y = task.buffer output "y" : !graph.tensor<[m], f32>
  task.phase "/embed/Gather" after all [] same [] {
    task.space @lookup(%table, %index) to (%y) sizes [n, m] tiles m scratch 0 reads [?, 1] writes [1] sites [2] : (!graph.tensor<[n], f32>, !graph.tensor<[m], i64>) -> (!graph.tensor<[m], f32>)
  }
}
module @lookup {
  func.func @lookup(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %table = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %pi = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %index = llvm.load %pi : !llvm.ptr -> !llvm.ptr
    %py = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %py : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %sizes : !llvm.ptr -> i64
    %ps = llvm.getelementptr %sizes[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %site = llvm.load %ps : !llvm.ptr -> i64
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i64
    scf.for %i = %begin to %end step %c1 : i64 {
      %pj = llvm.getelementptr %index[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %j = llvm.load %pj : !llvm.ptr -> i64
      %inside = arith.cmpi ult, %j, %n : i64
      scf.if %inside {
        %px = llvm.getelementptr %table[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %px : !llvm.ptr -> f32
        %pr = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %pr : f32, !llvm.ptr
      } else {
        llvm.store %site, %scratch : i64, !llvm.ptr
      }
    }
    return
  }
}
}
)mlir";

TEST(EndToEnd, TellsTheMessageOfASite) {
  Artifact artifact = loadBytes(compileTasks(lookup));
  std::vector<float> table = {1, 2, 3};
  std::vector<int64_t> good = {2, 0, 1, 2, 2, 0}, bad = {0, 1, 2, 0, 1, 3};
  for (int threads : {1, 2, 4}) {
    Instance instance(artifact, threads);
    instance.setInput(0, viewOf(table));
    instance.setInput(1, viewOf(bad));
    EXPECT_EQ(errorOf(FREESTONE_RUN_FAILED, [&] { instance.run(); }), "node '/embed/Gather': an index is out of range");
    instance.setInput(1, viewOf(good));
    instance.run();
    EXPECT_EQ(valuesOf<float>(instance.output(0)), (std::vector<float>{3, 1, 2, 3, 3, 1}));
  }
}

/// The dimensions a*b of y are elements of `shape`: y[i] = x[i mod n] in rows of b.
const char *const shaped = R"mlir(
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [1, 1000]>, #task.symbol<"a" element 1, 0 in [0, 1000]>, #task.symbol<"b" element 1, 1 in [0, 1000]>]
    assert [[#sym.expr<a*b>, #sym.expr<n>, "the number of elements of 'y'"]] {
  %x = task.buffer input "x" : !graph.tensor<[n], f32>
  %shape = task.buffer input "shape" : !graph.tensor<[2], i64>
  %y = task.buffer output "y" : !graph.tensor<[a, b], f32>
  task.phase "twice" after all [] same [] {
    task.space @twice(%x) to (%y) sizes [a*b] tiles a*b ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!graph.tensor<[n], f32>) -> (!graph.tensor<[a, b], f32>)
  }
}
)mlir";

TEST(EndToEnd, BindsSizesFromElementsOfInputs) {
  Artifact artifact = loadBytes(compileTasks(std::string(shaped) + floatPrograms));
  Instance instance(artifact, 2);
  std::vector<float> x = ramp(12);
  instance.setInput(0, viewOf(x));
  for (std::vector<int64_t> shape : {std::vector<int64_t>{3, 4}, {12, 1}, {2, 6}}) {
    instance.setInput(1, viewOf(shape));
    instance.run();
    EXPECT_EQ(instance.output(0).shape(), shape);
    EXPECT_EQ(valuesOf<float>(instance.output(0))[11], 24);
  }
  std::vector<int64_t> wrong = {3, 5}, huge = {1000, 1001};
  instance.setInput(1, viewOf(wrong));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "the number of elements of 'y' is 15, but must be 12");
  instance.setInput(1, viewOf(huge));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "element 1 of input 'shape', b, is 1001, but must be at most 1000");
}

/// positions = indices with x > 0, a size determined at run time; doubled = 2*positions.
const char *const positives = R"mlir(
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>, #task.symbol<"k" runtime 1, 0 in [0, 1000] bound #sym.expr<n>>] {
  %x = task.buffer input "x" : !graph.tensor<[n], f32>
  %count = task.buffer arena : !graph.tensor<[1], i64>
  %positions = task.buffer output "positions" : !graph.tensor<[k], i64>
  %doubled = task.buffer output "doubled" : !graph.tensor<[2*k], i64>
  task.phase "find" after all [] same [] binds "k" {
    task.space @find(%x) to (%positions, %count) sizes [n] tiles 1 scratch 0 reads [?] writes [?, ?] sites [] : (!graph.tensor<[n], f32>) -> (!graph.tensor<[k], i64>, !graph.tensor<[1], i64>)
  }
  task.phase "double" after all [] same [] {
    task.space @double(%positions) to (%doubled) sizes [k] tiles k scratch 0 reads [1] writes [2] sites [] : (!graph.tensor<[k], i64>) -> (!graph.tensor<[2*k], i64>)
  }
}
module @find {
  func.func @find(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %x = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %pp = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %p = llvm.load %pp : !llvm.ptr -> !llvm.ptr
    %pc = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %c = llvm.load %pc : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %sizes : !llvm.ptr -> i64
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %zero = arith.constant 0.0 : f32
    %count = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> i64 : i64 {
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %px : !llvm.ptr -> f32
      %positive = arith.cmpf ogt, %v, %zero : f32
      %next = scf.if %positive -> i64 {
        %pr = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %i, %pr : i64, !llvm.ptr
        %more = arith.addi %k, %c1 : i64
        scf.yield %more : i64
      } else {
        scf.yield %k : i64
      }
      scf.yield %next : i64
    }
    llvm.store %count, %c : i64, !llvm.ptr
    return
  }
}
module @double {
  func.func @double(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
    %p = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %pd = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %d = llvm.load %pd : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i64
    scf.for %i = %begin to %end step %c1 : i64 {
      %px = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %v = llvm.load %px : !llvm.ptr -> i64
      %j = arith.muli %i, %c2 : i64
      %l = arith.addi %j, %c1 : i64
      %p0 = llvm.getelementptr %d[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %v, %p0 : i64, !llvm.ptr
      %p1 = llvm.getelementptr %d[%l] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %v, %p1 : i64, !llvm.ptr
    }
    return
  }
}
)mlir";

/// A phase without tiles binds its size to the lower bound.
TEST(EndToEnd, BindsASizeWithoutATile) {
  std::string text = positives;
  text.replace(text.find("tiles 1 scratch"), 7, "tiles n floordiv 2");
  Artifact artifact = loadBytes(compileTasks(text));
  for (int threads : {1, 3}) {
    Instance instance(artifact, threads);
    std::vector<float> two = {1, 2}, one = {1};
    for (const std::vector<float> &x : {two, one, two}) {
      instance.setInput(0, viewOf(x));
      instance.run();
      std::vector<int64_t> found = x.size() == 2 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>();
      EXPECT_EQ(valuesOf<int64_t>(instance.output(0)), found);
    }
  }
}

TEST(EndToEnd, BindsASizeWhileItRuns) {
  Artifact artifact = loadBytes(compileTasks(positives));
  for (int threads : {1, 2, 4}) {
    Instance instance(artifact, threads);
    for (std::vector<float> x : {std::vector<float>{1, -1, 0, 3, -2, 5}, {-1, -2, -3}, {}, {1, 2}}) {
      std::vector<int64_t> positions, doubled;
      for (size_t i = 0; i < x.size(); ++i) {
        if (x[i] <= 0)
          continue;
        positions.push_back(i);
        doubled.insert(doubled.end(), {static_cast<int64_t>(i), static_cast<int64_t>(i)});
      }
      instance.setInput(0, viewOf(x));
      for (int run = 0; run < 2; ++run) {
        instance.run();
        EXPECT_EQ(valuesOf<int64_t>(instance.output(0)), positions);
        EXPECT_EQ(valuesOf<int64_t>(instance.output(1)), doubled);
      }
    }
  }
}

} // namespace

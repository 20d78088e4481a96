#include "test/runtime/Models.h"

#include <cstdlib>
#include <optional>
#include <thread>

using namespace freestone;
using namespace freestone::test;

TEST(Output, GoesIntoTheCallersMemory) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 2);
  std::vector<float> x = ramp(9), y(9), wrong(8);
  instance.setInput(0, viewOf(x));
  instance.setOutput(0, viewOf(y));
  instance.run();
  EXPECT_EQ(y, reversed(x));
  EXPECT_EQ(instance.output(0).data<float>(), y.data());

  instance.setOutput(0, viewOf(wrong));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }), "dimension 0 of output 'y' must be n = 9, but is 8");
  instance.setOutput(0, viewOf(x));
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.run(); }), "output 'y' overlaps input 'x'");
  check(freestone_instance_set_output(instance.get(), 0, nullptr));
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
}

TEST(Output, SharesNoMemoryWithAnotherOutput) {
  Instance instance(loadNonzero(), 1);
  std::vector<float> x = {0, 3, 0, 5};
  std::vector<int64_t> memory(8);
  auto viewFrom = [&](size_t begin, int64_t count) { return TensorRef(memory.data() + begin, {count}); };
  instance.setInput(0, viewOf(x));
  instance.setOutput(0, viewFrom(0, 4));
  for (size_t begin : {0, 1, 3}) {
    instance.setOutput(1, viewFrom(begin, 4));
    EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.run(); }),
              "output 'doubles' overlaps output 'positions'");
    EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { check(freestone_instance_prepare(instance.get())); }),
              "output 'doubles' overlaps output 'positions'");
    EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.submit(); }),
              "output 'doubles' overlaps output 'positions'");
  }
  instance.setOutput(1, viewFrom(4, 4));
  instance.run();
  EXPECT_EQ(memory, (std::vector<int64_t>{1, 3, 0, 0, 2, 6, 0, 0}));

  // An empty tensor overlaps nothing, wherever it is.
  instance.setInput(0, {memory.data(), {kDLFloat, 32, 1}, {0}});
  instance.setOutput(0, viewFrom(2, 0));
  instance.setOutput(1, viewFrom(2, 0));
  instance.run();
}

// A view of an output is valid until the next run, so its memory can't be an input or output of that run.
TEST(Output, IsNoMemoryOfTheNextRun) {
  Instance instance(loadReverse(), 1);
  std::vector<float> x = ramp(64);
  instance.setInput(0, viewOf(x));
  instance.run();
  DLTensor view;
  check(freestone_instance_output(instance.get(), 0, &view));
  TensorRef last(static_cast<float *>(view.data), {64});
  instance.setInput(0, last);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.run(); }),
            "input 'x' overlaps the memory of output 'y', which the runtime uses again; take the output to keep it");
  instance.setInput(0, viewOf(x));
  instance.setOutput(0, last);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.run(); }),
            "output 'y' overlaps the memory of output 'y', which the runtime uses again; take the output to keep it");
  check(freestone_instance_set_output(instance.get(), 0, nullptr));
  instance.run();
  Tensor taken = instance.output(0);
  instance.setInput(0, {taken.data<float>(), {64}});
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(reversed(x)));
}

TEST(Output, LivesAsLongAsItsTaker) {
  Artifact artifact = loadReverse();
  std::optional<Tensor> kept;
  std::vector<float> x = ramp(100), other(100, 0.0f);
  {
    Instance instance(artifact, 2);
    instance.setInput(0, viewOf(x));
    instance.run();
    kept.emplace(instance.output(0));
    instance.setInput(0, viewOf(other));
    instance.run(); // must not write to the memory of `kept`
    EXPECT_NE(instance.output(0).data<float>(), kept->data<float>());
  }
  EXPECT_EQ(valuesOf<float>(*kept), reversed(x));
  std::thread([&] { kept.reset(); }).join();
}

TEST(Output, MemoryIsReusedOnceItsTakerIsDone) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 1);
  std::vector<float> x = ramp(100);
  instance.setInput(0, viewOf(x));
  instance.run();
  const float *first = instance.output(0).data<float>();
  instance.run();
  EXPECT_EQ(instance.output(0).data<float>(), first);
  EXPECT_EQ(countersOf(instance).allocations, 2u); // arena and output
}

TEST(Output, BorrowedViews) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 1);
  std::vector<float> x = ramp(6);
  instance.setInput(0, viewOf(x));
  instance.run();
  DLTensor view;
  check(freestone_instance_output(instance.get(), 0, &view));
  EXPECT_EQ(view.ndim, 1);
  EXPECT_EQ(view.shape[0], 6);
  EXPECT_EQ(view.dtype.bits, 32);
  EXPECT_EQ(static_cast<float *>(view.data)[0], reversed(x)[0]);
}

TEST(Output, MemoryComesFromTheApplication) {
  struct Heap {
    size_t held = 0, blocks = 0;
  } heap;
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 2;
  options.user = &heap;
  options.allocate = [](void *user, size_t bytes, size_t alignment) -> void * {
    auto *heap = static_cast<Heap *>(user);
    heap->held += bytes;
    ++heap->blocks;
    return std::aligned_alloc(alignment, bytes);
  };
  options.deallocate = [](void *user, void *memory, size_t bytes, size_t) {
    static_cast<Heap *>(user)->held -= bytes;
    std::free(memory);
  };
  Artifact artifact = loadReverse();
  {
    Instance instance(artifact, options);
    std::vector<float> x = ramp(10000);
    instance.setInput(0, viewOf(x));
    instance.run();
    EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
    EXPECT_GE(heap.held, 80000u);
    EXPECT_EQ(heap.blocks, 2u);
  }
  EXPECT_EQ(heap.held, 0u);
}

TEST(Output, MemoryHasALimit) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 1;
  options.max_memory = 100000;
  Artifact artifact = loadReverse();
  Instance instance(artifact, options);
  std::vector<float> large = ramp(1 << 20), small = ramp(1000);
  instance.setInput(0, viewOf(large));
  std::string message = errorOf(FREESTONE_OUT_OF_MEMORY, [&] { instance.run(); });
  EXPECT_NE(message.find("max_memory is 100000"), std::string::npos) << message;
  instance.setInput(0, viewOf(small));
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(small));
}

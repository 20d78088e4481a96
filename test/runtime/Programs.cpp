#include "test/runtime/Programs.h"

#include "runtime/artifact/abi.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace freestone;
using namespace freestone::runtime;

std::vector<uint8_t> test::codeOf(const std::string &program) {
  std::string path = FREESTONE_TEST_PROGRAMS "/" + program + ".so";
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.empty()) {
    std::fprintf(stderr, "can't read %s\n", path.c_str());
    std::abort();
  }
  return bytes;
}

static Descriptor describe(const std::string &name, Entry main) {
  Descriptor descriptor;
  descriptor.abi = FREESTONE_ABI_VERSION;
  descriptor.producer = "the runtime's tests";
  descriptor.modelName = name;
  descriptor.target = {"x86_64", "x86-64", {"sse2"}};
  descriptor.segments = {"main"};
  main.name = "main";
  descriptor.entries.push_back(std::move(main));
  return descriptor;
}

static Symbol dimSymbol(const std::string &name, int64_t input, int64_t index, int64_t upper = 1 << 20) {
  return {name, 0, upper, SymbolSource::InputDim, input, index, -1};
}

static Buffer bufferOf(BufferKind kind, int64_t bytesSlot) {
  Buffer buffer;
  buffer.kind = kind;
  buffer.bytesSlot = bytesSlot;
  return buffer;
}

Descriptor test::describeReverse() {
  Entry main;
  main.symbols = {dimSymbol("n", 0, 0)};
  main.slotCount = 5;
  main.inputs = {{"x", DType::f32, ValueKind::Tensor, {"n"}, {0}, 0}};
  main.outputs = {{"y", DType::f32, ValueKind::Tensor, {"n"}, {0}, 3}};
  main.buffers = {bufferOf(BufferKind::Input, 1), bufferOf(BufferKind::Weight, 2), bufferOf(BufferKind::Arena, 1),
                  bufferOf(BufferKind::Output, 1)};
  main.buffers[1].weight = 0;
  main.buffers[2].freed = main.buffers[2].released = 2;
  main.phases = {{"twice", "p0", {0, 2}}, {"reverse", "p1", {2, 1, 3}}};
  main.scratchSlot = 3;
  Descriptor descriptor = describe("reverse", main);

  Entry init;
  init.name = "init";
  init.slotCount = 3;
  init.inputs = {{"plain", DType::f32, ValueKind::Tensor, {"4"}, {2}, 0}};
  init.outputs = {{"packed", DType::f32, ValueKind::Tensor, {"4"}, {2}, 1}};
  init.buffers = {bufferOf(BufferKind::Input, 0), bufferOf(BufferKind::Output, 0)};
  init.phases = {{"pack", "p2", {0, 1}}};
  init.scratchSlot = 1;
  descriptor.entries.push_back(init);
  descriptor.weights = {{"packed", DType::f32, {4}, 16, -1, {}}};
  return descriptor;
}

Descriptor test::describeLookup() {
  Entry main;
  main.symbols = {dimSymbol("n", 0, 0), dimSymbol("m", 1, 0, 1000)};
  main.slotCount = 6;
  main.inputs = {{"table", DType::f32, ValueKind::Tensor, {"n"}, {0}, 0},
                 {"index", DType::i64, ValueKind::Tensor, {"m"}, {1}, 1}};
  main.outputs = {{"y", DType::f32, ValueKind::Tensor, {"m"}, {1}, 2}};
  main.buffers = {bufferOf(BufferKind::Input, 2), bufferOf(BufferKind::Input, 3), bufferOf(BufferKind::Output, 4)};
  main.assertions = {{1, Assertion::Relation::LessEqual, 0, -1, "the length of 'index'"}};
  main.phases = {{"lookup", "p0", {0, 1, 2}}};
  main.scratchSlot = 5;
  Descriptor descriptor = describe("lookup", main);
  descriptor.sites = {"program 'p0', node '/embed/Gather': an index is out of range"};
  return descriptor;
}

Descriptor test::describePhases() {
  Entry main;
  main.symbols = {{"count", 0, 10000, SymbolSource::InputElement, 0, 0, -1}};
  main.slotCount = 6;
  main.inputs = {{"count", DType::i64, ValueKind::Tensor, {"1"}, {4}, 0},
                 {"failing", DType::i64, ValueKind::Tensor, {"1"}, {4}, 1}};
  main.outputs = {{"y", DType::i64, ValueKind::Tensor, {"64"}, {5}, 2}};
  main.buffers = {bufferOf(BufferKind::Input, 1), bufferOf(BufferKind::Input, 1), bufferOf(BufferKind::Output, 2)};
  for (int number = 0; number < 10000; ++number) // spaces the progress numbers of consecutive runs
    main.phases.push_back({"phase " + std::to_string(number), "p0", {}});
  main.scratchSlot = 3;
  return describe("phases", main);
}

Descriptor test::describeNonzero() {
  Entry main;
  main.symbols = {dimSymbol("n", 0, 0), {"k", 0, INT64_MAX, SymbolSource::RunTime, -1, -1, 0}};
  main.slotCount = 5;
  main.inputs = {{"x", DType::f32, ValueKind::Tensor, {"n"}, {0}, 0}};
  main.outputs = {{"positions", DType::i64, ValueKind::Tensor, {"k"}, {1}, 1},
                  {"doubles", DType::i64, ValueKind::Tensor, {"k"}, {1}, 2}};
  main.buffers = {bufferOf(BufferKind::Input, 2), bufferOf(BufferKind::Output, 3), bufferOf(BufferKind::Output, 3)};
  main.phases = {{"find", "p0", {0, 1}}, {"double", "p1", {1, 2}}};
  main.scratchSlot = 4;
  return describe("nonzero", main);
}

Descriptor test::describeLoops() {
  auto tensor = [](const char *name, const char *size, int64_t dimSlot, int64_t buffer) {
    return TensorInfo{name, DType::i64, ValueKind::Tensor, {size}, {dimSlot}, buffer};
  };
  Entry main;
  main.symbols = {dimSymbol("n", 0, 0), {"k", 0, INT64_MAX, SymbolSource::RunTime, -1, -1, 0}};
  main.slotCount = 10;
  main.inputs = {tensor("x", "n", 0, 0), tensor("limit", "1", 4, 1)};
  main.outputs = {tensor("y", "n", 0, 2), tensor("sums", "n", 0, 3), tensor("trips", "2", 5, 4)};
  main.buffers = {bufferOf(BufferKind::Input, 2),  bufferOf(BufferKind::Input, 6),  bufferOf(BufferKind::Output, 2),
                  bufferOf(BufferKind::Output, 2), bufferOf(BufferKind::Output, 7), bufferOf(BufferKind::Arena, 3),
                  bufferOf(BufferKind::Arena, 2),  bufferOf(BufferKind::Arena, 6)};
  for (int64_t buffer : {5, 6, 7})
    main.buffers[buffer].freed = main.buffers[buffer].released = 7;
  const Space each = {0, 9, 0}, some = {1, 9, 1}, one = {4, 9, 2, Space::Dealing::Evenly};
  constexpr auto together = Phase::Begin::Together;
  main.phases = {{"begin", "p0", {0, 3, 5}, {each}},
                 {"mix", "p1", {5, 7}, {each}, {}, 0, {}, together},
                 {"left", "p2", {5}, {each}, {1}, -1, {}, together},
                 {"right", "p3", {5}, {each}, {1}, -1, {}, together},
                 {"find", "p4", {5, 6}, {one}, {}, 3, {}, together},
                 {"add", "p5", {3, 5, 6, 7}, {some}, {4}},
                 {"end", "p6", {2, 4, 5}, {each}, {}, 5, {}, together}};
  main.dealCount = 3;
  main.scratchSlot = 8;
  return describe("loops", main);
}

Descriptor test::describeTwice() {
  Entry main;
  main.symbols = {dimSymbol("n", 0, 0, 8), dimSymbol("m", 0, 1), dimSymbol("p", 1, 0, 1)};
  main.slotCount = 9;
  TensorInfo x = {"x", DType::f32, ValueKind::OptionalSequence, {"n", "m", "2"}, {0, 1, 7}, 0, {0}, {""}, 2, 3};
  TensorInfo y = {"y", DType::f32, ValueKind::OptionalSequence, {"n", "m", "2"}, {0, 1, 7}, 4, {0}, {""}, 1, 2};
  main.inputs = {x,
                 {"bias", DType::f32, ValueKind::Optional, {"p"}, {2}, 1},
                 {"sizes of x", DType::i64, ValueKind::Part, {"n", "1"}, {0, 6}, 2},
                 {"presence of x", DType::i1, ValueKind::Part, {}, {}, 3}};
  main.outputs = {y,
                  {"sizes of y", DType::i64, ValueKind::Part, {"n", "1"}, {0, 6}, 5},
                  {"presence of y", DType::i1, ValueKind::Part, {}, {}, 6}};
  for (int64_t bytes : {3, 4, 5, 6})
    main.buffers.push_back(bufferOf(BufferKind::Input, bytes));
  for (int64_t bytes : {3, 5, 6})
    main.buffers.push_back(bufferOf(BufferKind::Output, bytes));
  main.phases = {{"twice", "p0", {0, 1, 2, 3, 4, 5, 6}}};
  main.scratchSlot = 8;
  return describe("twice", main);
}

Descriptor test::describeTrain() {
  Entry main;
  main.slotCount = 4;
  main.inputs = {{"x", DType::f32, ValueKind::Tensor, {"4"}, {3}, 0}};
  main.outputs = {{"y", DType::f32, ValueKind::Tensor, {"4"}, {3}, 3}};
  main.buffers = {bufferOf(BufferKind::Input, 0), bufferOf(BufferKind::State, 0), bufferOf(BufferKind::State, 1),
                  bufferOf(BufferKind::Output, 0)};
  main.buffers[1].state = 0;
  main.buffers[2].state = 1;
  main.phases = {{"step", "p0", {0, 1, 2}}, {"copy", "p1", {1, 3}}};
  main.scratchSlot = 2;
  Descriptor descriptor = describe("train", main);

  Entry evaluate;
  evaluate.name = "evaluate";
  evaluate.slotCount = 4;
  evaluate.outputs = {{"y", DType::f32, ValueKind::Tensor, {"4"}, {3}, 1}};
  evaluate.buffers = {bufferOf(BufferKind::State, 0), bufferOf(BufferKind::Output, 0)};
  evaluate.buffers[0].state = 0;
  evaluate.phases = {{"copy", "p1", {0, 1}}};
  evaluate.scratchSlot = 2;
  descriptor.entries.push_back(evaluate);
  descriptor.weights = {{"start", DType::f32, {4}, 16, -1, {}}};
  descriptor.states = {{"fc.weight", DType::f32, {2, 2}, 16, 0}, {"steps", DType::i64, {}, 8, -1}};
  return descriptor;
}

Descriptor test::describeLearn() {
  auto tensor = [](const char *name, DType dtype, int64_t buffer, bool isScalar = true) {
    TensorInfo info = {name, dtype, ValueKind::Tensor, {}, {}, buffer};
    if (!isScalar)
      info.shape = {"b"}, info.dimSlots = {0};
    return info;
  };
  TensorInfo x = {"x", DType::f32, ValueKind::Tensor, {"b", "4"}, {0, 8}, 0};
  auto state = [](int64_t number, int64_t bytesSlot) {
    Buffer buffer = bufferOf(BufferKind::State, bytesSlot);
    buffer.state = number;
    return buffer;
  };
  Entry main;
  main.symbols = {dimSymbol("b", 0, 0)};
  main.slotCount = 9;
  main.inputs = {x, tensor("y", DType::f32, 1, false), tensor("learning_rate", DType::f64, 2)};
  main.outputs = {tensor("loss", DType::f32, 6), tensor("gradient_norm", DType::f32, 7),
                  tensor("skipped", DType::i64, 8)};
  main.buffers = {bufferOf(BufferKind::Input, 1),
                  bufferOf(BufferKind::Input, 2),
                  bufferOf(BufferKind::Input, 3),
                  state(0, 5),
                  state(1, 3),
                  bufferOf(BufferKind::Arena, 6),
                  bufferOf(BufferKind::Output, 4),
                  bufferOf(BufferKind::Output, 4),
                  bufferOf(BufferKind::Output, 3)};
  main.buffers[5].freed = main.buffers[5].released = 2;
  main.phases = {{"gradient", "p0", {0, 1, 3, 5}}, {"update", "p1", {2, 3, 4, 5, 6, 7, 8}}};
  main.scratchSlot = 7;
  Descriptor descriptor = describe("learn", main);

  Entry evaluate = main;
  evaluate.name = "evaluate";
  evaluate.inputs.pop_back();
  evaluate.outputs = {tensor("loss_sum", DType::f32, 3), tensor("count", DType::i64, 4)};
  evaluate.buffers = {bufferOf(BufferKind::Input, 1), bufferOf(BufferKind::Input, 2), state(0, 5),
                      bufferOf(BufferKind::Output, 4), bufferOf(BufferKind::Output, 3)};
  evaluate.phases = {{"squares", "p2", {0, 1, 2, 3, 4}}};
  descriptor.entries.push_back(evaluate);
  descriptor.states = {{"w", DType::f32, {4}, 16, -1}, {"optimizer/step", DType::i64, {}, 8, -1}};
  return descriptor;
}

std::vector<uint8_t> test::packTrain(bool withWeights, Panels panels) {
  static const float start[4] = {1, 2, 3, 4};
  const void *weights[] = {withWeights ? start : nullptr};
  Descriptor descriptor = describeTrain();
  descriptor.states[0].panelAxis = panels.axis;
  descriptor.states[0].panelWidth = panels.width;
  return std::move(*packArtifact(codeOf("Train"), descriptor, weights));
}

std::vector<uint8_t> test::packProgram(const std::string &program, const Descriptor &descriptor) {
  std::vector<const void *> weights(descriptor.weights.size(), nullptr);
  return std::move(*packArtifact(codeOf(program), descriptor, weights));
}

std::vector<uint8_t> test::packReverse(bool withWeights) {
  static const float packed[4] = {10, 20, 30, 40};
  const void *weights[] = {withWeights ? packed : nullptr};
  return std::move(*packArtifact(codeOf("Reverse"), describeReverse(), weights));
}

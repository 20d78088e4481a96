#include "test/distributed/StagePipeline.h"

#include "runtime/artifact/abi.h"
#include "test/runtime/Programs.h"
#include <cstring>
#include <nlohmann/json.hpp>

using namespace freestone;
using namespace freestone::runtime;
using Json = nlohmann::json;

namespace {

/// Slots of Stage.c.
enum {
  samplesSlot,
  inputBytes,
  activationBytes,
  floatBytes,
  wordBytes,
  aboutBytes,
  weightBytes,
  scratch,
  zero,
  width,
  aboutSize,
  two,
  layerBytes,
  layerFloats
};
constexpr int64_t layerSize = 1 << 16;
/// The first state of layers.
constexpr int64_t layerState = 4;

/// Builds an entry from its buffers, of which the first ones are states.
struct EntryBuilder {
  EntryBuilder(const std::string &name, std::vector<int64_t> states, bool hasSizes) {
    entry.name = name;
    entry.slotCount = layerFloats + 1;
    entry.scratchSlot = scratch;
    constexpr int64_t bytes[] = {aboutBytes, weightBytes, weightBytes, wordBytes};
    for (int64_t state : states) {
      Buffer buffer;
      buffer.kind = BufferKind::State;
      buffer.state = state;
      buffer.bytesSlot = bytes[state];
      entry.buffers.push_back(buffer);
    }
    if (!hasSizes)
      return;
    entry.symbols = {{"n", 0, 1 << 20, SymbolSource::InputDim, 0, 0, -1}};
    add(entry.inputs, "pipe/sizes", DType::i8, {samplesSlot, zero}, zero);
  }

  EntryBuilder &input(const std::string &name, int64_t bytes, DType type = DType::f32) {
    return add(entry.inputs, name, type, shapeOf(bytes), bytes);
  }
  EntryBuilder &output(const std::string &name, int64_t bytes, DType type = DType::f32) {
    return add(entry.outputs, name, type, shapeOf(bytes), bytes);
  }
  /// In one phase with all the rest; or in a phase for each.
  EntryBuilder &layers(int count, bool areApart) {
    others = std::ssize(entry.buffers);
    for (int64_t layer = 0; layer < count; ++layer) {
      Buffer &buffer = entry.buffers.emplace_back();
      buffer.kind = BufferKind::State;
      buffer.state = layerState + layer;
      buffer.bytesSlot = layerBytes;
    }
    phases = areApart ? count : 0;
    return *this;
  }
  Entry done() {
    Phase phase;
    phase.label = phase.program = entry.name;
    auto end = std::ssize(entry.buffers);
    for (int64_t buffer = 0; buffer < (phases > 0 ? others : end); ++buffer)
      phase.buffers.push_back(buffer);
    entry.phases.resize(std::max(phases, 1), phase);
    for (int64_t number = 0; number < phases; ++number) {
      if (number > 0)
        entry.phases[number].buffers.clear();
      entry.phases[number].buffers.push_back(end - 1 - number);
    }
    return std::move(entry);
  }

private:
  static std::vector<int64_t> shapeOf(int64_t bytes) {
    if (bytes == activationBytes)
      return {samplesSlot, width};
    return bytes == inputBytes ? std::vector<int64_t>{samplesSlot} : std::vector<int64_t>{};
  }
  EntryBuilder &add(std::vector<TensorInfo> &values, const std::string &name, DType type,
                    const std::vector<int64_t> &slots, int64_t bytes) {
    Buffer buffer;
    buffer.kind = &values == &entry.inputs ? BufferKind::Input : BufferKind::Output;
    buffer.bytesSlot = bytes;
    TensorInfo info = {name, type, ValueKind::Tensor, {}, slots, std::ssize(entry.buffers)};
    for (int64_t slot : slots)
      info.shape.push_back(slot == samplesSlot ? "n" : slot == width ? "256" : "0");
    values.push_back(info);
    entry.buffers.push_back(buffer);
    return *this;
  }

  Entry entry;
  int64_t others = 0; ///< buffers before those of layers
  int phases = 0;     ///< of layers
};

std::string valueOf(const char *kind, size_t stage) { return std::string(kind) + "/" + std::to_string(stage); }

Descriptor describe(size_t stage, size_t stages, int layers) {
  bool isFirst = stage == 0, isLast = stage + 1 == stages;
  std::string kept = valueOf("kept", stage), made = valueOf(isLast ? "result" : "activations", stage),
              back = isLast ? made : valueOf("gradient", stage + 1), gradient = valueOf("gradient", stage);
  const std::vector<int64_t> usual = {0, 1, 2};
  Descriptor descriptor;
  descriptor.abi = FREESTONE_ABI_VERSION;
  descriptor.producer = "the tests of pipelines";
  descriptor.modelName = "stage";
  descriptor.target = {"x86_64", "x86-64", {"sse2"}};
  descriptor.segments = {"main"};
  EntryBuilder forward("main", usual, true);
  forward.input(isFirst ? "x" : valueOf("activations", stage - 1), isFirst ? inputBytes : activationBytes);
  descriptor.entries = {
      forward.output(made, activationBytes).output(kept, activationBytes).done(),
      EntryBuilder("backward", usual, true)
          .input(kept, activationBytes)
          .input(back, activationBytes)
          .output(gradient, activationBytes)
          .layers(layers, /*areApart=*/true)
          .done(),
      EntryBuilder("input_gradient", usual, true).input(back, activationBytes).output(gradient, activationBytes).done(),
      EntryBuilder("weight_gradient", usual, true)
          .input(kept, activationBytes)
          .input(back, activationBytes)
          .layers(layers, /*areApart=*/true)
          .done(),
      EntryBuilder("norms", usual, false)
          .output(valueOf("norm", stage), floatBytes)
          .layers(layers, /*areApart=*/false)
          .done()};
  EntryBuilder update("update", {0, 1, 2, 3}, false);
  update.input("learning_rate", wordBytes, DType::f64);
  for (size_t other = 0; other < stages; ++other)
    update.input(valueOf("norm", other), floatBytes);
  update.output("loss", floatBytes).output("gradient_norm", floatBytes).output("skipped", wordBytes, DType::i64);
  descriptor.entries.push_back(update.layers(layers, /*areApart=*/false).done());
  descriptor.states = {{"about", DType::i64, {16}, 128, 0},
                       {valueOf("weight", stage), DType::f32, {2}, 8, 1},
                       {valueOf("accumulated/sum", stage), DType::f32, {2}, 8, -1},
                       {"optimizer/step", DType::i64, {}, 8, -1}};
  for (int layer = 0; layer < layers; ++layer)
    descriptor.states.push_back({valueOf("accumulated/layer", stage) + "/" + std::to_string(layer),
                                 DType::f32,
                                 {layerSize},
                                 4 * layerSize,
                                 -1});
  descriptor.weights = {{"first/about", DType::i64, {16}, 128, -1, {}}, {"first/weight", DType::f32, {2}, 8, -1, {}}};
  return descriptor;
}

Json describePipeline(size_t stages, bool isSplit) {
  const char *inputs = isSplit ? "input_gradient" : "backward", *weights = isSplit ? "weight_gradient" : "backward";
  Json values = Json::object();
  for (size_t stage = 0; stage < stages; ++stage) {
    bool isLast = stage + 1 == stages;
    Json readers = {{stage, inputs}};
    if (isSplit)
      readers.push_back({stage, weights});
    values[valueOf("kept", stage)] = {{"from", {stage, "forward"}}, {"to", Json::array({{stage, weights}})}};
    if (isLast)
      values[valueOf("result", stage)] = {{"from", {stage, "forward"}}, {"to", readers}};
    else
      values[valueOf("activations", stage)] = {{"from", {stage, "forward"}},
                                               {"to", Json::array({{stage + 1, "forward"}})}};
    if (!isLast)
      values[valueOf("gradient", stage + 1)] = {{"from", {stage + 1, inputs}}, {"to", readers}};
    Json updates = Json::array();
    for (size_t other = 0; other < stages; ++other)
      updates.push_back({other, "update"});
    values[valueOf("norm", stage)] = {{"from", {stage, "norms"}}, {"to", updates}};
  }
  Json input = {{"name", "x"}, {"type", "f32"}, {"shape", Json::array({"n"})}};
  return {{"stages", stages},
          {"symbols", Json::array({"n"})},
          {"inputs", Json::array({input})},
          {"values", values},
          {"shared", Json::array()}};
}

} // namespace

distributed::StageCost test::StageTimes::cost(bool isSplit) const {
  auto seconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; };
  return {seconds(forward), seconds(isSplit ? inputGradient : backward), isSplit ? seconds(weightGradient) : 0, 0,
          seconds(update)};
}

test::StagePipeline::StagePipeline(const std::vector<StageTimes> &times, bool isSplit, int layers) {
  std::vector<uint8_t> code = codeOf("Stage");
  std::string pipeline = describePipeline(times.size(), isSplit).dump();
  for (size_t stage = 0; stage < times.size(); ++stage) {
    Descriptor descriptor = describe(stage, times.size(), layers);
    const StageTimes &own = times[stage];
    const int64_t first[16] = {own.forward,
                               own.backward,
                               own.inputGradient,
                               own.weightGradient,
                               own.norms,
                               own.update,
                               0,
                               0,
                               std::ssize(times),
                               stage == 0,
                               layers};
    const float weight[2] = {1 - 0.01f * static_cast<float>(stage), 0.125f};
    std::vector<const void *> weights = {first, weight};
    for (const char *name : {"pipeline.json", "training.json", "model.onnx"}) {
      auto size = static_cast<int64_t>(pipeline.size());
      descriptor.weights.push_back({std::string(attachmentPrefix) + name, DType::u8, {size}, size, -1, {}});
      weights.push_back(pipeline.data());
    }
    std::vector<uint8_t> bytes = *packArtifact(code, descriptor, weights);
    artifacts.push_back(Artifact::loadMemory(bytes.data(), bytes.size()));
    train::ParameterInfo &weightInfo = about.parameters.emplace_back();
    weightInfo.name = valueOf("weight", stage);
    weightInfo.shape = {2};
    weightInfo.trained = true;
  }
  about.hyperparameters = {{"learning_rate", 0.1}};
}

test::StageTraining::StageTraining(const StagePipeline &stages, const distributed::PipelineOptions &options,
                                   distributed::Disturbance disturbance)
    : ranks(stages.artifacts, stages.about, options, {}, std::move(disturbance)),
      made(std::make_unique<distributed::PipelineTrainer>(stages.artifacts, stages.about, options, ranks.courier())) {
  data.resize(made->stepsUnderWay() + 1);
}

std::vector<float> test::samplesOf(int64_t step, int64_t samples) {
  std::vector<float> x(samples);
  for (int64_t i = 0; i < samples; ++i)
    x[i] = static_cast<float>((step * 31 + i * 17) % 101) / 101 - 0.5f;
  return x;
}

void test::StageTraining::step(int64_t samples) {
  std::vector<float> &x = data[static_cast<size_t>(steps) % data.size()];
  x = samplesOf(steps, samples);
  train::Batch batch;
  batch.place.step = steps++;
  batch.samples = samples;
  batch.fields = {
      {"x", FREESTONE_F32, {samples}, {reinterpret_cast<const uint8_t *>(x.data()), x.size() * sizeof(float)}}};
  if (std::optional<train::StepMetrics> ended = made->submit(batch))
    metrics.push_back(*ended);
}

const std::vector<train::StepMetrics> &test::StageTraining::finish() {
  while (std::optional<train::StepMetrics> ended = made->finish())
    metrics.push_back(*ended);
  return metrics;
}

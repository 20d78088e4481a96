#include "distributed/execute/StageTimes.h"

#include "distributed/execute/ValueMemory.h"
#include "formats/ElementType.h"
#include <algorithm>
#include <chrono>
#include <cstring>

namespace freestone::distributed {

using Clock = std::chrono::steady_clock;

namespace {

/// Zeros in the shapes of the data.
struct Zeros {
  Zeros(const PipelineDescription &pipeline, const std::vector<int64_t> &sizes);

  std::vector<std::vector<uint8_t>> bytes;
  std::vector<formats::TensorView> fields;
};

Zeros::Zeros(const PipelineDescription &pipeline, const std::vector<int64_t> &sizes) {
  for (const ValueInfo &input : pipeline.inputs) {
    formats::TensorView field;
    field.name = input.name;
    field.dtype = input.dtype;
    for (const std::string &size : input.shape) {
      auto symbol = std::ranges::find(pipeline.symbols, size);
      field.shape.push_back(symbol == pipeline.symbols.end() ? std::stoll(size)
                                                             : sizes[symbol - pipeline.symbols.begin()]);
    }
    if (field.shape.empty()) // a number
      continue;
    std::vector<uint8_t> &zeros = bytes.emplace_back(formats::countBytes(field.dtype, field.shape));
    field.bytes = {zeros.data(), zeros.size()};
    fields.push_back(std::move(field));
  }
}

/// The median of the times of some runs, after one that touches memory; a fifth of a second of them is enough.
double measure(const std::function<void()> &run) {
  constexpr auto enough = std::chrono::milliseconds(200);
  constexpr size_t most = 15;
  run();
  std::vector<double> times;
  for (auto begin = Clock::now(); times.size() < most && (times.empty() || Clock::now() - begin < enough);) {
    auto before = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - before).count());
  }
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

} // namespace

BlockTimes measureStage(const Artifact &artifact, int stage, const PipelineDescription &pipeline,
                        const train::StepDescription &about, const train::Execution &execution,
                        const std::vector<int64_t> &sizes) {
  StageProgram program(artifact, stage, pipeline, about, execution);
  std::map<std::string, double> numbers = about.hyperparameters;
  for (auto &[name, value] : numbers)
    program.setNumber(name, &value);
  int64_t seed = 0, microBatch = 0;
  program.setNumber("seed", &seed);
  program.setNumber("micro_batch", &microBatch);
  Zeros zeros(pipeline, sizes);
  std::vector<StageEntry *> passes = {program.find(forwardEntry), program.find(inputGradientEntry),
                                      program.find(weightGradientEntry)};
  ValueMemory memory(passes, pipeline);
  memory.reserve(1, {sizes});
  memory.open(0, sizes);
  for (int value = 0; value < static_cast<int>(pipeline.values.size()); ++value)
    if (memory.holds(value))
      std::memset(memory.at(0)[value].data, 0, memory.bytesOf(0, value));
  auto timeOf = [&](StageEntry *pass) {
    return pass ? measure([&] { pass->run(memory.at(0), zeros.fields, sizes); }) : 0;
  };
  return {timeOf(passes[0]), timeOf(passes[1]), timeOf(passes[2])};
}

} // namespace freestone::distributed

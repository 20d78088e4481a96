#include "tools/freestone/ProfileMeasurement.h"

#include "distributed/execute/StageTimes.h"
#include "distributed/partition/ChainPartition.h"
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

/// More would take long to compile.
static constexpr int mostBlocks = 16;

std::vector<int64_t> findSizes(const distributed::PipelineDescription &pipeline, int64_t samples,
                               const MemoryQuestion &question) {
  std::vector<formats::TensorView> fields;
  for (const ValueInfo &input : pipeline.inputs) {
    formats::TensorView &field = fields.emplace_back();
    field.name = input.name;
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      const std::string &size = input.shape[axis];
      bool isSymbol = std::ranges::find(pipeline.symbols, size) != pipeline.symbols.end();
      std::optional<int64_t> known = axis == 0 ? samples : isSymbol ? question.sizeOf(input.name, axis) : 1;
      if (!known)
        throw Failure(
            Exit::Usage,
            fmt::format("the memory follows from the size '{}', which is not known: name --data or --window", size));
      field.shape.push_back(*known);
    }
  }
  return pipeline.sizesOf(fields);
}

Measurement measureProfile(Compiler &compiler, const PipelineModel &model, const distributed::Profile &predicted,
                           int64_t microBatches, const MemoryQuestion &question, int threads) {
  auto working = std::ranges::count_if(predicted.nodes, [](const auto &node) { return node.time() > 0; });
  distributed::ChainOptions chain;
  chain.stages = std::min(mostBlocks, static_cast<int>(working));
  chain.bytesPerSecond = std::numeric_limits<double>::infinity();
  chain.ties = distributed::ChainTies::MostEven;
  train::StageChoice choice;
  choice.stages = distributed::partitionChain(predicted, chain);
  choice.split = true;
  int64_t samples = (model.sizes.batch + microBatches - 1) / microBatches;
  train::Execution execution;
  execution.threads = threads;
  std::vector<distributed::BlockTimes> times;
  for (choice.stage = 0; choice.stage < chain.stages; ++choice.stage) {
    cache::Entry entry = compiler.compile(model.path, train::describeStage(model.step, choice), model.graphs);
    Artifact artifact = Artifact::load(entry.path(), entry.payloadBytes());
    auto pipeline = distributed::PipelineDescription::read(artifact);
    auto about = train::StepDescription::parse(std::string(artifact.attachment("training.json")));
    times.push_back(distributed::measureStage(artifact, choice.stage, pipeline, about, execution,
                                              findSizes(pipeline, samples, question)));
  }
  return {distributed::measuredProfile(predicted, choice.stages, times),
          distributed::compareBlocks(predicted, choice.stages, times)};
}

Measurement measureOnce(const std::string &path, Compiler &compiler, const PipelineModel &model,
                        const distributed::Profile &predicted, int64_t microBatches, const MemoryQuestion &question,
                        int threads) {
  Json subject = {{"step", model.step},           {"batch", model.sizes.batch},
                  {"tokens", model.sizes.tokens}, {"micro_batches", microBatches},
                  {"threads", threads},           {"nodes", predicted.nodes.size()}};
  std::ifstream kept(path);
  Json known = Json::parse(kept, nullptr, /*allow_exceptions=*/false);
  if (known.is_object() && known.value("of", Json()) == subject)
    return {distributed::readProfile(known.at("profile").dump()), {}};
  Measurement measured = measureProfile(compiler, model, predicted, microBatches, question, threads);
  std::ofstream file(path);
  file << Json{{"of", subject}, {"profile", Json::parse(distributed::printProfile(measured.profile))}}.dump() << "\n";
  if (!file.flush())
    throw Failure(Exit::Failed, fmt::format("can't write '{}'", path));
  return measured;
}

} // namespace freestone::tools

#include "distributed/execute/RankData.h"

#include "distributed/Error.h"
#include "train/Error.h"
#include <fmt/format.h>

namespace freestone::distributed {

using Json = nlohmann::json;
using train::DataUse;

static Json write(const train::LoaderPosition &place) { return {place.step, place.epoch, place.sample}; }

static train::LoaderPosition read(const Json &place) { return {place.at(0), place.at(1), place.at(2)}; }

Json describeLoad(const train::DataName &name, const train::Dataset &data, const train::LoaderOptions &options,
                  const train::LoaderPosition &start) {
  Json fields = Json::array();
  for (const train::Field &field : data.fields())
    fields.push_back(field.name);
  return {{"do", "load"},
          {"evaluation", name.use == DataUse::Evaluation},
          {"part", name.part},
          {"fields", std::move(fields)},
          {"samples", data.samples()},
          {"longest", data.longest()},
          {"batch", options.batch},
          {"seed", options.seed},
          {"shuffle", options.shuffle},
          {"epochs", options.epochs},
          {"depth", options.depth},
          {"held", options.held},
          {"start", write(start)}};
}

Json describeBatch(const train::Batch &batch) { return {{"place", write(batch.place)}, {"samples", batch.samples}}; }

void RankData::load(const Json &command) {
  DataUse use = command.at("evaluation") ? DataUse::Evaluation : DataUse::Training;
  // The loader before ends before its data do.
  sources.erase(use);
  Source &source = sources[use];
  train::LoaderOptions options;
  options.fields.emplace();
  for (const std::string field : command.at("fields"))
    if (inputs.contains(field))
      options.fields->insert(field);
  if (options.fields->empty())
    return;
  options.batch = command.at("batch");
  options.seed = command.at("seed");
  options.shuffle = command.at("shuffle");
  options.epochs = command.at("epochs");
  options.depth = command.at("depth");
  options.held = command.at("held");
  const train::Dataset &whole = open(use);
  if (use == DataUse::Evaluation)
    source.parts = whole.evaluationParts();
  const train::Dataset &data = source.parts.empty() ? whole : *source.parts.at(command.at("part"));
  if (data.samples() != command.at("samples") || data.longest() != command.at("longest"))
    throw Error(fmt::format("the data have {} samples here, but those of rank 0 {}: the same files must be on all "
                            "machines",
                            data.samples(), command.at("samples").get<int64_t>()));
  source.loader = std::make_unique<train::Loader>(data, options, read(command.at("start")));
}

std::vector<formats::TensorView> RankData::take(DataUse use, const Json &batch) {
  if (use == DataUse::Training)
    sources.erase(DataUse::Evaluation);
  Source &source = sources[use];
  if (!source.loader)
    return {};
  train::LoaderPosition place = read(batch.at("place"));
  const train::Batch *taken = nullptr;
  try {
    taken = source.loader->take();
  } catch (const train::Error &error) {
    throw Error(fmt::format("step {}: {}", place.step + 1, error.what()));
  }
  if (!taken || taken->place != place || taken->samples != batch.at("samples"))
    throw Error(fmt::format("step {}: this rank has come to another batch than rank 0", place.step + 1));
  return taken->fields;
}

} // namespace freestone::distributed

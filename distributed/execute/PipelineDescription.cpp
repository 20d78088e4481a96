#include "distributed/execute/PipelineDescription.h"

#include "distributed/Error.h"
#include "train/compilation/Acceptance.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace freestone::distributed {

using Json = nlohmann::json;

static StagePort parsePort(const Json &port) { return {port.at(0), port.at(1)}; }

PipelineDescription PipelineDescription::read(const Artifact &stage) {
  PipelineDescription pipeline;
  for (const char *name : {"pipeline.json", "training.json", "model.onnx"}) {
    std::string_view bytes = stage.attachment(name);
    pipeline.hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), pipeline.hash);
  }
  try {
    Json parsed = Json::parse(stage.attachment("pipeline.json"));
    pipeline.stages = parsed.at("stages");
    pipeline.symbols = parsed.at("symbols").get<std::vector<std::string>>();
    pipeline.inputs = train::parsePorts(parsed.at("inputs").dump());
    for (const auto &[name, value] : parsed.at("values").items()) {
      if (value.at("from").empty()) // `pipe/sizes`
        continue;
      PipelineValue &added = pipeline.values.emplace_back(PipelineValue{name, parsePort(value.at("from")), {}});
      for (const Json &port : value.at("to"))
        added.to.push_back(parsePort(port));
    }
    for (const Json &shared : parsed.at("shared"))
      pipeline.shared.push_back({shared.at("state"), shared.at("home"), shared.at("stages").get<std::vector<int>>()});
  } catch (const Json::exception &error) {
    throw Error(fmt::format("the description of the pipeline's stages is damaged: {}", error.what()));
  }
  return pipeline;
}

std::vector<StageEdge> PipelineDescription::edges() const {
  std::vector<StageEdge> edges;
  for (const PipelineValue &value : values)
    for (const StagePort &to : value.to) {
      if (value.from.entry == normsEntry || value.from.entry == evaluateEntry || value.from.stage == to.stage)
        continue;
      int first = std::min(value.from.stage, to.stage), last = std::max(value.from.stage, to.stage);
      auto found =
          std::ranges::find_if(edges, [&](const StageEdge &edge) { return edge.from == first && edge.to == last; });
      StageEdge &edge = found == edges.end() ? edges.emplace_back(StageEdge{first, last, false, false}) : *found;
      (first == value.from.stage ? edge.hasActivations : edge.hasGradient) = true;
    }
  return edges;
}

/// How many times a symbol a dimension is: 1 for `units`, 32 for `32*units`; 0 for others.
static int64_t countTimes(std::string_view dim, std::string_view symbol) {
  if (dim == symbol)
    return 1;
  size_t end = dim.find('*');
  int64_t times = 0;
  if (end == std::string_view::npos || dim.substr(end + 1) != symbol ||
      std::from_chars(dim.data(), dim.data() + end, times).ptr != dim.data() + end)
    return 0;
  return times;
}

std::vector<int64_t> PipelineDescription::sizesOf(const std::vector<formats::TensorView> &fields) const {
  std::vector<int64_t> sizes;
  for (const std::string &symbol : symbols) {
    std::optional<int64_t> size;
    for (const ValueInfo &input : inputs) {
      auto field = std::ranges::find(fields, input.name, &formats::TensorView::name);
      for (size_t axis = 0; field != fields.end() && axis < input.shape.size(); ++axis) {
        int64_t times = countTimes(input.shape[axis], symbol);
        if (times == 0)
          continue;
        if (field->shape.at(axis) % times != 0)
          throw Error(fmt::format("dimension {} of input '{}', {}, is {}, but must be a multiple of {}", axis, input.name,
                                  input.shape[axis], field->shape[axis], times));
        size = field->shape[axis] / times;
      }
    }
    if (!size)
      throw Error(fmt::format("the data do not tell the size '{}' of the model, which all stages must know", symbol));
    sizes.push_back(*size);
  }
  return sizes;
}

} // namespace freestone::distributed

#include "tools/freestone/TrainPlan.h"

#include "distributed/plan/PipelinePlan.h"
#include "formats/ElementType.h"
#include "train/data/TokenDataset.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace freestone::tools {

namespace {

/// The inputs that come from the data; numbers have rank 0.
std::vector<ValueInfo> dataInputs(const Instance &step) {
  std::vector<ValueInfo> inputs;
  for (size_t i = 0; i < freestone_instance_input_count(step.get()); ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    check(freestone_instance_input_info(step.get(), i, &info));
    if (info.rank > 0)
      inputs.push_back({info.name, info.dtype, {info.shape, info.shape + info.rank}});
  }
  return inputs;
}

std::optional<int64_t> asNumber(const std::string &text) {
  int64_t number;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Values of the size symbols that are whole dimensions; `unknown` names a symbol without a value.
std::map<std::string, int64_t> findSizes(const Artifact &artifact, const std::vector<ValueInfo> &inputs,
                                         const MemoryQuestion &question, std::string &unknown) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < freestone_artifact_symbol_count(artifact.get()); ++i) {
    freestone_symbol_info symbol = {};
    symbol.struct_size = sizeof(symbol);
    check(freestone_artifact_symbol(artifact.get(), i, &symbol));
    if (symbol.is_result)
      continue;
    std::optional<int64_t> size;
    for (const ValueInfo &input : inputs)
      for (size_t axis = 0; axis < input.shape.size() && !size; ++axis)
        if (input.shape[axis] == symbol.name)
          size = axis == 0 ? question.batch : question.sizeOf(input.name, axis);
    if (size)
      sizes[symbol.name] = *size;
    else
      unknown = symbol.name;
  }
  return sizes;
}

/// Bytes of intermediates of one program of the step's artifact, at these sizes.
uint64_t intermediatesOf(const Artifact &artifact, const char *entry, const std::vector<freestone_size> &sizes,
                         int threads) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.entry = entry;
  freestone_memory_need need = Instance(artifact, options).planMemory(sizes);
  return need.arena_bytes + need.scratch_bytes + need.output_bytes;
}

/// The code is the beginning of an artifact; weights follow, with the parameters' first values.
uint64_t codeBytes(const Artifact &artifact) {
  char *described = nullptr;
  check(freestone_artifact_describe(artifact.get(), &described));
  std::unique_ptr<char, void (*)(void *)> text(described, freestone_free);
  const nlohmann::json about = nlohmann::json::parse(text.get());
  uint64_t end = 0;
  for (const nlohmann::json &weight : about.at("weights"))
    if (int64_t offset = weight.value("offset", int64_t(0)); offset > 0 && (end == 0 || uint64_t(offset) < end))
      end = offset;
  return end;
}

} // namespace

std::optional<MemoryPlan> planMemory(const Artifact &artifact, const train::StepDescription &description,
                                     const MemoryQuestion &question, std::string &unknown) {
  MemoryPlan plan;
  plan.code = codeBytes(artifact);
  for (const StateInfo &state : artifact.states()) {
    bool isTrained =
        std::ranges::any_of(description.parameters, [&](const auto &p) { return p.trained && p.name == state.name; });
    bool isOptimizers =
        state.name.starts_with("optimizer/") || state.name == "loss_scale" || state.name == "growth_tracker";
    uint64_t bytes = formats::countBytes(state.dtype, state.shape);
    (isTrained                                ? plan.parameters
     : isOptimizers                           ? plan.optimizer
     : state.name.starts_with("accumulated/") ? plan.accumulated
                                              : plan.statistics) += bytes;
  }
  for (const train::ParameterInfo &parameter : description.parameters)
    if (parameter.trained)
      plan.gradients += formats::countElements(parameter.shape) * sizeof(float);
  // Accumulated gradients are not part of a checkpoint.
  plan.checkpoint = plan.parameters + plan.statistics + plan.optimizer;

  std::vector<ValueInfo> inputs = dataInputs(Instance(artifact, question.threads));
  std::map<std::string, int64_t> sizes = findSizes(artifact, inputs, question, unknown);
  if (!unknown.empty())
    return std::nullopt;
  auto countOf = [&](const char *entry, const std::map<std::string, int64_t> &at) {
    std::vector<freestone_size> given;
    for (const auto &[symbol, size] : at)
      given.push_back({symbol.c_str(), size});
    return intermediatesOf(artifact, entry, given, question.threads);
  };
  plan.intermediates = countOf("main", sizes);
  if (question.accumulates)
    plan.accumulation = countOf("accumulate", sizes);
  if (question.evaluates)
    plan.evaluation = countOf("evaluate", sizes);
  if (question.evaluatedLast > 0) {
    MemoryQuestion last = question;
    last.batch = question.evaluatedLast;
    plan.evaluation = std::max(plan.evaluation, countOf("evaluate", findSizes(artifact, inputs, last, unknown)));
  }
  for (const ValueInfo &input : inputs) {
    uint64_t bytes = formats::elementBytes(input.dtype);
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      std::optional<int64_t> size = asNumber(input.shape[axis]);
      if (auto known = sizes.find(input.shape[axis]); known != sizes.end())
        size = known->second;
      bytes *= size.value_or(axis == 0 ? question.batch : 1);
    }
    // An evaluation has a loader of its own.
    plan.data += (question.evaluates ? 2 : 1) * question.batchesInMemory * bytes;
  }
  return plan;
}

MemoryQuestion memoryQuestion(const TrainOptions &options, const train::ArrayFiles *data,
                              const train::ArrayFiles *evaluation) {
  MemoryQuestion question;
  question.batch = options.fit.batch;
  question.threads = options.runtime.threads;
  question.accumulates = options.step.accumulate > 1;
  question.evaluates = !options.fit.evaluationData.empty();
  if (evaluation && options.fit.window.empty() && !evaluation->arrays().empty())
    if (const auto &shape = evaluation->arrays().front().shape; !shape.empty())
      question.evaluatedLast = shape.front() % question.batch;
  question.sizeOf = [&options, data](const std::string &input, size_t axis) -> std::optional<int64_t> {
    if (!options.fit.window.empty())
      return train::parseWindow(options.fit.window).longest;
    const formats::TensorView *array = data ? data->find(input) : nullptr;
    return array && axis < array->shape.size() ? std::optional(array->shape[axis]) : std::nullopt;
  };
  return question;
}

void printParameters(const train::StepDescription &description, const Artifact *whole) {
  size_t widest = 0;
  for (const train::ParameterInfo &parameter : description.parameters)
    widest = std::max(widest, parameter.name.size());
  int64_t trained = 0;
  for (const train::ParameterInfo &parameter : description.parameters) {
    int64_t elements = formats::countElements(parameter.shape);
    trained += parameter.trained ? elements : 0;
    fmt::print("{:<{}}  {:>10}  {}{}{}  {}\n", parameter.name, widest, elements,
               parameter.trained ? "trained" : "kept   ",
               parameter.trained && !parameter.group.empty() ? fmt::format(", group '{}'", parameter.group) : "",
               parameter.trained && !parameter.decays ? ", no decay" : "", description.explain(parameter));
  }
  std::string kept;
  if (whole) {
    uint64_t bytes = 0;
    for (const StateInfo &state : whole->states())
      bytes += formats::countBytes(state.dtype, state.shape);
    kept = fmt::format("; parameters and optimizer ({}) keep {}", description.optimizer,
                       distributed::printBytes(static_cast<double>(bytes)));
  }
  fmt::print("{} trained elements{}\n", trained, kept);
  std::string products =
      fmt::format("{} in {} products, the rest and the parameters ", description.precision, description.narrowProducts);
  fmt::print("precision: {}as in the model; moments in {}{}\n", description.precision == "fp32" ? "" : products,
             description.moments, description.scalesLoss() ? "; the loss is scaled" : "");
  if (description.updatesEarly())
    fmt::print("updates: each parameter as soon as its gradient is known\n");
}

void printMemory(const MemoryPlan &plan) {
  auto print = [](const char *what, uint64_t bytes, const std::string &note = "") {
    if (bytes > 0)
      fmt::print("  {:<16}{:>9.1f} MiB{}{}\n", what, static_cast<double>(bytes) / (1 << 20), note.empty() ? "" : "  ",
                 note);
  };
  fmt::print("memory:\n");
  print("parameters", plan.parameters);
  print("statistics", plan.statistics);
  print("optimizer", plan.optimizer);
  print("accumulated", plan.accumulated);
  print("intermediates", plan.intermediates,
        fmt::format("activations, and gradients in their place: {:.1f} MiB of these in the end",
                    static_cast<double>(plan.gradients) / (1 << 20)));
  print("accumulation", plan.accumulation, "intermediates of the other batches of a step");
  print("evaluation", plan.evaluation, "its intermediates");
  print("batches", plan.data);
  print("checkpoint", plan.checkpoint, "a copy to write from while the training goes on");
  print("code", plan.code, "copied from the file of the step");
  print("together", plan.total());
}

} // namespace freestone::tools

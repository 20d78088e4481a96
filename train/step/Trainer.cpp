#include "train/step/Trainer.h"

#include "formats/ElementType.h"
#include "train/Error.h"
#include "train/step/StepData.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace freestone::train {

namespace {

constexpr std::string_view optimizerPrefix = "optimizer/", accumulatedPrefix = "accumulated/";

/// The inputs or outputs of an instance's entry.
template <typename Count, typename Get> std::vector<ValueInfo> collect(const Instance &instance, Count count, Get get) {
  std::vector<ValueInfo> values;
  for (size_t i = 0; i < count(instance.get()); ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    check(get(instance.get(), i, &info));
    values.push_back({info.name, info.dtype, {info.shape, info.shape + info.rank}});
  }
  return values;
}

DLDataType dlType(freestone_dtype dtype) {
  std::string_view name = formats::typeName(dtype);
  auto bits = static_cast<uint8_t>(8 * formats::elementBytes(dtype));
  uint8_t code = dtype == FREESTONE_BF16   ? kDLBfloat
                 : dtype == FREESTONE_I1   ? kDLBool
                 : formats::isFloat(dtype) ? kDLFloat
                 : name.front() == 'u'     ? kDLUInt
                                           : kDLInt;
  return {code, bits, 1};
}

double readNumber(const DLTensor &view) {
  auto as = [&]<typename T>(T value) {
    std::memcpy(&value, static_cast<const char *>(view.data) + view.byte_offset, sizeof(T));
    return static_cast<double>(value);
  };
  if (view.dtype.code == kDLFloat)
    return view.dtype.bits == 64 ? as(double()) : as(float());
  return view.dtype.bits == 64 ? as(int64_t()) : view.dtype.bits == 32 ? as(int32_t()) : as(int8_t());
}

} // namespace

static freestone_instance_options optionsOf(const char *entry, const State &state, const Execution &execution) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = execution.threads;
  options.switched_off = execution.switchedOff;
  options.timeline = execution.timeline;
  options.entry = entry;
  options.state = state.get();
  return options;
}

Trainer::Entry::Entry(const Artifact &artifact, const char *name, const State &state, const Execution &execution)
    : instance(artifact, optionsOf(name, state, execution)),
      inputs(collect(instance, freestone_instance_input_count, freestone_instance_input_info)),
      outputs(collect(instance, freestone_instance_output_count, freestone_instance_output_info)) {}

std::optional<size_t> Trainer::Entry::findInput(const std::string &name) const {
  auto found = std::ranges::find(inputs, name, &ValueInfo::name);
  return found == inputs.end() ? std::nullopt : std::optional<size_t>(found - inputs.begin());
}

bool Trainer::Entry::hasOutput(const std::string &name) const {
  return std::ranges::find(outputs, name, &ValueInfo::name) != outputs.end();
}

double Trainer::Entry::scalar(const std::string &name) const {
  auto found = std::ranges::find(outputs, name, &ValueInfo::name);
  if (found == outputs.end())
    throw Error("the compiled step has no output '" + name + "'");
  DLTensor view = {};
  check(freestone_instance_output(instance.get(), found - outputs.begin(), &view));
  return readNumber(view);
}

void Trainer::Entry::setData(const Batch &batch) {
  for (const formats::TensorView &field : batch.fields) {
    std::optional<size_t> index = findInput(field.name);
    if (!index)
      continue;
    DLTensor view = {};
    view.data = const_cast<uint8_t *>(field.bytes.data());
    view.device = {kDLCPU, 0};
    view.dtype = dlType(field.dtype);
    view.ndim = static_cast<int32_t>(field.shape.size());
    view.shape = const_cast<int64_t *>(field.shape.data());
    check(freestone_instance_set_input(instance.get(), *index, &view));
  }
}

Trainer::Trainer(const Artifact &artifact, StepDescription description, const Execution &execution, uint64_t seed)
    : about(std::move(description)), execution(execution), states(artifact.states()), state(artifact),
      stepper(artifact, "main", state, execution), evaluator(artifact, "evaluate", state, execution),
      numbers(about.hyperparameters), seed(static_cast<int64_t>(seed)) {
  for (const auto &[name, value] : numbers)
    if (!stepper.findInput(name))
      throw Error("the compiled step has no input '" + name + "', which its description names");
  bindNumbers(stepper);
  std::vector<std::string> entries = artifact.entries();
  if (std::ranges::find(entries, "accumulate") != entries.end())
    bindNumbers(accumulator.emplace(artifact, "accumulate", state, execution));
}

/// Binds the inputs that do not come from data.
void Trainer::bindNumbers(Entry &entry) {
  for (auto &[name, value] : numbers)
    if (std::optional<size_t> index = entry.findInput(name))
      entry.instance.setInput(*index, TensorRef(&value, {}));
  if (std::optional<size_t> index = entry.findInput("seed"); index && about.takesSeed)
    entry.instance.setInput(*index, TensorRef(&seed, {}));
}

std::vector<ValueInfo> Trainer::dataInputs() const { return train::dataInputs(about, stepper.inputs); }

void Trainer::setNumber(const std::string &name, double value) {
  about.requireNumber(name);
  numbers.at(name) = value;
}

double Trainer::number(const std::string &name) const {
  about.requireNumber(name);
  return numbers.at(name);
}

void Trainer::setLossScale(double scale) {
  std::optional<size_t> index = findState("loss_scale");
  if (!index)
    throw Error("the compiled step does not scale its loss");
  *state.data<float>(*index) = static_cast<float>(scale);
}

/// Submits a batch and ends the previous one.
std::optional<StepMetrics> Trainer::hand(Entry &entry, const Batch &batch) {
  entry.setData(batch);
  Handed handed{&entry, entry.instance.submit(), {}, &entry == &stepper};
  ++counted.entered;
  samples += batch.samples;
  handed.metrics.step = batch.place.step + 1;
  handed.metrics.epoch = batch.place.epoch + 1;
  handed.metrics.learningRate = number("learning_rate");
  handed.metrics.samples = samples;
  handed.metrics.length = batch.length;
  if (handed.isStep)
    samples = 0;
  std::optional<Handed> before = std::exchange(underWay, handed);
  return before ? end(*before) : std::nullopt;
}

/// Waits for a batch, and reads the metrics of the step if it was the step's last batch.
std::optional<StepMetrics> Trainer::end(const Handed &ended) {
  ended.entry->instance.wait(ended.run);
  if (!ended.isStep)
    return std::nullopt;
  ++counted.steps;
  StepMetrics metrics = ended.metrics;
  metrics.loss = stepper.scalar("loss");
  metrics.gradientNorm = stepper.scalar("gradient_norm");
  metrics.skipped = stepper.scalar("skipped") != 0;
  if (metrics.skipped)
    metrics.notFinite = trainedName(static_cast<int64_t>(stepper.scalar("not_finite")));
  if (stepper.hasOutput("scale"))
    metrics.lossScale = stepper.scalar("scale");
  return metrics;
}

/// Empty if there is no parameter of this number.
std::string Trainer::trainedName(int64_t number) const {
  for (const ParameterInfo &parameter : about.parameters)
    if (parameter.trained && number-- == 0)
      return parameter.name;
  return "";
}

std::optional<StepMetrics> Trainer::accumulate(const Batch &batch) { return hand(accumulator.value(), batch); }

std::optional<StepMetrics> Trainer::submit(const Batch &batch) { return hand(stepper, batch); }

std::optional<StepMetrics> Trainer::finish() {
  std::optional<Handed> last = std::exchange(underWay, std::nullopt);
  if (!last)
    return std::nullopt;
  counted.hostReads += last->isStep;
  return end(*last);
}

void Trainer::abandon() noexcept {
  underWay.reset();
  samples = 0;
  // A failure here was reported already, or is of no interest any more.
  freestone_instance_wait(stepper.instance.get(), 0);
  if (accumulator)
    freestone_instance_wait(accumulator->instance.get(), 0);
}

Recorder Trainer::recorder() const {
  if (!execution.timeline)
    return {};
  return
      [timeline = execution.timeline](const char *thread, const char *what, int64_t begin, int64_t end, int64_t step) {
        check(freestone_timeline_add(timeline, thread, what, begin, end, step));
      };
}

StepMetrics Trainer::step(const Batch &batch) {
  finish();
  submit(batch);
  return finish().value();
}

void Trainer::evaluate(const Batch &batch, EvaluationSums &sums) {
  evaluator.setData(batch);
  evaluator.instance.run();
  sums.loss += evaluator.scalar("loss_sum");
  sums.count += evaluator.scalar("count");
  sums.hasClasses = evaluator.hasOutput("correct");
  if (!sums.hasClasses)
    return;
  sums.correct += evaluator.scalar("correct");
  sums.labels += evaluator.scalar("labels");
}

std::optional<size_t> Trainer::findState(const std::string &name) const {
  auto found = std::ranges::find(states, name, &StateInfo::name);
  return found == states.end() ? std::nullopt : std::optional<size_t>(found - states.begin());
}

int64_t Trainer::stepsDone() const {
  std::optional<size_t> index = findState("optimizer/step");
  return index ? *state.data<int64_t>(*index) : 0;
}

std::string Trainer::groupOf(const StateInfo &info) const {
  if (std::ranges::any_of(about.parameters, [&](const ParameterInfo &p) { return p.trained && p.name == info.name; }))
    return "parameters";
  if (info.name.starts_with(accumulatedPrefix))
    return "";
  bool isOptimizers =
      info.name.starts_with(optimizerPrefix) || info.name == "loss_scale" || info.name == "growth_tracker";
  return isOptimizers ? "optimizer" : "statistics";
}

static runtime::Panels panelsOf(const StateInfo &info) { return {info.panelAxis, info.panelWidth}; }

formats::TensorView Trainer::viewOf(size_t index) const {
  const StateInfo &info = states[index];
  auto *data = static_cast<const uint8_t *>(state.tensor(index).data);
  return {info.name, info.dtype, info.shape, {data, formats::countBytes(info.dtype, info.shape)}};
}

std::vector<TensorGroup> Trainer::groups() const {
  std::vector<TensorGroup> groups = {{"parameters", {}}, {"statistics", {}}, {"optimizer", {}}};
  for (size_t i = 0; i < states.size(); ++i)
    if (auto group = std::ranges::find(groups, groupOf(states[i]), &TensorGroup::name); group != groups.end()) {
      group->tensors.push_back(viewOf(i));
      if (states[i].panelWidth)
        group->panels[states[i].name] = panelsOf(states[i]);
    }
  std::erase_if(groups, [](const TensorGroup &group) { return group.tensors.empty(); });
  return groups;
}

std::vector<formats::TensorView> Trainer::weights() const {
  rows.clear();
  std::vector<formats::TensorView> views;
  for (size_t i = 0; i < states.size(); ++i) {
    std::string group = groupOf(states[i]);
    if (group != "parameters" && group != "statistics")
      continue;
    formats::TensorView view = viewOf(i);
    if (states[i].panelWidth) {
      std::vector<uint8_t> &copy = rows.emplace_back(view.bytes.size());
      state.read(i, copy.data(), copy.size());
      view.bytes = {copy.data(), copy.size()};
    }
    views.push_back(std::move(view));
  }
  return views;
}

void Trainer::restore(const Checkpoint &checkpoint) {
  std::map<std::string, std::vector<TensorTarget>> targets;
  for (size_t i = 0; i < states.size(); ++i)
    if (std::string group = groupOf(states[i]); !group.empty())
      targets[group].push_back(
          {states[i].name, states[i].dtype, states[i].shape, state.tensor(i).data, panelsOf(states[i])});
  for (const auto &[group, list] : targets)
    checkpoint.restore(group, list);
}

} // namespace freestone::train

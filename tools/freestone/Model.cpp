#include "tools/freestone/Model.h"
#include "tools/tensor/TensorSource.h"
#include "words/NearNames.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/ranges.h>

namespace freestone::tools {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void check(freestone_status status) {
  if (status != FREESTONE_OK)
    throw Failure(status == FREESTONE_INVALID_ARGUMENT ? Exit::Usage : Exit::Failed, freestone_last_error());
}

bool isArtifact(const std::string &path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  char magic[4] = {};
  if (!file || (std::fread(magic, 1, sizeof(magic), file.get()) == 0 && std::ferror(file.get())))
    throw TensorError(fmt::format("can't read {}: {}", path, std::strerror(errno)));
  return std::memcmp(magic,
                     "\x7f"
                     "ELF",
                     sizeof(magic)) == 0;
}

std::string describe(const ValueInfo &value) {
  const char *kind = value.kind == FREESTONE_SEQUENCE            ? "sequence of "
                     : value.kind == FREESTONE_OPTIONAL          ? "optional "
                     : value.kind == FREESTONE_OPTIONAL_SEQUENCE ? "optional sequence of "
                                                                 : "";
  return fmt::format("{}: {}{}[{}]", value.name, kind, typeName(value.dtype), fmt::join(value.shape, ", "));
}

template <typename Getter>
static std::vector<ValueInfo> collect(const freestone_artifact *artifact, size_t count, Getter getter) {
  std::vector<ValueInfo> values;
  for (size_t i = 0; i < count; ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    check(getter(artifact, i, &info));
    values.push_back({info.name, info.dtype, {info.shape, info.shape + info.rank}, info.kind});
  }
  return values;
}

Model::Model(freestone_artifact *loaded)
    : artifact(loaded, freestone_artifact_release),
      inputInfo(collect(loaded, freestone_artifact_input_count(loaded), freestone_artifact_input)),
      outputInfo(collect(loaded, freestone_artifact_output_count(loaded), freestone_artifact_output)) {}

Model Model::load(const std::string &path, bool checkWeights) {
  freestone_load_options options = {};
  options.check_weights = checkWeights;
  return load(path, options);
}

Model Model::load(const std::string &path, freestone_load_options options) {
  double begin = now();
  options.struct_size = sizeof(options);
  freestone_artifact *loaded = nullptr;
  check(freestone_artifact_load(path.c_str(), &options, &loaded));
  Model model(loaded);
  model.loadSeconds = now() - begin;
  return model;
}

/// Adapts the check for a compilation.
static train::Acceptance acceptanceOf(const Model::Check &check) {
  if (!check)
    return {};
  return [&check](const train::ReadModel &model) { check(model.inputs, model.outputs); };
}

Model Model::compile(const std::string &path, const CompileArguments &arguments, const Check &check) {
  cache::Entry entry = Compiler(arguments, acceptanceOf(check)).compile(path);
  freestone_load_options options = {};
  options.file_bytes = entry.payloadBytes();
  Model model = load(entry.path(), options);
  model.entry = std::move(entry);
  if (check)
    check(model.inputs(), model.outputs());
  return model;
}

Model Model::open(const std::string &path, const CompileArguments &arguments, const CLI::App &verb,
                  const Check &check) {
  if (!isArtifact(path))
    return compile(path, arguments, check);
  if (arguments.given(verb))
    throw Failure(Exit::Usage,
                  fmt::format("{} is compiled already; options of the compiler mean nothing for it", path));
  Model model = load(path);
  if (check)
    check(model.inputs(), model.outputs());
  return model;
}

std::string Model::describe() const {
  char *json = nullptr;
  check(freestone_artifact_describe(artifact.get(), &json));
  std::string text = json;
  freestone_free(json);
  return text;
}

/// A view; the tensor is only read.
static DLTensor viewOf(const Tensor &tensor) {
  DLTensor view = {};
  view.data = const_cast<void *>(tensor.data());
  view.device = {kDLCPU, 0};
  view.ndim = static_cast<int32_t>(tensor.shape().size());
  view.dtype = dlpackType(tensor.dtype());
  view.shape = const_cast<int64_t *>(tensor.shape().data());
  return view;
}

void Model::supplyWeights(const std::vector<NamedTensor> &weights, int threads) {
  for (const NamedTensor &weight : weights) {
    DLTensor view = viewOf(weight.tensor);
    check(freestone_artifact_supply_weight(artifact.get(), weight.name.c_str(), &view));
  }
  check(freestone_artifact_finish_weights(artifact.get(), threads));
}

static freestone_instance *createInstance(const Model &model, const RuntimeOptions &given, freestone_timeline *timeline,
                                          bool trace) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = given.threads;
  options.switched_off = given.switches();
  options.trace = trace;
  options.timeline = timeline;
  freestone_instance *instance = nullptr;
  check(freestone_instance_create(model.get(), &options, &instance));
  return instance;
}

Session::Session(const Model &model, const RuntimeOptions &options, freestone_timeline *timeline, bool trace)
    : model(model), instance(createInstance(model, options, timeline, trace), freestone_instance_release) {}

void Session::setInput(size_t index, const Tensor &tensor) {
  freestone_dtype wanted = model.inputs()[index].dtype;
  bool isUnnamed = tensor.isUnnamed() && formats::isStorageOnly(wanted);
  if (isUnnamed)
    named[index] = tensor.named(wanted);
  DLTensor view = viewOf(isUnnamed ? named[index] : tensor);
  check(freestone_instance_set_input(instance.get(), index, &view));
}

void Session::setInput(size_t index, const NamedValue *value) {
  if (model.inputs()[index].isTensor())
    return setInput(index, value->tensor());
  if (!value || value->kind == NamedValue::Kind::Absent)
    return check(freestone_instance_set_absent(instance.get(), index));
  std::vector<DLTensor> views;
  for (const Tensor &element : value->elements)
    views.push_back(viewOf(element));
  check(freestone_instance_set_sequence(instance.get(), index, views.data(), views.size()));
}

void Session::setInputs(const std::vector<NamedValue> &values) {
  std::vector<const NamedValue *> ordered = matchInputs(model.inputs(), values);
  for (size_t i = 0; i < ordered.size(); ++i)
    setInput(i, ordered[i]);
}

void Session::run() { check(freestone_instance_run(instance.get())); }

static Tensor copyOf(const DLTensor &view, freestone_dtype dtype) {
  Tensor tensor(dtype, {view.shape, view.shape + view.ndim});
  if (tensor.count() != 0)
    std::memcpy(tensor.data(), static_cast<const char *>(view.data) + view.byte_offset, tensor.bytes());
  return tensor;
}

Tensor Session::output(size_t index) const {
  DLTensor view = {};
  check(freestone_instance_output(instance.get(), index, &view));
  return copyOf(view, model.outputs()[index].dtype);
}

NamedValue Session::value(size_t index) const {
  const ValueInfo &info = model.outputs()[index];
  if (info.isTensor())
    return NamedValue::of({info.name, output(index)});
  int64_t length = 0;
  check(freestone_instance_output_length(instance.get(), index, &length));
  NamedValue value{info.name, length < 0 ? NamedValue::Kind::Absent : NamedValue::Kind::Sequence, {}};
  for (int64_t element = 0; element < length; ++element) {
    DLTensor view = {};
    check(freestone_instance_output_element(instance.get(), index, static_cast<size_t>(element), &view));
    value.elements.push_back(copyOf(view, info.dtype));
  }
  return value;
}

freestone_counters Session::counters() const {
  freestone_counters counters = {};
  counters.struct_size = sizeof(counters);
  check(freestone_instance_counters(instance.get(), &counters));
  return counters;
}

std::vector<freestone_trace_span> Session::trace() const {
  size_t count = 0;
  check(freestone_instance_trace(instance.get(), nullptr, 0, &count));
  std::vector<freestone_trace_span> spans(count);
  check(freestone_instance_trace(instance.get(), spans.data(), count, &count));
  return spans;
}

static std::vector<std::string> namesOf(const std::vector<ValueInfo> &infos) {
  std::vector<std::string> names;
  for (const ValueInfo &info : infos)
    names.push_back(info.name);
  return names;
}

static std::string listed(const std::vector<ValueInfo> &infos) {
  std::vector<std::string> texts;
  for (const ValueInfo &info : infos)
    texts.push_back(describe(info));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::vector<const NamedValue *> matchInputs(const std::vector<ValueInfo> &infos,
                                            const std::vector<NamedValue> &values) {
  std::vector<const NamedValue *> ordered(infos.size(), nullptr);
  for (const NamedValue &named : values) {
    auto found =
        std::find_if(infos.begin(), infos.end(), [&](const ValueInfo &info) { return info.name == named.name; });
    if (named.name.empty() && infos.size() == 1)
      found = infos.begin();
    if (found == infos.end())
      throw Failure(Exit::Usage, named.name.empty()
                                     ? fmt::format("an --input without a name, but the model has {} inputs: {}",
                                                   infos.size(), listed(infos))
                                     : fmt::format("the model has no input '{}'; it has {}{}", named.name,
                                                   listed(infos), words::suggest(named.name, namesOf(infos))));
    const NamedValue *&slot = ordered[static_cast<size_t>(found - infos.begin())];
    if (slot || (found->isTensor() && named.kind == NamedValue::Kind::Tensor && named.elements.size() > 1))
      throw Failure(Exit::Usage, fmt::format("input '{}' is given twice", found->name));
    if (found->isTensor() && named.kind != NamedValue::Kind::Tensor)
      throw Failure(Exit::Usage, fmt::format("input '{}' is one tensor, no sequence", describe(*found)));
    slot = &named;
  }
  for (size_t i = 0; i < infos.size(); ++i)
    if (!ordered[i] && infos[i].kind != FREESTONE_OPTIONAL && infos[i].kind != FREESTONE_OPTIONAL_SEQUENCE)
      throw Failure(Exit::Usage,
                    fmt::format("input '{}' is missing; give it as --input {}=…", describe(infos[i]), infos[i].name));
  return ordered;
}

std::vector<NamedValue> readAllInputs(const std::vector<std::string> &arguments) {
  try {
    return readValues(arguments);
  } catch (const TensorError &error) {
    throw TensorError(fmt::format("--input: {}", error.what()));
  }
}

} // namespace freestone::tools

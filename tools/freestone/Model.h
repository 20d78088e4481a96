// A model ready to run: an artifact, or an ONNX file compiled to one.
#ifndef FREESTONE_TOOLS_FREESTONE_MODEL_H
#define FREESTONE_TOOLS_FREESTONE_MODEL_H

#include "cache/Entry.h"
#include "freestone/runtime.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/RuntimeOptions.h"
#include "tools/tensor/Tensor.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace freestone::tools {

/// Throws Failure with the runtime's message.
void check(freestone_status status);

/// Whether the file begins as an artifact does. Throws TensorError when it can't be read.
bool isArtifact(const std::string &path);

using freestone::ValueInfo;

/// "x: f32[batch, 784]", "x: sequence of f32[n]"
std::string describe(const ValueInfo &value);

class Model {
public:
  /// Loads an artifact.
  static Model load(const std::string &path, bool checkWeights = false);
  /// Throws if the model's inputs and outputs do not fit the command's arguments.
  using Check = std::function<void(const std::vector<ValueInfo> &inputs, const std::vector<ValueInfo> &outputs)>;

  /// Compiles the model, or finds it in the cache.
  static Model compile(const std::string &path, const CompileArguments &arguments, const Check &check = {});
  /// Loads or compiles, depending on the file. For an artifact, refuses `arguments` given on the command line of
  /// `verb`. `check` is called before anything is compiled.
  static Model open(const std::string &path, const CompileArguments &arguments, const CLI::App &verb,
                    const Check &check = {});

  freestone_artifact *get() const { return artifact.get(); }
  const std::vector<ValueInfo> &inputs() const { return inputInfo; }
  const std::vector<ValueInfo> &outputs() const { return outputInfo; }
  /// The compiler's statistics, as JSON; empty for an artifact.
  const std::string &statistics() const { return entry.about(); }
  /// All metadata, as JSON.
  std::string describe() const;
  /// Completes an artifact without weights. Throws Failure when a name is unknown or a weight is missing.
  void supplyWeights(const std::vector<NamedTensor> &weights, int threads);

  double loadSeconds = 0;

private:
  using Artifact = std::unique_ptr<freestone_artifact, decltype(&freestone_artifact_release)>;
  explicit Model(freestone_artifact *loaded);
  static Model load(const std::string &path, freestone_load_options options);

  cache::Entry entry; ///< the cache entry that holds the artifact, unless that is a file of the user's
  Artifact artifact;
  std::vector<ValueInfo> inputInfo, outputInfo;
};

/// Runs a model repeatedly.
class Session {
public:
  /// `timeline` may be null. With `trace`, every run records the activity of every worker.
  Session(const Model &model, const RuntimeOptions &options, freestone_timeline *timeline, bool trace = false);
  Session(const Model &model, int threads) : Session(model, RuntimeOptions{threads, {}, {}}, nullptr) {}

  int threads() const { return freestone_instance_threads(instance.get()); }
  /// `tensor` must outlive the runs.
  void setInput(size_t index, const Tensor &tensor);
  /// `value` must outlive the runs; null: an optional that is not there.
  void setInput(size_t index, const NamedValue *value);
  /// Sets inputs by name; a nameless tensor is the only input. Throws Failure if the names are not exactly the model's
  /// inputs.
  void setInputs(const std::vector<NamedValue> &values);
  void run();
  /// A copy of an output of the last run.
  Tensor output(size_t index) const;
  /// The same, also of outputs that are no tensors.
  NamedValue value(size_t index) const;
  freestone_counters counters() const;
  /// The spans of the last run.
  std::vector<freestone_trace_span> trace() const;

private:
  const Model &model;
  /// Inputs whose files do not name their type, in the model's.
  std::map<size_t, Tensor> named;
  std::unique_ptr<freestone_instance, decltype(&freestone_instance_release)> instance;
};

/// The values in the order of `infos`; null for optionals that are not given. Throws Failure (usage) if the names
/// differ from theirs.
std::vector<const NamedValue *> matchInputs(const std::vector<ValueInfo> &infos, const std::vector<NamedValue> &values);

/// Reads every argument of --input.
std::vector<NamedValue> readAllInputs(const std::vector<std::string> &arguments);

/// Seconds of a monotonic clock.
double now();

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_MODEL_H

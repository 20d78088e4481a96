// freestone run: runs a model once or repeatedly, and writes its outputs.

#include "tools/freestone/Model.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/Verbs.h"
#include "tools/tensor/TensorSource.h"
#include "words/NearNames.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/ranges.h>
#include <unistd.h>

namespace freestone::tools {

namespace {

struct RunArguments {
  CompileArguments compile;
  RuntimeOptions runtime;
  std::string model, outputsPath, weightsPath;
  std::vector<std::string> inputs, outputs;
  int repeat = 1, readyDescriptor = -1;
  bool interpret = false, wide = false;
};

} // namespace

/// One line: type, first elements, summary of all elements.
static void printTensor(const std::string &name, const Tensor &tensor) {
  constexpr int64_t shown = 8;
  std::vector<std::string> first;
  for (int64_t i = 0; i < std::min(tensor.count(), shown); ++i)
    first.push_back(isFloat(tensor.dtype()) ? fmt::format("{:.6g}", tensor.number(i))
                                            : fmt::format("{:.0f}", tensor.number(i)));
  if (tensor.count() > shown)
    first.push_back("…");
  fmt::print("{}: {} [{}]", name, describe(tensor.dtype(), tensor.shape()), fmt::join(first, ", "));
  double smallest = INFINITY, largest = -INFINITY, sum = 0;
  int64_t notFinite = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double value = tensor.number(i);
    if (!std::isfinite(value)) {
      ++notFinite;
      continue;
    }
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
    sum += value;
  }
  if (int64_t finite = tensor.count() - notFinite; tensor.count() > shown && finite > 0)
    fmt::print(" min {:.6g}, max {:.6g}, mean {:.6g}", smallest, largest, sum / static_cast<double>(finite));
  if (notFinite)
    fmt::print(" ({} not finite)", notFinite);
  fmt::print("\n");
}

/// A line for each tensor.
static void printOutput(const NamedValue &output) {
  if (output.kind == NamedValue::Kind::Tensor)
    return printTensor(output.name, output.tensor());
  if (output.kind == NamedValue::Kind::Absent) {
    fmt::print("{}: absent\n", output.name);
    return;
  }
  fmt::print("{}: {} elements\n", output.name, output.elements.size());
  for (size_t i = 0; i < output.elements.size(); ++i)
    printTensor(fmt::format("{}[{}]", output.name, i), output.elements[i]);
}

namespace {

/// One argument of --output: "name=out.npy", of a sequence "name=out.npz"; without a name, of the only output.
struct OutputFile {
  explicit OutputFile(const std::string &argument) {
    size_t equals = argument.find('=');
    name = equals == std::string::npos ? "" : argument.substr(0, equals);
    path = equals == std::string::npos ? argument : argument.substr(equals + 1);
    if (!path.ends_with(".npy") && !path.ends_with(".npz"))
      throw Failure(Exit::Usage, fmt::format("--output {} does not end in .npy", argument));
    requireWritable("--output", path);
  }
  /// The index of the output among these names.
  size_t find(const std::vector<std::string> &names) const {
    auto found = std::ranges::find(names, name);
    if (found != names.end())
      return static_cast<size_t>(found - names.begin());
    if (name.empty() && names.size() == 1)
      return 0;
    throw Failure(Exit::Usage, fmt::format("--output {}: the model has no output '{}'; it has {}{}", name, name,
                                           words::listNames(names), words::suggest(name, names)));
  }
  /// An archive is for a sequence, and only that.
  void requireKind(bool isTensor) const {
    if (path.ends_with(".npz") == isTensor)
      throw Failure(Exit::Usage, fmt::format("--output {}={}: {}", name, path,
                                             isTensor ? "a tensor is written as .npy"
                                                      : "a sequence or an optional is written as .npz"));
  }
  /// Writes the output of this name.
  void write(const NamedValue &output) const;

  std::string name, path;
};

} // namespace

void OutputFile::write(const NamedValue &output) const {
  if (output.kind == NamedValue::Kind::Tensor)
    return writeTensorFile(path, output.tensor());
  if (output.kind == NamedValue::Kind::Absent)
    throw Failure(Exit::Failed, fmt::format("--output {}={}: the output is absent", output.name, path));
  // The names that NumPy gives to arrays in an archive.
  std::vector<NamedTensorRef> elements;
  for (const Tensor &element : output.elements)
    elements.push_back({fmt::format("arr_{}", elements.size()), &element});
  writeTensorArchive(path, elements);
}

static auto namesOf(const auto &outputs) {
  std::vector<std::string> names;
  for (const auto &output : outputs)
    names.push_back(output.name);
  return names;
}

static std::vector<NamedValue> interpret(const RunArguments &arguments, const std::vector<NamedValue> &inputs) {
  if (isArtifact(arguments.model))
    throw Failure(Exit::Usage, "--interpret needs the .onnx file: an artifact holds only machine code");
  return Compiler(arguments.compile).interpret(arguments.model, inputs, arguments.wide);
}

/// Supplies the weights of an artifact compiled with --strip-weights.
static void supplyWeights(Model &model, const RunArguments &arguments) {
  if (freestone_artifact_missing_weight_count(model.get()) == 0) {
    if (!arguments.weightsPath.empty())
      throw Failure(Exit::Usage, "--weights: the artifact holds its weights");
    return;
  }
  if (arguments.weightsPath.empty())
    throw Failure(Exit::Usage, "the artifact was compiled with --strip-weights; give them as --weights FILE.npz");
  model.supplyWeights(readInputs(arguments.weightsPath), arguments.runtime.threads);
}

static std::vector<NamedValue> execute(const RunArguments &arguments, const CLI::App &verb,
                                       const std::vector<NamedValue> &inputs, const std::vector<OutputFile> &files) {
  TraceFile trace(arguments.runtime.tracePath);
  auto check = [&](const std::vector<ValueInfo> &taken, const std::vector<ValueInfo> &given) {
    (void)matchInputs(taken, inputs);
    for (const OutputFile &file : files)
      file.requireKind(given[file.find(namesOf(given))].isTensor());
  };
  Model model = Model::open(arguments.model, arguments.compile, verb, check);
  supplyWeights(model, arguments);
  Session session(model, arguments.runtime, trace.get());
  session.setInputs(inputs);
  std::vector<double> seconds;
  for (int i = 0; i < arguments.repeat; ++i) {
    double begin = now();
    session.run();
    seconds.push_back(now() - begin);
    // Signals the first result to `freestone bench`, which measures the cold start.
    if (i == 0 && arguments.readyDescriptor >= 0 && write(arguments.readyDescriptor, "", 1) != 1)
      throw Failure(Exit::Failed, "the descriptor of --ready-descriptor can't be written");
  }
  trace.write();
  if (arguments.repeat > 1) {
    std::sort(seconds.begin(), seconds.end());
    fmt::print("{} runs with {} threads: median {:.3f} ms, min {:.3f} ms\n", seconds.size(), session.threads(),
               seconds[seconds.size() / 2] * 1e3, seconds[0] * 1e3);
  }
  std::vector<NamedValue> outputs;
  for (size_t i = 0; i < model.outputs().size(); ++i)
    outputs.push_back(session.value(i));
  return outputs;
}

static void run(const RunArguments &arguments, const CLI::App &verb) {
  std::vector<NamedValue> inputs = readAllInputs(arguments.inputs);
  std::vector<OutputFile> files(arguments.outputs.begin(), arguments.outputs.end());
  if (!arguments.weightsPath.empty() && !isArtifact(arguments.model))
    throw Failure(Exit::Usage,
                  fmt::format("--weights {}: only an artifact of --strip-weights takes them, and {} is none",
                              arguments.weightsPath, arguments.model));
  if (!arguments.outputsPath.empty())
    requireWritable("--outputs", arguments.outputsPath);
  std::vector<NamedValue> outputs =
      arguments.interpret ? interpret(arguments, inputs) : execute(arguments, verb, inputs, files);
  for (const OutputFile &file : files) {
    const NamedValue &output = outputs[file.find(namesOf(outputs))];
    file.requireKind(output.kind == NamedValue::Kind::Tensor);
    file.write(output);
  }
  if (!arguments.outputsPath.empty()) {
    std::vector<NamedTensorRef> tensors;
    for (const NamedValue &output : outputs)
      for (size_t i = 0; i < output.elements.size(); ++i)
        tensors.push_back({output.kind == NamedValue::Kind::Tensor ? output.name : fmt::format("{}/{}", output.name, i),
                           &output.elements[i]});
    writeTensorArchive(arguments.outputsPath, tensors);
  }
  for (const NamedValue &output : outputs)
    printOutput(output);
}

void addRunVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("run", "Runs a model.");
  auto arguments = std::make_shared<RunArguments>();
  addText(*verb, "model", arguments->model, fileKind, "the .onnx or .stone file")->required();
  addTexts(*verb, "--input", arguments->inputs, formKind,
           "name=file.npy, name=file.pb, file.npz (by names), name=2x3xf32=0.5, name=4xi64=1,2,3,4 or "
           "name=1x16xi64=random:SEED[:LOW:HIGH]; of a sequence, once for each element, name=file.npz or name=[]");
  addTexts(*verb, "--output", arguments->outputs, newFileKind,
           "writes an output: name=out.npy, or a sequence: name=out.npz");
  addText(*verb, "--outputs", arguments->outputsPath, newFileKind,
          "writes all outputs into one .npz file; elements of a sequence as name/0, name/1, …");
  arguments->runtime.addTo(*verb);
  addNumber(*verb, "--repeat", arguments->repeat, words::wholeFrom(1), "runs so often and prints the times");
  addText(*verb, "--weights", arguments->weightsPath, fileKind,
          "a .npz file with the weights of an artifact compiled with --strip-weights");
  verb->add_flag("--interpret", arguments->interpret,
                 "evaluates the .onnx file with the reference interpreter, in double precision");
  verb->add_flag("--wide", arguments->wide, "with --interpret: leaves floating-point outputs in double precision")
      ->needs("--interpret");
  verb->get_option("--trace")->excludes("--interpret");
  verb->add_option("--ready-descriptor", arguments->readyDescriptor)->group("");
  arguments->compile.addTo(*verb);
  verb->callback([arguments, verb] { run(*arguments, *verb); });
}

} // namespace freestone::tools

#include "tools/freestone/TestCase.h"
#include "tools/freestone/Comparison.h"
#include "tools/freestone/Model.h"
#include "tools/tensor/Bytes.h"
#include "tools/tensor/TensorProto.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<TestCase> findTestCases(const std::string &path) {
  std::error_code error;
  std::vector<TestCase> cases;
  auto addIfCase = [&](const fs::path &folder, std::string name) {
    if (fs::is_regular_file(folder / "model.onnx", error))
      cases.push_back({std::move(name), folder.string()});
  };
  fs::path root = fs::path(path).lexically_normal();
  if (!root.has_filename())
    root = root.parent_path();
  if (!fs::is_directory(root, error))
    throw Failure(Exit::Usage, fmt::format("{} is not a folder", path));
  addIfCase(root, root.filename().string());
  for (auto it = fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink, error);
       it != fs::recursive_directory_iterator(); it.increment(error))
    if (it->is_directory(error))
      addIfCase(it->path(), it->path().lexically_relative(root).string());
  if (cases.empty())
    throw Failure(Exit::Failed, fmt::format("{} holds no case (a folder with model.onnx and test_data_set_0)", path));
  std::sort(cases.begin(), cases.end(), [](const TestCase &a, const TestCase &b) { return a.name < b.name; });
  return cases;
}

static std::vector<std::string> dataSets(const TestCase &test) {
  std::vector<std::string> sets;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(test.folder, error))
    if (entry.is_directory(error) && entry.path().filename().string().starts_with("test_data_set"))
      sets.push_back(entry.path().string());
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// Reads input_0.pb, input_1.pb, … up to the last one: the values of `infos`, as far as there are so many.
static std::vector<NamedValue> readAll(const std::string &folder, const char *stem,
                                       const std::vector<ValueInfo> &infos) {
  std::vector<NamedValue> values;
  for (size_t index = 0;; ++index) {
    std::string path = fmt::format("{}/{}_{}.pb", folder, stem, index);
    if (!fs::exists(path))
      return values;
    try {
      bool isTensor = index >= infos.size() || infos[index].isTensor();
      std::vector<uint8_t> bytes = readFile(path);
      values.push_back(isTensor ? NamedValue::of(parseTensorProto(bytes)) : parseContainerProto(bytes));
    } catch (const TensorError &error) {
      throw TensorError(fmt::format("{}_{}.pb: {}", stem, index, error.what()));
    }
  }
}

static Tolerance toleranceOf(const TestCase &test, const TestOptions &options) {
  Tolerance tolerance;
  std::string path = test.folder + "/data.json";
  if (fs::exists(path)) {
    std::vector<uint8_t> text = readFile(path);
    Json data = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    auto number = [&](const char *key, double fallback) {
      return data.is_object() && data.contains(key) && data[key].is_number() ? data[key].get<double>() : fallback;
    };
    tolerance.rtol = number("rtol", tolerance.rtol);
    tolerance.atol = number("atol", tolerance.atol);
  }
  tolerance.rtol = options.rtol.value_or(tolerance.rtol);
  tolerance.atol = options.atol.value_or(tolerance.atol);
  tolerance.ulp = options.ulp;
  return tolerance;
}

/// The inputs in the model's order. Files are numbered; names count if all of them are the model's.
static std::vector<const NamedValue *> orderInputs(const Model &model, const std::vector<NamedValue> &inputs) {
  auto named = [&](const NamedValue &value) {
    return std::any_of(model.inputs().begin(), model.inputs().end(),
                       [&](const ValueInfo &info) { return info.name == value.name; });
  };
  if (std::all_of(inputs.begin(), inputs.end(), named))
    return matchInputs(model.inputs(), inputs);
  if (inputs.size() != model.inputs().size())
    throw Failure(Exit::Failed,
                  fmt::format("the data have {} inputs, the model {}", inputs.size(), model.inputs().size()));
  std::vector<const NamedValue *> ordered;
  for (const NamedValue &input : inputs)
    ordered.push_back(&input);
  return ordered;
}

namespace {

/// A node with random numbers, which differ from those of the generator behind a case's expected outputs.
struct RandomNode {
  std::string name;
  std::vector<size_t> switches; ///< indices of inputs of the model; a value of 0 switches the randomness off
  std::vector<bool> reaches;    ///< of each output: whether it depends on the random numbers
};

/// Outputs that can't be compared with a data set, and the reason.
struct Unknown {
  std::vector<bool> outputs;
  std::string reason;

  void add(const RandomNode &node, const char *when) {
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = outputs[i] || node.reaches[i];
    if (reason.empty())
      reason = fmt::format("node '{}' draws random numbers{}; the case expects NumPy's", node.name, when);
  }
  bool isAll() const {
    return std::all_of(outputs.begin(), outputs.end(), [](bool unknown) { return unknown; });
  }
};

} // namespace

/// The random nodes that affect an output.
static std::vector<RandomNode> randomNodes(const Model &model) {
  auto place = [](const std::vector<ValueInfo> &infos, const std::string &name) {
    return static_cast<size_t>(
        std::find_if(infos.begin(), infos.end(), [&](const ValueInfo &info) { return info.name == name; }) -
        infos.begin());
  };
  std::vector<RandomNode> nodes;
  const Json report = Json::parse(model.statistics());
  for (const Json &told : report.value("random", Json::array())) {
    RandomNode node{told["node"], {}, std::vector<bool>(model.outputs().size())};
    for (const Json &name : told["switches"])
      if (size_t input = place(model.inputs(), name); input < model.inputs().size())
        node.switches.push_back(input);
    for (const Json &name : told["outputs"])
      node.reaches.at(place(model.outputs(), name)) = true;
    if (std::find(node.reaches.begin(), node.reaches.end(), true) != node.reaches.end())
      nodes.push_back(std::move(node));
  }
  return nodes;
}

static bool isOff(const RandomNode &node, const std::vector<const NamedValue *> &inputs) {
  return std::any_of(node.switches.begin(), node.switches.end(), [&](size_t input) {
    const NamedValue *value = inputs[input];
    return value && value->kind == NamedValue::Kind::Tensor && value->tensor().count() == 1 &&
           value->tensor().number(0) == 0;
  });
}

/// How a value differs from the expected one; empty if it does not.
static std::string difference(const NamedValue &actual, const NamedValue &expected, bool isOptional,
                              const Tolerance &tolerance, double &largestError) {
  // An optional tensor that is absent has no elements.
  bool areEmpty = actual.elements.empty() && expected.elements.empty();
  if (actual.kind != expected.kind && !(isOptional && areEmpty))
    return actual.kind == NamedValue::Kind::Absent ? "it is absent" : "it should be absent";
  if (actual.elements.size() != expected.elements.size())
    return fmt::format("it has {} elements instead of {}", actual.elements.size(), expected.elements.size());
  for (size_t i = 0; i < actual.elements.size(); ++i) {
    Comparison comparison = compare(actual.elements[i], expected.elements[i], tolerance);
    largestError = std::max(largestError, comparison.largestError);
    if (!comparison.difference.empty())
      return (actual.kind == NamedValue::Kind::Tensor ? "" : fmt::format("element {}: ", i)) + comparison.difference;
  }
  return "";
}

/// Returns false and a reason when a deterministic output differs.
static bool runDataSet(const std::string &folder, const std::vector<const NamedValue *> &inputs, const Model &model,
                       Session &session, const Tolerance &tolerance, const Unknown &unknown, Outcome &outcome) {
  std::vector<NamedValue> expected = readAll(folder, "output", model.outputs());
  if (expected.size() != model.outputs().size())
    throw Failure(Exit::Failed,
                  fmt::format("the data have {} outputs, the model {}", expected.size(), model.outputs().size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    session.setInput(i, inputs[i]);
  session.run();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (unknown.outputs[i])
      continue;
    std::string found = difference(session.value(i), expected[i], model.outputs()[i].kind == FREESTONE_OPTIONAL,
                                   tolerance, outcome.largestError);
    if (!found.empty()) {
      outcome.reason =
          fmt::format("{}: output '{}': {}", fs::path(folder).filename().string(), model.outputs()[i].name, found);
      return false;
    }
  }
  return true;
}

static void runAll(const TestCase &test, const TestOptions &options, Outcome &outcome) {
  std::string modelPath = test.folder + "/model.onnx";
  CompileArguments arguments = options.compile;
  if (!arguments.printIrTreeDir.empty())
    arguments.printIrTreeDir += "/" + test.name;
  Model model = Model::compile(modelPath, arguments);
  std::vector<RandomNode> nodes = randomNodes(model);
  Unknown always{std::vector<bool>(model.outputs().size()), ""};
  for (const RandomNode &node : nodes)
    if (node.switches.empty())
      always.add(node, "");
  if (!always.reason.empty() && always.isAll())
    throw Unsupported(always.reason);

  std::vector<std::string> sets = dataSets(test);
  if (sets.empty())
    throw Failure(Exit::Failed, "it has no test_data_set");
  Session session(model, options.threads);
  Tolerance tolerance = toleranceOf(test, options);
  std::string unsupported = always.reason;
  for (const std::string &folder : sets) {
    std::vector<NamedValue> values = readAll(folder, "input", model.inputs());
    std::vector<const NamedValue *> inputs = orderInputs(model, values);
    Unknown unknown = always;
    for (const RandomNode &node : nodes)
      if (!node.switches.empty() && !isOff(node, inputs))
        unknown.add(node, ", which these inputs do not turn off");
    if (unsupported.empty())
      unsupported = unknown.reason;
    if (!runDataSet(folder, inputs, model, session, tolerance, unknown, outcome)) {
      outcome.verdict = Verdict::WrongNumbers;
      return;
    }
  }
  if (!unsupported.empty())
    throw Unsupported(unsupported);
  outcome.verdict = Verdict::Pass;
}

Outcome runTestCase(const TestCase &test, const TestOptions &options) {
  Outcome outcome;
  double begin = now();
  try {
    runAll(test, options, outcome);
  } catch (const Unsupported &unsupported) {
    outcome.verdict = Verdict::Unsupported;
    outcome.reason = unsupported.what();
  } catch (const std::exception &error) {
    outcome.verdict = Verdict::Failed;
    outcome.reason = error.what();
  }
  std::replace(outcome.reason.begin(), outcome.reason.end(), '\n', ' ');
  outcome.seconds = now() - begin;
  return outcome;
}

} // namespace freestone::tools

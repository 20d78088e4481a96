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

/// input_0.pb, input_1.pb, … as many as there are.
static std::vector<NamedTensor> readAll(const std::string &folder, const char *stem) {
  std::vector<NamedTensor> tensors;
  for (int index = 0;; ++index) {
    std::string path = fmt::format("{}/{}_{}.pb", folder, stem, index);
    if (!fs::exists(path))
      return tensors;
    try {
      tensors.push_back(parseTensorProto(readFile(path)));
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

/// The layout numbers the inputs; names serve where all of them are the model's.
static void setInputs(Session &session, const Model &model, const std::vector<NamedTensor> &inputs) {
  auto named = [&](const NamedTensor &tensor) {
    return std::any_of(model.inputs().begin(), model.inputs().end(),
                       [&](const ValueInfo &info) { return info.name == tensor.name; });
  };
  if (std::all_of(inputs.begin(), inputs.end(), named))
    return session.setInputs(inputs);
  if (inputs.size() != model.inputs().size())
    throw Failure(Exit::Failed,
                  fmt::format("the data have {} inputs, the model {}", inputs.size(), model.inputs().size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    session.setInput(i, inputs[i].tensor);
}

/// Names of nodes that draw random numbers which these inputs do not turn off: what they make can't be expected by a
/// case.
static std::string randomNodes(const std::string &modelPath, const CompileArguments &arguments, const Model &model,
                               const std::vector<NamedTensor> &inputs) {
  Compiler::Check check = Compiler::open().check(CompileOptions(arguments, modelPath));
  auto isOff = [&](const std::string &name) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (model.inputs()[i].name == name && inputs[i].tensor.count() == 1 && inputs[i].tensor.number(0) == 0)
        return true;
    return false;
  };
  std::string names;
  for (const Json &node : Json::parse(check.report).value("random", Json::array()))
    if (std::none_of(node["switches"].begin(), node["switches"].end(), isOff))
      names += (names.empty() ? "" : ", ") + node["node"].get<std::string>();
  return names;
}

/// Returns false and a reason when the numbers differ.
static bool runDataSet(const std::string &folder, const std::vector<NamedTensor> &inputs, const Model &model,
                       Session &session, const Tolerance &tolerance, Outcome &outcome) {
  std::vector<NamedTensor> expected = readAll(folder, "output");
  if (expected.size() != model.outputs().size())
    throw Failure(Exit::Failed,
                  fmt::format("the data have {} outputs, the model {}", expected.size(), model.outputs().size()));
  setInputs(session, model, inputs);
  session.run();
  for (size_t i = 0; i < expected.size(); ++i) {
    Comparison comparison = compare(session.output(i), expected[i].tensor, tolerance);
    outcome.largestError = std::max(outcome.largestError, comparison.largestError);
    if (!comparison.difference.empty()) {
      outcome.reason = fmt::format("{}: output '{}': {}", fs::path(folder).filename().string(), model.outputs()[i].name,
                                   comparison.difference);
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
  std::vector<std::string> sets = dataSets(test);
  if (sets.empty())
    throw Failure(Exit::Failed, "it has no test_data_set");
  Session session(model, options.threads);
  Tolerance tolerance = toleranceOf(test, options);
  for (const std::string &folder : sets) {
    std::vector<NamedTensor> inputs = readAll(folder, "input");
    if (runDataSet(folder, inputs, model, session, tolerance, outcome))
      continue;
    std::string random = randomNodes(modelPath, arguments, model, inputs);
    outcome.verdict = random.empty() ? Verdict::WrongNumbers : Verdict::Unsupported;
    if (!random.empty())
      outcome.reason = fmt::format("node '{}' draws random numbers; the case expects NumPy's", random);
    return;
  }
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

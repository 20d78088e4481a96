#include "compiler/driver/Interface.h"

#include "compiler/device/Calibration.h"
#include "compiler/driver/InterfaceResults.h"
#include "compiler/driver/OptionsDevice.h"
#include "compiler/driver/PortText.h"
#include "compiler/interpreter/Interpreter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include <cstring>
#include <limits>

using namespace freestone;
using namespace freestone::driver;

namespace {

char *copyString(const std::string &text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/// Switches off the optimizations that `names` lists; records the first unknown name.
void disable(llvm::StringRef names, Options &options) {
  for (llvm::StringRef name : llvm::split(names, ',')) {
    auto *found = llvm::find_if(switchTable, [&](const SwitchInfo &info) { return name == info.name; });
    if (found != std::end(switchTable))
      options.switches.*found->isOn = false;
    else if (options.unknownSwitch.empty())
      options.unknownSwitch = name.str();
  }
}

} // namespace

freestone_compiler_result driver::succeeded(const std::string &text) {
  return {FREESTONE_COMPILER_OK, copyString(text), nullptr};
}

freestone_compiler_result driver::failedWith(const Failure &failure, const std::string *text) {
  freestone_compiler_status status = failure.kind == Failure::Kind::Usage         ? FREESTONE_COMPILER_USAGE
                                     : failure.kind == Failure::Kind::Unsupported ? FREESTONE_COMPILER_UNSUPPORTED
                                                                                  : FREESTONE_COMPILER_FAILED;
  return {status, text ? copyString(*text) : nullptr, copyString(failure.text)};
}

Options driver::readOptions(const freestone_compile_options &given) {
  freestone_compile_options known = {};
  std::memcpy(&known, &given, std::min(given.struct_size, sizeof(known)));
  Options options;
  if (known.target)
    options.target = known.target;
  if (known.device)
    options.device = {known.device, known.device_name ? known.device_name : "the device"};
  if (known.rates)
    options.rates = known.rates;
  options.level = known.optimization_level;
  options.switches = Switches::forLevel(known.optimization_level);
  if (known.disable && *known.disable)
    disable(known.disable, options);
  options.stripWeights = known.strip_weights;
  if (known.tilings)
    options.tilings = known.tilings;
  options.tune = known.tune;
  options.jobs = known.threads;
  if (known.progress)
    options.progress = [report = known.progress, user = known.progress_user](const Progress &progress) {
      freestone_compile_progress event = {sizeof(event), progress.phase, progress.done, progress.total};
      report(user, &event);
    };
  if (known.accept)
    options.accept = [accept = known.accept, user = known.accept_user](const std::string &model) {
      return accept(user, model.c_str()) != 0;
    };
  if (known.training)
    options.training = known.training;
  if (known.print_ir_tree_dir)
    options.printIrTreeDir = known.print_ir_tree_dir;
  if (known.cache_folder) {
    options.cache.folder = known.cache_folder;
    options.cache.mode = known.cache_read_only ? cache::Mode::ReadOnly : cache::Mode::ReadWrite;
    if (known.cache_max_bytes)
      options.cache.maxBytes = known.cache_max_bytes;
    options.cache.lockTimeoutSpent = std::chrono::milliseconds(known.cache_lock_timeout_spent);
    auto speaker = [say = known.say, user = known.say_user](bool isWarning) {
      return [=](const std::string &sentence) { say(user, isWarning, sentence.c_str()); };
    };
    if (known.say)
      options.cache.say = speaker(true);
    if (known.say && known.explain_misses)
      options.cache.explain = speaker(false);
    if (options.progress)
      options.cache.onWait = [report = options.progress] { report({"wait"}); };
  }
  for (size_t i = 0; i < known.dim_bound_count; ++i)
    options.dimBounds.push_back({known.dim_bounds[i].symbol, known.dim_bounds[i].minimum, known.dim_bounds[i].maximum,
                                 std::max<int64_t>(known.dim_bounds[i].multiple_of, 1)});
  return options;
}

namespace {

std::string print(llvm::json::Value value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

llvm::json::Array describeRandom(const std::vector<RandomNode> &nodes) {
  llvm::json::Array array;
  for (const RandomNode &node : nodes)
    array.push_back(llvm::json::Object{{"node", node.node}, {"switches", node.switches}, {"outputs", node.outputs}});
  return array;
}

llvm::json::Array describeSlow(const ScalarWork &work) {
  llvm::json::Array array;
  for (const ScalarProgram &program : work.findSlow())
    array.push_back(llvm::json::Object{{"node", program.node},
                                       {"shape", program.shape},
                                       {"scalar", program.scalar},
                                       {"operations", program.operations},
                                       {"reason", program.why}});
  return array;
}

std::string describeReport(const ModelReport &report, const ScalarWork &work, bool ok) {
  llvm::json::Object opsets;
  for (const auto &[domain, version] : report.opsets)
    opsets[domain] = version;
  llvm::json::Array unsupported;
  for (const UnsupportedNode &node : report.unsupported)
    unsupported.push_back(
        node.part.empty()
            ? llvm::json::Object{{"node", node.node}, {"op", node.op}, {"opset", node.opset}, {"reason", node.reason}}
            : llvm::json::Object{{node.part, node.node}, {"reason", node.reason}});
  return print(llvm::json::Object{{"ok", ok},
                                  {"opsets", std::move(opsets)},
                                  {"nodes", report.nodes},
                                  {"inputs", describePorts(report.inputs)},
                                  {"outputs", describePorts(report.outputs)},
                                  {"random", describeRandom(report.random)},
                                  {"slow", describeSlow(work)},
                                  {"unsupported", std::move(unsupported)}});
}

llvm::json::Value parseTraining(const std::string &training) {
  llvm::Expected<llvm::json::Value> step = llvm::json::parse(training.empty() ? "null" : training);
  return step ? std::move(*step) : llvm::json::Value(nullptr);
}

/// The text for `accept`.
std::string describeRead(const Compilation &compilation) {
  const ModelReport &report = compilation.getReport();
  return print(llvm::json::Object{{"inputs", describePorts(report.inputs)},
                                  {"outputs", describePorts(report.outputs)},
                                  {"training", parseTraining(compilation.getTraining())}});
}

} // namespace

std::string driver::describeStatistics(const Statistics &statistics, const std::vector<RandomNode> &random,
                                       const std::string &target, const std::string &training) {
  llvm::json::Array phases;
  double seconds = 0;
  for (const auto &[name, time] : statistics.seconds) {
    phases.push_back(llvm::json::Object{{"name", name}, {"seconds", time}});
    seconds += time;
  }
  llvm::json::Object counters;
  for (const auto &[name, count] : statistics.counters)
    counters[name] = count;
  return print(llvm::json::Object{{"training", parseTraining(training)},
                                  {"target", target},
                                  {"random", describeRandom(random)},
                                  {"phases", std::move(phases)},
                                  {"seconds", seconds},
                                  {"programs", statistics.programs},
                                  {"programs_shared", statistics.sharedPrograms},
                                  {"bytes", llvm::json::Object{{"file", statistics.fileBytes},
                                                               {"code", statistics.codeBytes},
                                                               {"weights", statistics.weightBytes}}},
                                  {"scalar_work", statistics.scalarWork.toJson()},
                                  {"counters", std::move(counters)}});
}

namespace {

void warmUp() {
  Options options;
  options.jobs = 1;
  Compilation compilation(options);
}

freestone_compiler_result check(const freestone_compile_options *given) {
  Options options = readOptions(*given);
  options.jobs = 1;
  options.tune = false;
  Compilation compilation(options);
  Failure failure;
  if (failed(compilation.import(given->model_path, failure)))
    return failedWith(failure);
  bool ok = llvm::succeeded(compilation.lower(failure));
  ModelReport report = compilation.getReport();
  if (!ok && report.unsupported.empty()) {
    // A level after the importer refused the model: its message names the node.
    report.unsupported.push_back({given->model_path, "", 0, failure.text, "model"});
  }
  std::string text = describeReport(report, compilation.getStatistics().scalarWork, ok);
  return ok ? succeeded(text) : failedWith(failure, &text);
}

freestone_compiler_result compile(const freestone_compile_options *given) {
  Options options = readOptions(*given);
  Compilation compilation(options);
  Failure failure;
  if (failed(compilation.import(given->model_path, failure)))
    return failedWith(failure);
  if (options.accept && compilation.getModel().module && !options.accept(describeRead(compilation)))
    return failedWith({Failure::Kind::Usage, "the model was not accepted"});
  if (failed(compilation.compile(given->output_path, failure)))
    return failedWith(failure);
  std::string target = options.device ? options.device->name : options.target;
  return succeeded(describeStatistics(compilation.getStatistics(), compilation.getReport().random, target,
                                      compilation.getTraining()));
}

freestone_compiler_result inspect(const freestone_compile_options *given, const char *name) {
  std::optional<Level> level = llvm::StringSwitch<std::optional<Level>>(name)
                                   .Case("graph", Level::Graph)
                                   .Case("tile", Level::Tile)
                                   .Case("tiles", Level::Tiles)
                                   .Case("profile", Level::Profile)
                                   .Case("task", Level::Task)
                                   .Case("llvm", Level::Llvm)
                                   .Case("asm", Level::Assembly)
                                   .Default(std::nullopt);
  if (!level)
    return failedWith(
        {Failure::Kind::Usage, std::string("there is no level '") + name + "': graph, tile, task, llvm or asm"});
  Compilation compilation(readOptions(*given));
  Failure failure;
  if (failed(compilation.import(given->model_path, failure)))
    return failedWith(failure);
  mlir::FailureOr<std::string> text = compilation.print(*level, failure);
  return failed(text) ? failedWith(failure) : succeeded(*text);
}

freestone_compiler_result interpret(const freestone_compile_options *given, const freestone_plain_tensor *inputs,
                                    size_t inputCount, int32_t wide, freestone_take_tensor take, void *user) {
  Options options = readOptions(*given);
  options.jobs = 1;
  Compilation compilation(options);
  Failure failure;
  if (failed(compilation.import(given->model_path, failure)))
    return failedWith(failure);
  if (failed(compilation.interpret({inputs, inputCount}, wide, take, user, failure)))
    return failedWith(failure);
  return {FREESTONE_COMPILER_OK, nullptr, nullptr};
}

freestone_compiler_result operators() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printOperatorTable(stream);
  return succeeded(text);
}

freestone_compiler_result describeDevice(const freestone_compile_options *given) {
  Options options = readOptions(*given);
  llvm::Expected<DeviceDescription> device = getDevice(options);
  if (!device)
    return failedWith({Failure::Kind::Usage, llvm::toString(device.takeError())});
  return succeeded(device->toJson());
}

freestone_compiler_result measureMachine() {
  llvm::Expected<DeviceDescription> device = DeviceDescription::get("host");
  if (!device)
    return failedWith({Failure::Kind::Usage, llvm::toString(device.takeError())});
  return succeeded(measureRates(*device).toJson());
}

void freeResult(freestone_compiler_result *result) {
  std::free(result->text);
  std::free(result->error);
  result->text = result->error = nullptr;
}

constexpr freestone_compiler_interface interface = {
    FREESTONE_COMPILER_INTERFACE_VERSION,
    "freestone " FREESTONE_VERSION ", LLVM " LLVM_VERSION_STRING,
    warmUp,
    check,
    compile,
    inspect,
    interpret,
    operators,
    describeDevice,
    measureMachine,
    freeResult,
    &graphInterface,
};

} // namespace

const freestone_compiler_interface *freestone_compiler() { return &interface; }

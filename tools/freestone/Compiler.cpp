#include "tools/freestone/Compiler.h"
#include "compilation/CompilerLibrary.h"
#include "compiler/driver/Switches.h"
#include "tools/freestone/CompileProgress.h"
#include "tools/freestone/Options.h"
#include "tools/tensor/Bytes.h"
#include "train/options/OptionRules.h"
#include <charconv>
#include <cstring>
#include <fmt/ranges.h>

namespace freestone::tools {

static constexpr double mostJobs = 1024;

static constexpr const char *group = "Compiling";

void CompileArguments::addDeviceTo(CLI::App &verb) {
  CLI::Option *targets = addWord(verb, "--target", target, train::choiceOf("target"), "host, x86-64-v3 or x86-64-v4");
  targets->group(group);
  auto readDevice = [this](const std::string &path) {
    if (path.empty())
      refuseValue("--device", path, "must not be empty");
    deviceName = "--device " + path;
    try {
      std::vector<uint8_t> bytes = readFile(path);
      device.emplace(bytes.begin(), bytes.end());
    } catch (const TensorError &error) {
      throw Failure(Exit::Failed, fmt::format("{}: {}", deviceName, error.what()));
    }
  };
  verb.add_option_function<std::string>("--device", readDevice,
                                        "the device to compile for, as 'freestone machine --json' describes one")
      ->type_name(fileKind)
      ->excludes(targets)
      ->group(group);
}

void CompileArguments::addTo(CLI::App &verb) {
  addDeviceTo(verb);
  addNumber(verb, "-O", level, words::wholeFrom(0, 3), "how hard to optimise")->group(group);
  addTexts(verb, "--dim", dims, formKind, "what a symbolic size may be: seq=2:1024, or seq=8:1024:8 for multiples of 8")
      ->group(group);
  addTexts(verb, "--bind", binds, formKind, "fixes a symbolic size: batch=8")->group(group);
  words::Choice switches;
  std::string effects = "leaves out optimisations, separated by commas:";
  for (const driver::SwitchInfo &info : driver::switchTable) {
    switches.words.emplace_back(info.name);
    effects += fmt::format("\n{} ({})", info.name, info.effect);
  }
  addWords(verb, "--disable", disabled, switches, effects)->group(group);
  addNumber(verb, "--compile-jobs", jobs, words::wholeFrom(1, mostJobs),
            "programs that are compiled at the same time; by default as many as CPUs and memory allow")
      ->default_str("")
      ->group(group);
  addText(verb, "--mlir-print-ir-tree-dir", printIrTreeDir, folderKind,
          "writes the program after every pass into this folder")
      ->group(group);
  verb.add_flag("--tune", tune,
                "times the best tilings of every contraction on this machine, and takes the fastest; keeps the times")
      ->group(group);
  addText(verb, "--tilings", tilings, fileKind, "tiles programs as the file says, for measurements: p0 #tile.map<…>")
      ->group("");
  verb.add_flag("--no-cache", noCache, "compiles even what was compiled before, and keeps nothing")->group(group);
  verb.add_flag("--explain-miss", explainMiss, "says why what was compiled before does not serve")->group(group);
}

bool CompileArguments::given(const CLI::App &verb) const {
  for (const char *option : {"--target", "--device", "-O", "--dim", "--bind", "--disable", "--compile-jobs",
                             "--mlir-print-ir-tree-dir", "--tune", "--tilings"})
    if (verb.count(option))
      return true;
  return false;
}

static bool parseSize(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

/// Parses "seq=2:1024", "seq=2:", "seq=8:1024:8" and "batch=8", the last only where `range` is false.
static freestone_dim_bound parseBound(const std::string &text, bool range, std::string &symbol) {
  freestone_dim_bound bound = {nullptr, 0, INT64_MAX, 1};
  size_t equals = text.find('=');
  std::string_view value = equals == std::string::npos ? std::string_view() : std::string_view(text).substr(equals + 1);
  symbol = text.substr(0, equals);
  bool valid;
  if (range) {
    size_t colon = value.find(':');
    valid = colon != std::string_view::npos && parseSize(value.substr(0, colon), bound.minimum);
    std::string_view rest = valid ? value.substr(colon + 1) : std::string_view();
    std::string_view maximum = rest.substr(0, rest.find(':'));
    valid = valid && (maximum.empty() || parseSize(maximum, bound.maximum)) && bound.minimum <= bound.maximum;
    if (maximum.size() < rest.size())
      valid = valid && parseSize(rest.substr(maximum.size() + 1), bound.multiple_of) && bound.multiple_of > 0;
  } else {
    valid = parseSize(value, bound.minimum);
    bound.maximum = bound.minimum;
  }
  if (symbol.empty() || !valid)
    throw Failure(Exit::Usage, range ? fmt::format("--dim {} is not of the form seq=2:1024 or seq=8:1024:8", text)
                                     : fmt::format("--bind {} is not of the form batch=8", text));
  return bound;
}

CompileOptions::CompileOptions(const CompileArguments &arguments, std::string model, std::string output,
                               std::string step)
    : target(arguments.target), device(arguments.device.value_or("")), deviceName(arguments.deviceName),
      modelPath(std::move(model)), outputPath(std::move(output)), training(std::move(step)),
      printIrTreeDir(arguments.printIrTreeDir), tilings(arguments.tilings),
      disabled(fmt::format("{}", fmt::join(arguments.disabled, ","))) {
  if (!printIrTreeDir.empty())
    requireFolder("--mlir-print-ir-tree-dir", printIrTreeDir);
  symbols.reserve(arguments.dims.size() + arguments.binds.size());
  for (bool range : {true, false})
    for (const std::string &text : range ? arguments.dims : arguments.binds) {
      bounds.push_back(parseBound(text, range, symbols.emplace_back()));
      bounds.back().symbol = symbols.back().c_str();
    }
  options.struct_size = sizeof(options);
  options.model_path = modelPath.c_str();
  options.output_path = outputPath.empty() ? nullptr : outputPath.c_str();
  options.target = target.c_str();
  options.device = arguments.device ? device.c_str() : nullptr;
  options.device_name = deviceName.c_str();
  options.optimization_level = arguments.level;
  options.strip_weights = arguments.stripWeights;
  options.threads = arguments.jobs;
  options.dim_bound_count = bounds.size();
  options.dim_bounds = bounds.data();
  options.training = training.empty() ? nullptr : training.c_str();
  options.disable = disabled.c_str();
  options.tilings = tilings.empty() ? nullptr : tilings.c_str();
  options.tune = arguments.tune;
  options.print_ir_tree_dir = printIrTreeDir.empty() ? nullptr : printIrTreeDir.c_str();
}

void CompileOptions::setRates(const std::string &text) {
  rates = text;
  options.rates = rates.empty() ? nullptr : rates.c_str();
}

void CompileOptions::keepCode(const cache::Store &store) {
  cacheFolder = store.folder()->path();
  options.cache_folder = cacheFolder.c_str();
  options.cache_read_only = !store.folder()->mayWrite();
  // 0 would mean the default.
  options.cache_max_bytes = std::max<uint64_t>(store.settings().maxBytes, 1);
  options.cache_lock_timeout_spent = store.lockTimeoutSpent().count();
  options.explain_misses = static_cast<bool>(store.settings().explain);
  options.say_user = const_cast<cache::Settings *>(&store.settings());
  options.say = [](void *user, int32_t isWarning, const char *sentence) {
    const auto &settings = *static_cast<const cache::Settings *>(user);
    if (const auto &say = isWarning ? settings.say : settings.explain)
      say(sentence);
  };
}

const Compiler &Compiler::open() {
  static const Compiler compiler = [] {
    try {
      return Compiler(&compilation::openCompiler());
    } catch (const freestone::Error &error) {
      throw Failure(Exit::Failed, error.what());
    }
  }();
  return compiler;
}

std::string Compiler::take(freestone_compiler_result result) const {
  std::string text = result.text ? result.text : "", error = result.error ? result.error : "";
  freestone_compiler_status status = result.status;
  interface->free_result(&result);
  switch (status) {
  case FREESTONE_COMPILER_OK:
    return text;
  case FREESTONE_COMPILER_UNSUPPORTED:
    throw Unsupported(error);
  case FREESTONE_COMPILER_USAGE:
    throw Failure(Exit::Usage, error);
  case FREESTONE_COMPILER_FAILED:
    break;
  }
  throw Failure(Exit::Failed, error);
}

Compiler::Check Compiler::check(const CompileOptions &options) const {
  freestone_compiler_result result = interface->check(options.get());
  if (result.status == FREESTONE_COMPILER_UNSUPPORTED) {
    Check check{false, result.text ? result.text : "", result.error ? result.error : ""};
    interface->free_result(&result);
    return check;
  }
  return {true, take(result), ""};
}

std::string Compiler::compile(const CompileOptions &options, const train::Acceptance &accept) const {
  CompileProgress progress("begins");
  freestone_compile_options observed = *options.get();
  observed.progress = CompileProgress::report;
  observed.progress_user = &progress;
  train::AcceptCall call(accept);
  call.addTo(observed);
  freestone_compiler_result result = interface->compile(&observed);
  if (call.hasThrown()) {
    interface->free_result(&result);
    call.rethrow();
  }
  return take(result);
}

std::string Compiler::inspect(const CompileOptions &options, const std::string &level) const {
  return take(interface->inspect(options.get(), level.c_str()));
}

/// Adds what the interpreter hands out: a tensor, an element of a sequence that has begun, or its beginning.
static void takeOutput(void *user, const freestone_plain_tensor *output) {
  auto &outputs = *static_cast<std::vector<NamedValue> *>(user);
  if (!output->type || output->rank < 0) {
    outputs.push_back({output->name, output->type ? NamedValue::Kind::Sequence : NamedValue::Kind::Absent, {}});
    return;
  }
  Tensor tensor(typeFromName(output->type).value(), {output->dims, output->dims + output->rank});
  std::memcpy(tensor.data(), output->data, tensor.bytes());
  if (!outputs.empty() && outputs.back().kind == NamedValue::Kind::Sequence && outputs.back().name == output->name)
    outputs.back().elements.push_back(std::move(tensor));
  else
    outputs.push_back(NamedValue::of({output->name, std::move(tensor)}));
}

std::vector<NamedValue> Compiler::interpret(const CompileOptions &options, const std::vector<NamedValue> &inputs,
                                            bool wide) const {
  std::vector<freestone_plain_tensor> plain;
  for (const NamedValue &input : inputs)
    for (const Tensor &tensor : input.elements)
      plain.push_back({input.name.c_str(), typeName(tensor.dtype()).data(), static_cast<int64_t>(tensor.shape().size()),
                       tensor.shape().data(), tensor.data()});
  std::vector<NamedValue> outputs;
  take(interface->interpret(options.get(), plain.data(), plain.size(), wide, takeOutput, &outputs));
  return outputs;
}

std::string Compiler::operators() const { return take(interface->operators()); }

std::string Compiler::describeDevice(const CompileOptions &options) const {
  return take(interface->describe_device(options.get()));
}

std::string Compiler::measureMachine() const { return take(interface->measure_machine()); }

} // namespace freestone::tools

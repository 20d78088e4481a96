#include "tools/freestone/CompileArguments.h"

#include "compiler/driver/Switches.h"
#include "tools/freestone/Failure.h"
#include "tools/freestone/Options.h"
#include "tools/tensor/Bytes.h"
#include "train/options/OptionRules.h"
#include <charconv>

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
      if (bytes.empty())
        throw Failure(Exit::Usage, deviceName + ": the file is empty");
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
static compilation::SizeRange parseRange(const std::string &text, bool range) {
  compilation::SizeRange bound;
  size_t equals = text.find('=');
  std::string_view value = equals == std::string::npos ? std::string_view() : std::string_view(text).substr(equals + 1);
  bound.symbol = text.substr(0, equals);
  bool valid;
  if (range) {
    size_t colon = value.find(':');
    valid = colon != std::string_view::npos && parseSize(value.substr(0, colon), bound.lower);
    std::string_view rest = valid ? value.substr(colon + 1) : std::string_view();
    std::string_view maximum = rest.substr(0, rest.find(':'));
    valid = valid && (maximum.empty() || parseSize(maximum, bound.upper)) && bound.lower <= bound.upper;
    if (maximum.size() < rest.size())
      valid = valid && parseSize(rest.substr(maximum.size() + 1), bound.multipleOf) && bound.multipleOf > 0;
  } else {
    valid = parseSize(value, bound.lower);
    bound.upper = bound.lower;
  }
  if (bound.symbol.empty() || !valid)
    throw Failure(Exit::Usage, range ? fmt::format("--dim {} is not of the form seq=2:1024 or seq=8:1024:8", text)
                                     : fmt::format("--bind {} is not of the form batch=8", text));
  return bound;
}

compilation::Order CompileArguments::order(const std::string &model) const {
  if (!printIrTreeDir.empty())
    requireFolder("--mlir-print-ir-tree-dir", printIrTreeDir);
  compilation::Order order;
  order.what.path = model;
  order.what.target = target;
  order.what.level = level;
  order.what.disabled = disabled;
  order.what.stripWeights = stripWeights;
  order.what.device = device.value_or("");
  for (bool isRange : {true, false})
    for (const std::string &text : isRange ? dims : binds)
      order.ranges.push_back(parseRange(text, isRange));
  order.jobs = jobs;
  order.tune = tune;
  // Dumping every pass requires every pass to run; replaced tilings are no part of a model's key.
  order.noCache = noCache || !printIrTreeDir.empty() || !tilings.empty();
  order.complete = [this](freestone_compile_options &options) {
    options.device_name = deviceName.c_str();
    options.tilings = tilings.empty() ? nullptr : tilings.c_str();
    options.print_ir_tree_dir = printIrTreeDir.empty() ? nullptr : printIrTreeDir.c_str();
  };
  return order;
}

} // namespace freestone::tools

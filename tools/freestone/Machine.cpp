// freestone machine: shows the device that models are compiled for, and measures this machine again.

#include "cache/Key.h"
#include "cache/MachineRates.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/Verbs.h"
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

namespace {

struct MachineArguments {
  CompileArguments compile;
  bool json = false, calibrate = false;
};

} // namespace

/// What is kept of this machine; measured again on request.
static cache::MachineRates getRates(const MachineArguments &arguments) {
  cache::Settings settings = cacheSettings();
  if (!arguments.calibrate)
    return cache::MachineRates::recall(settings);
  if (settings.folder.empty())
    throw Failure(Exit::Failed, "no folder for what is measured is known; set FREESTONE_CACHE_DIR");
  std::string reason;
  settings.say = [&](const std::string &sentence) { reason = sentence; };
  cache::MachineRates rates = cache::MachineRates::renew(settings, Compiler::measureMachine);
  if (!reason.empty())
    throw Failure(Exit::Failed, reason);
  return rates;
}

/// "48 KiB", "1.5 MiB"
static std::string showBytes(int64_t bytes) {
  if (bytes >= 1 << 20)
    return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.4g} KiB", static_cast<double>(bytes) / (1 << 10));
}

static std::string showRate(const Json &rates, const char *name, const char *unit) {
  return rates.contains(name) ? fmt::format("{:.4g} {}", rates[name].get<double>() * 1e-9, unit) : "estimated";
}

static void printDevice(const Json &device) {
  Json rates = device.value("rates", Json::object()), reads = rates.value("levels", Json::array());
  fmt::print("processor {}, {} cores, {} vector registers of {} bytes\n", device.value("cpu", ""),
             device.value("units", 0), device.value("vector_registers", 0), device.value("vector_bytes", 0));
  std::vector<std::string> instructions = device.value("instructions", std::vector<std::string>());
  for (const std::string &name : device.value("tile_instructions", std::vector<std::string>()))
    instructions.push_back(name);
  fmt::print("instructions {}\n", fmt::join(instructions, " "));
  size_t number = 0;
  for (const Json &level : device["memory_levels"]) {
    std::string rate = number < reads.size() ? fmt::format("{:.4g} GB/s", reads[number].get<double>() * 1e-9)
                                             : std::string("estimated");
    fmt::print("L{:<7}{:>10} in lines of {}, shared by {}; a core reads {}\n", ++number,
               showBytes(level.value("bytes", int64_t(0))), level.value("line_bytes", 0), level.value("shared_by", 0),
               rate);
  }
  fmt::print("memory  a core reads {}, writes {}, copies {}; all together read {}\n",
             showRate(rates, "memory_read", "GB/s"), showRate(rates, "memory_write", "GB/s"),
             showRate(rates, "memory_copy", "GB/s"), showRate(rates, "memory_read_by_all", "GB/s"));
  fmt::print("a core  {} of f32\n", showRate(rates, "multiply_adds", "G multiply-adds/s"));
  for (auto [name, what] :
       {std::pair("pairs_on_vectors", "bf16 on vectors"), std::pair("pairs_on_tiles", "bf16 on tiles"),
        std::pair("quads_on_vectors", "8-bit integers on vectors"),
        std::pair("quads_on_tiles", "8-bit integers on tiles")})
    if (rates.contains(name))
      fmt::print("        {} of {}\n", showRate(rates, name, "G multiply-adds/s"), what);
  if (rates.contains("cycles"))
    fmt::print("        {:.4g} GHz\n", rates["cycles"].get<double>() * 1e-9);
  if (rates.contains("exposed_reads"))
    fmt::print("        {:.0f} % of the time of reads from L2 beside multiply-adds\n",
               rates["exposed_reads"].get<double>() * 100);
  if (rates.contains("piece_seconds"))
    fmt::print("        {:.1f} ns until a piece of a row comes from beyond L2\n",
               rates["piece_seconds"].get<double>() * 1e9);
  if (rates.contains("hand_off_seconds"))
    fmt::print("        {:.0f} ns from one core's writing to another's seeing it\n",
               rates["hand_off_seconds"].get<double>() * 1e9);
}

static void showMachine(const MachineArguments &arguments) {
  bool isHere = !arguments.compile.device && arguments.compile.target.starts_with("host");
  if (arguments.calibrate && !isHere)
    throw Failure(Exit::Usage, "--calibrate measures this machine, and --target or --device names another");
  cache::MachineRates rates = isHere ? getRates(arguments) : cache::MachineRates();
  std::string device = Compiler(arguments.compile).describeDevice(rates.text);
  if (arguments.json) {
    fmt::print("{}\n", device);
    return;
  }
  printDevice(Json::parse(device));
  if (!isHere)
    return;
  if (rates.text.empty())
    fmt::print("not measured yet; the first compilation does, or --calibrate\n");
  else
    fmt::print("measured: {}, hash {}\n", rates.path, cache::hashOf(rates.text));
  if (rates.seconds > 0)
    fmt::print("it took {:.2f} s\n", rates.seconds);
}

void addMachineVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("machine", "Shows the device that models are compiled for, and its rates.");
  auto arguments = std::make_shared<MachineArguments>();
  arguments->compile.addDeviceTo(*verb);
  verb->add_flag("--calibrate", arguments->calibrate,
                 "measures this machine again; what was compiled before is compiled anew");
  verb->add_flag("--json", arguments->json, "prints the description that --device takes");
  verb->callback([arguments] { showMachine(*arguments); });
}

} // namespace freestone::tools

#include "tools/freestone/RuntimeOptions.h"

#include "tools/freestone/Model.h"
#include "tools/freestone/Options.h"
#include "train/options/OptionRules.h"
#include <map>

namespace freestone::tools {

TraceFile::TraceFile(const std::string &path) : timeline(nullptr, freestone_timeline_release) {
  if (path.empty())
    return;
  requireWritable("--trace", path);
  freestone_timeline *created = nullptr;
  check(freestone_timeline_create(path.c_str(), &created));
  timeline.reset(created);
}

void TraceFile::write() {
  if (timeline)
    check(freestone_timeline_write(timeline.get()));
}

static const std::map<std::string, uint32_t> switchBits = {
    {"spin", FREESTONE_SPIN},     {"moves", FREESTONE_MOVES}, {"overlap", FREESTONE_OVERLAP},
    {"alerts", FREESTONE_ALERTS}, {"deals", FREESTONE_DEALS}, {"claims", FREESTONE_CLAIMS},
    {"company", FREESTONE_COMPANY}};

void RuntimeOptions::addTo(CLI::App &verb, const std::string &group) {
  addNumber(verb, "--threads", threads, train::rangeOf("threads"),
            "workers; by default as many as this process may use")
      ->default_str("")
      ->group(group);
  addText(verb, "--trace", tracePath, newFileKind,
          "writes what every thread did when, task by task, as .json for ui.perfetto.dev")
      ->group(group);
  words::Choice switches;
  for (const auto &[name, bit] : switchBits)
    switches.words.push_back(name);
  addWords(verb, "--switch-off", switchedOff, switches,
           "of the runtime: spin (of workers that wait), moves (to CPUs of their own), overlap (of steps with what the "
           "host does, and of sums over replicas with passes), alerts (of workers before a run is ready), deals (of "
           "tiles by their times, rather than evenly), claims (of tiles that others have not begun, on a busy machine), "
           "company (short operators are not split where others keep the rest busy; they go where their data are)")
      ->group(group);
}

uint32_t RuntimeOptions::switches() const {
  uint32_t bits = 0;
  for (const std::string &name : switchedOff)
    bits |= switchBits.at(name);
  return bits;
}

} // namespace freestone::tools

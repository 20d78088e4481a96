#include "runtime/machine/Processor.h"

#include <algorithm>
#include <cstdlib>

using namespace freestone::runtime;

namespace {

Status refuse(const std::string &why) { return {Code::InvalidArgument, why}; }

/// A list such as "one, two or three".
std::string joinNames(const std::vector<std::string> &names, const char *last) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : last) + names[i];
  return text;
}

/// Removes the text up to the next comma from `rest` and returns it.
std::string_view takeWord(std::string_view &rest) {
  size_t comma = rest.find(',');
  std::string_view word = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  return word;
}

size_t findLevel(std::string_view name) {
  auto levels = architecture::levels();
  return std::ranges::find(levels, name) - levels.begin();
}

Processor describeMachine() {
  Processor processor;
  processor.level = "host";
  processor.isHere = true;
  for (const architecture::Feature &feature : architecture::features())
    if (architecture::isPresent(feature))
      processor.features.insert(feature.name);
  return processor;
}

Result<Processor> describeLevel(std::string_view name) {
  size_t level = findLevel(name);
  if (level == architecture::levels().size()) {
    std::vector<std::string> known = {"host"};
    known.insert(known.end(), architecture::levels().begin(), architecture::levels().end());
    return refuse("unknown target '" + std::string(name) + "'; it is " + joinNames(known, " or "));
  }
  Processor processor;
  processor.level = name;
  for (const architecture::Feature &feature : architecture::features())
    if (feature.level <= level)
      processor.features.insert(feature.name);
  return processor;
}

Status apply(std::string_view change, Processor &processor) {
  auto known = architecture::changes();
  auto found = std::ranges::find(known, change.substr(change.empty() ? 0 : 1), &architecture::Change::name);
  if (found == known.end() || (change.front() != '+' && change.front() != '-')) {
    std::vector<std::string> names;
    for (const architecture::Change &each : known)
      names.emplace_back(each.name);
    return refuse("unknown feature '" + std::string(change) + "' of a target; there are " + joinNames(names, " and ") +
                  ", with + or -");
  }
  if (change.front() == '-') {
    for (std::string_view feature : found->goes)
      processor.features.erase(feature);
  } else if (processor.hasLevel(architecture::levels()[found->level])) {
    processor.features.insert(found->comes.begin(), found->comes.end());
  } else {
    return refuse("'" + std::string(change) + "' is for targets with all that " +
                  std::string(architecture::levels()[found->level]) + " has");
  }
  processor.changes.emplace_back(change);
  return {};
}

Result<Processor> applyAll(Result<Processor> processor, std::string_view changes) {
  while (processor.ok() && !changes.empty())
    if (Status status = apply(takeWord(changes), *processor); !status.ok())
      return status;
  return processor;
}

} // namespace

bool Processor::hasLevel(std::string_view level) const {
  size_t index = findLevel(level);
  return std::ranges::all_of(architecture::features(), [&](const architecture::Feature &feature) {
    return feature.level > index || has(feature.name);
  });
}

Result<Processor> Processor::see(const Processor &machine, std::string_view seenAs) {
  std::string_view changes = seenAs, level = takeWord(changes);
  Result<Processor> seen = applyAll(level == "host" ? Result(machine) : describeLevel(level), changes);
  std::string assignment = std::string(hostVariable) + "=" + std::string(seenAs);
  if (!seen.ok())
    return refuse(assignment + ": " + seen.status().message());
  std::vector<std::string> absent;
  for (std::string_view feature : seen->features)
    if (!machine.has(feature))
      absent.emplace_back(feature);
  if (!absent.empty())
    return refuse(assignment + ": this machine has no " + joinNames(absent, " and no ") +
                  ", and the variable can only hide what a machine has");
  seen->isHere = true;
  seen->seenAs = seenAs;
  return seen;
}

Result<Processor> Processor::parse(std::string_view target) {
  std::string_view changes = target, level = takeWord(changes);
  if (level != "host")
    return applyAll(describeLevel(level), changes);
  const char *seen = std::getenv(hostVariable);
  return applyAll(seen && *seen ? see(describeMachine(), seen) : describeMachine(), changes);
}

bool freestone::runtime::isKnownFeature(std::string_view name) {
  return std::ranges::find(architecture::features(), name, &architecture::Feature::name) !=
         architecture::features().end();
}

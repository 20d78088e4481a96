#include "tools/freestone/UsageFault.h"

#include "words/NearNames.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::tools {

namespace {

/// The verb that parsing reached, and its name as typed: "cache prune".
struct Reached {
  const CLI::App *verb;
  std::string name;
};

} // namespace

static Reached findReached(const CLI::App &app) {
  Reached reached{&app, ""};
  while (!reached.verb->get_subcommands().empty()) {
    reached.verb = reached.verb->get_subcommands().front();
    reached.name += (reached.name.empty() ? "" : " ") + reached.verb->get_name();
  }
  return reached;
}

static std::string describeUnknownVerb(const Reached &reached, const std::string &given) {
  std::vector<std::string> verbs;
  for (const CLI::App *verb : reached.verb->get_subcommands([](const CLI::App *) { return true; }))
    verbs.push_back(verb->get_name());
  std::string list =
      (reached.name.empty() ? "the verbs are " : "the verbs of " + reached.name + " are ") + words::listNames(verbs);
  if (given.empty())
    return "a verb is missing; " + list;
  std::string suggestion = words::suggest(given, verbs);
  return fmt::format("there is no verb '{}'{} {}", given, suggestion.empty() ? ";" : suggestion, list);
}

static std::string describeUnknownOption(const Reached &reached, const std::string &given) {
  std::string name = given.substr(0, given.find('='));
  std::vector<std::string> options;
  for (const CLI::Option *option : reached.verb->get_options())
    if (!option->get_group().empty())
      for (const std::string &known : option->get_lnames())
        options.push_back("--" + known);
  return fmt::format("{} has no option {}{}", reached.name.empty() ? "the command" : reached.name, name,
                     words::suggest(name, options));
}

/// The option at the beginning of CLI11's message.
static const CLI::Option *findOption(const CLI::App &verb, const std::string &sentence) {
  return verb.get_option_no_throw(sentence.substr(0, sentence.find(':')));
}

/// Describes a wrong number of values.
static std::string describeCount(const CLI::Option &option) {
  std::string name = option.get_name();
  if (option.count() > static_cast<size_t>(option.get_items_expected_max()))
    return fmt::format("{} is given {} times; it takes one value", name, option.count());
  int count = option.get_items_expected_min();
  std::string about = option.get_description();
  return fmt::format("{} needs {} of the kind {}: {}", name,
                     count > 1 ? fmt::format("{} values", count) : std::string("a value"), option.get_type_name(),
                     about.substr(0, about.find('\n')));
}

static std::string describe(const Reached &reached, const CLI::App &app, const CLI::ParseError &error) {
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  auto option = std::ranges::find_if(unknown, [](const std::string &word) { return word.starts_with('-'); });
  if (option != unknown.end() && *option != "--")
    return describeUnknownOption(reached, *option);
  if (reached.verb->get_require_subcommand_min() > 0)
    return describeUnknownVerb(reached, unknown.empty() ? "" : unknown.front());
  if (!unknown.empty())
    return fmt::format("{} takes no further argument: '{}'", reached.name, unknown.front());
  std::string sentence = error.what();
  if (error.get_name() == "ArgumentMismatch")
    if (const CLI::Option *mismatched = findOption(*reached.verb, sentence))
      return describeCount(*mismatched);
  if (error.get_name() == "RequiredError")
    for (const CLI::Option *needed : reached.verb->get_options())
      if (needed->get_required() && needed->count() == 0)
        return fmt::format("{} needs {}: {}", reached.name, needed->get_name(), needed->get_description());
  return sentence;
}

std::string describeUsageFault(const CLI::App &app, const CLI::ParseError &error) {
  Reached reached = findReached(app);
  return fmt::format("{}\n{} {}{}--help lists what there is", describe(reached, app, error), app.get_name(),
                     reached.name, reached.name.empty() ? "" : " ");
}

} // namespace freestone::tools

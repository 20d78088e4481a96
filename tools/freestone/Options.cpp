#include "tools/freestone/Options.h"

#include "tools/freestone/Failure.h"
#include "train/Error.h"
#include "train/run/RunFolder.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace freestone::tools {

/// A value shortened to one line for messages.
static std::string shown(const std::string &value) {
  constexpr size_t longest = 80;
  std::string text = value.substr(0, longest);
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, '?');
  bool isPlain = !text.empty() && text.find_first_of(" '\"") == std::string::npos;
  return (isPlain ? text : "'" + text + "'") + (value.size() > longest ? "…" : "");
}

void refuseValue(const std::string &option, const std::string &value, const std::string &complaint) {
  throw Failure(Exit::Usage, fmt::format("{} {}: {}", option, shown(value), complaint));
}

/// The long name: "--output" of "-o,--output".
static std::string optionOf(const std::string &name) { return name.substr(name.find(',') + 1); }

CLI::Option *addNumberText(CLI::App &verb, const std::string &name, const words::NumberRange &range,
                           std::function<void(const std::string &)> set, const std::string &what,
                           const std::string &byDefault) {
  auto take = [name, range, set = std::move(set)](const std::string &text) {
    if (std::optional<std::string> complaint = range.complain(text))
      refuseValue(name, text, *complaint);
    set(text);
  };
  std::string limits = range.brief(), kind = range.isWhole ? "INT" : "NUMBER";
  return verb.add_option_function<std::string>(name, take, what)
      ->type_name(limits.empty() ? kind : fmt::format("{}({})", kind, limits))
      ->default_str(byDefault);
}

/// Refuses a word outside the choice.
static void check(const std::string &option, const words::Choice &choice, const std::string &word) {
  if (std::optional<std::string> complaint = choice.complain(word))
    refuseValue(option, word, *complaint);
}

CLI::Option *addWord(CLI::App &verb, const std::string &name, std::string &variable, const words::Choice &choice,
                     const std::string &what) {
  auto take = [name, choice, &variable](const std::string &text) {
    check(name, choice, text);
    variable = text;
  };
  return verb.add_option_function<std::string>(name, take, what)->type_name(wordKind)->default_str(variable);
}

CLI::Option *addWords(CLI::App &verb, const std::string &name, std::vector<std::string> &variable,
                      const words::Choice &choice, const std::string &what) {
  auto take = [name, choice, &variable](const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      check(name, choice, text);
    variable = texts;
  };
  return verb.add_option_function<std::vector<std::string>>(name, take, what)
      ->type_name(wordKind)
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option *addText(CLI::App &verb, const std::string &name, std::string &variable, const char *kind,
                     const std::string &what) {
  auto take = [option = optionOf(name), &variable](const std::string &text) {
    if (text.empty())
      refuseValue(option, text, "must not be empty");
    variable = text;
  };
  return verb.add_option_function<std::string>(name, take, what)->type_name(kind)->default_str(variable);
}

CLI::Option *addTexts(CLI::App &verb, const std::string &name, std::vector<std::string> &variable, const char *kind,
                      const std::string &what) {
  auto take = [name, &variable](const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      if (text.empty())
        refuseValue(name, text, "must not be empty");
    variable = texts;
  };
  return verb.add_option_function<std::vector<std::string>>(name, take, what)->type_name(kind)->allow_extra_args(false);
}

void requireFolder(const std::string &option, const std::string &path) {
  try {
    train::requireFolder(path);
  } catch (const train::Error &error) {
    throw Failure(Exit::Failed, fmt::format("{} {}: {}", option, shown(path), error.what()));
  }
}

void requireWritable(const std::string &option, const std::string &path) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty())
    folder = ".";
  const char *why = nullptr;
  if (std::filesystem::is_directory(path, ignored))
    why = "it is a folder";
  else if (!std::filesystem::is_directory(folder, ignored))
    why = "its folder is not there";
  else if (access(folder.c_str(), W_OK) != 0)
    why = std::strerror(errno);
  if (why)
    throw Failure(Exit::Failed, fmt::format("{} {}: can't be written: {}", option, shown(path), why));
}

} // namespace freestone::tools

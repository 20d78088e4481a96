// Options whose values are looked at as they are read: a wrong one is told with its option, the value, and what it may
// be. `--help` shows the kind of every value, by which tests know what to try.
#ifndef FREESTONE_TOOLS_FREESTONE_OPTIONS_H
#define FREESTONE_TOOLS_FREESTONE_OPTIONS_H

#include "words/Choice.h"
#include "words/NumberRange.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

namespace freestone::tools {

// Kinds of values that are no numbers.
inline constexpr const char *wordKind = "WORD";       ///< one of those that the description lists
inline constexpr const char *fileKind = "FILE";       ///< that is there
inline constexpr const char *newFileKind = "NEWFILE"; ///< that is written
inline constexpr const char *folderKind = "FOLDER";
inline constexpr const char *nameKind = "NAME"; ///< of something in the model or the data, or a pattern of such names
inline constexpr const char *formKind = "FORM"; ///< put together as the description says: seq=2:1024

/// An option that takes one number; `set` gets its text. `byDefault` is what `--help` says of it; empty: nothing.
CLI::Option *addNumberText(CLI::App &verb, const std::string &name, const words::NumberRange &range,
                           std::function<void(const std::string &)> set, const std::string &what,
                           const std::string &byDefault = "");

/// The number that a text is which is one; integers with all their digits.
template <typename Number> Number numberOf(const std::string &text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isExact = error == std::errc() && end == text.data() + text.size();
  return isExact ? number : static_cast<Number>(words::NumberRange::parse(text).value());
}

/// One that a variable holds, whose default is told.
template <typename Number>
CLI::Option *addNumber(CLI::App &verb, const std::string &name, Number &variable, const words::NumberRange &range,
                       const std::string &what) {
  auto set = [&variable](const std::string &text) { variable = numberOf<Number>(text); };
  return addNumberText(verb, name, range, set, what, fmt::format("{}", variable));
}
/// One that may be left to what `what` says.
template <typename Number>
CLI::Option *addNumber(CLI::App &verb, const std::string &name, std::optional<Number> &variable,
                       const words::NumberRange &range, const std::string &what) {
  auto set = [&variable](const std::string &text) { variable = numberOf<Number>(text); };
  return addNumberText(verb, name, range, set, what);
}

/// An option that takes one word.
CLI::Option *addWord(CLI::App &verb, const std::string &name, std::string &variable, const words::Choice &choice,
                     const std::string &what);
/// An option that takes words, separated by commas or given several times.
CLI::Option *addWords(CLI::App &verb, const std::string &name, std::vector<std::string> &variable,
                      const words::Choice &choice, const std::string &what);

/// An option that names a file, a folder or something in the model; an empty text is refused.
CLI::Option *addText(CLI::App &verb, const std::string &name, std::string &variable, const char *kind,
                     const std::string &what);
/// The same several times, each with one value.
CLI::Option *addTexts(CLI::App &verb, const std::string &name, std::vector<std::string> &variable, const char *kind,
                      const std::string &what);

/// Throws Failure (usage): "--batch 0: must be …". Values that are long are cut.
[[noreturn]] void refuseValue(const std::string &option, const std::string &value, const std::string &complaint);

/// Throws Failure unless a folder is there that can be written, or can be made. Writes nothing.
void requireFolder(const std::string &option, const std::string &path);

/// Throws Failure unless a file can be written there, before time is spent on what goes into it. Writes nothing.
void requireWritable(const std::string &option, const std::string &path);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_OPTIONS_H

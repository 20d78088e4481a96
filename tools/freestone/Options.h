// Options that are validated as they are parsed: a message names the option, the wrong value and the valid ones.
// `--help` shows the kind of every value, from which tests derive values to try.
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

// Kinds of values other than numbers.
inline constexpr const char *wordKind = "WORD";       ///< a word of the list in the description
inline constexpr const char *fileKind = "FILE";       ///< an existing file
inline constexpr const char *newFileKind = "NEWFILE"; ///< a file to write
inline constexpr const char *folderKind = "FOLDER";
inline constexpr const char *nameKind = "NAME"; ///< a name in the model or the data, or a pattern of names
inline constexpr const char *formKind = "FORM"; ///< composed as described: seq=2:1024

/// An option that takes one number; `set` gets its text. `byDefault` is the default shown by `--help`; may be empty.
CLI::Option *addNumberText(CLI::App &verb, const std::string &name, const words::NumberRange &range,
                           std::function<void(const std::string &)> set, const std::string &what,
                           const std::string &byDefault = "");

/// The number of a valid text; integers with all digits.
template <typename Number> Number numberOf(const std::string &text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isExact = error == std::errc() && end == text.data() + text.size();
  return isExact ? number : static_cast<Number>(words::NumberRange::parse(text).value());
}

/// An option for a number in a variable, whose value is the default shown.
template <typename Number>
CLI::Option *addNumber(CLI::App &verb, const std::string &name, Number &variable, const words::NumberRange &range,
                       const std::string &what) {
  auto set = [&variable](const std::string &text) { variable = numberOf<Number>(text); };
  return addNumberText(verb, name, range, set, what, fmt::format("{}", variable));
}
/// An option for a number that may be left out; `what` describes the default.
template <typename Number>
CLI::Option *addNumber(CLI::App &verb, const std::string &name, std::optional<Number> &variable,
                       const words::NumberRange &range, const std::string &what) {
  auto set = [&variable](const std::string &text) { variable = numberOf<Number>(text); };
  return addNumberText(verb, name, range, set, what);
}

/// An option that takes one word.
CLI::Option *addWord(CLI::App &verb, const std::string &name, std::string &variable, const words::Choice &choice,
                     const std::string &what);
/// An option that takes several words, comma-separated or repeated.
CLI::Option *addWords(CLI::App &verb, const std::string &name, std::vector<std::string> &variable,
                      const words::Choice &choice, const std::string &what);

/// An option that takes a file, a folder or a name in the model; an empty text is refused.
CLI::Option *addText(CLI::App &verb, const std::string &name, std::string &variable, const char *kind,
                     const std::string &what);
/// A repeatable option of this kind, with one value each time.
CLI::Option *addTexts(CLI::App &verb, const std::string &name, std::vector<std::string> &variable, const char *kind,
                      const std::string &what);

/// Throws Failure (usage): "--batch 0: must be …". Long values are shortened.
[[noreturn]] void refuseValue(const std::string &option, const std::string &value, const std::string &complaint);

/// Throws Failure unless the folder exists and is writable, or can be made. Writes nothing.
void requireFolder(const std::string &option, const std::string &path);

/// Throws Failure unless a file can be written there; called before spending time on its contents. Writes nothing.
void requireWritable(const std::string &option, const std::string &path);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_OPTIONS_H

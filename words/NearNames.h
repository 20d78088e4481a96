#ifndef FREESTONE_WORDS_NEARNAMES_H
#define FREESTONE_WORDS_NEARNAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace freestone::words {

/// The names of `known` that a misspelled name may mean, nearest first, at most three: those within a small edit
/// distance, those of which either is a prefix of the other, and those that contain the given name. Ignores case.
std::vector<std::string> nearNames(std::string_view given, const std::vector<std::string> &known);

/// "; did you mean 'adamw' or 'adam'?", or empty if no name is near.
std::string suggest(std::string_view given, const std::vector<std::string> &known);

/// "adam, adamw, … (57 in all)": a list for messages, with at most `most` names.
std::string listNames(const std::vector<std::string> &names, size_t most = 24);

} // namespace freestone::words

#endif // FREESTONE_WORDS_NEARNAMES_H

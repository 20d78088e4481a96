#ifndef FREESTONE_WORDS_NEARNAMES_H
#define FREESTONE_WORDS_NEARNAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace freestone::words {

/// Those of `known` that a misspelled name may mean, the nearest first, at most three: names that a few letters make
/// equal, of which one begins as the other does, or that have it in them. Upper and lower case are the same.
std::vector<std::string> nearNames(std::string_view given, const std::vector<std::string> &known);

/// "; did you mean 'adamw' or 'adam'?", or nothing where none is near.
std::string suggest(std::string_view given, const std::vector<std::string> &known);

/// "adam, adamw, … (57 in all)": names for a sentence, `most` of them at most.
std::string listNames(const std::vector<std::string> &names, size_t most = 24);

} // namespace freestone::words

#endif // FREESTONE_WORDS_NEARNAMES_H

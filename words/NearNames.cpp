#include "words/NearNames.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace freestone::words {

/// Longer names are compared by their prefixes, which bounds the size of the distance table.
static constexpr size_t longestCompared = 64;

static std::string lower(std::string_view text) {
  std::string result(text.substr(0, longestCompared));
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return result;
}

/// Edit distance: insertions, deletions, replacements and swaps of neighbouring letters.
static size_t distance(const std::string &one, const std::string &other) {
  std::vector<std::vector<size_t>> table(one.size() + 1, std::vector<size_t>(other.size() + 1));
  for (size_t i = 0; i <= one.size(); ++i)
    for (size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      bool isSame = one[i - 1] == other[j - 1];
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (isSame ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[one.size()][other.size()];
}

std::vector<std::string> nearNames(std::string_view given, const std::vector<std::string> &known) {
  constexpr size_t most = 3, shortestBeginning = 2, shortestPart = 3;
  std::string wanted = lower(given);
  std::vector<std::pair<size_t, size_t>> near; // distance, and index in `known`
  for (size_t index = 0; index < known.size(); ++index) {
    std::string candidate = lower(known[index]);
    size_t away = distance(wanted, candidate), shorter = std::min(wanted.size(), candidate.size());
    bool beginsAlike = shorter >= shortestBeginning && wanted.substr(0, shorter) == candidate.substr(0, shorter);
    bool isPart = wanted.size() >= shortestPart && candidate.find(wanted) != std::string::npos;
    bool isSpeltAlike = away <= std::max<size_t>(1, shorter / 3) && away < std::max(wanted.size(), candidate.size());
    if (wanted.empty() || (!beginsAlike && !isPart && !isSpeltAlike))
      continue;
    near.emplace_back(away, index);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(near.size(), most); ++i)
    names.push_back(known[near[i].second]);
  return names;
}

std::string suggest(std::string_view given, const std::vector<std::string> &known) {
  std::vector<std::string> near = nearNames(given, known);
  if (near.empty())
    return "";
  for (std::string &name : near)
    name = "'" + name + "'";
  return fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

std::string listNames(const std::vector<std::string> &names, size_t most) {
  if (names.size() <= most)
    return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, … ({} in all)", fmt::join(names.begin(), names.begin() + static_cast<int64_t>(most), ", "),
                     names.size());
}

} // namespace freestone::words

#include "cache/Explanation.h"

#include <algorithm>
#include <iterator>
#include <sstream>

using namespace freestone::cache;

static const std::string *find(const Ingredients &ingredients, const std::string &name) {
  for (const auto &[own, text] : ingredients.list())
    if (own == name)
      return &text;
  return nullptr;
}

/// The line of both texts in which they differ first.
static std::pair<std::string_view, std::string_view> firstDifference(std::string_view one, std::string_view other) {
  while (true) {
    size_t oneEnd = std::min(one.find('\n'), one.size()), otherEnd = std::min(other.find('\n'), other.size());
    std::string_view oneLine = one.substr(0, oneEnd), otherLine = other.substr(0, otherEnd);
    if (oneLine != otherLine || one.empty() || other.empty())
      return {oneLine, otherLine};
    one.remove_prefix(std::min(oneEnd + 1, one.size()));
    other.remove_prefix(std::min(otherEnd + 1, other.size()));
  }
}

/// How many lines only one of both has.
static size_t countDifferentLines(const Ingredients &one, const Ingredients &other) {
  auto linesOf = [](const Ingredients &ingredients) {
    std::vector<std::string> lines;
    for (const auto &[name, text] : ingredients.list()) {
      std::istringstream stream(text);
      for (std::string line; std::getline(stream, line);)
        lines.push_back(name + ": " + line);
    }
    std::ranges::sort(lines);
    return lines;
  };
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(linesOf(one), linesOf(other), std::back_inserter(different));
  return different.size();
}

static std::string shown(std::string_view line) {
  constexpr size_t longest = 400;
  std::string text(line.substr(0, longest));
  if (line.size() > longest)
    text += "…";
  return line.empty() ? "nothing" : text;
}

std::vector<std::string> freestone::cache::differences(const Ingredients &one, const Ingredients &other) {
  std::vector<std::string> lines;
  for (const auto &[name, text] : one.list()) {
    const std::string *counterpart = find(other, name);
    if (counterpart && *counterpart == text)
      continue;
    auto [mine, theirs] = firstDifference(text, counterpart ? std::string_view(*counterpart) : std::string_view());
    lines.push_back(name + ": " + shown(mine) + ", not " + shown(theirs));
  }
  for (const auto &[name, text] : other.list())
    if (!find(one, name))
      lines.push_back(name + ": nothing, not " + shown(text));
  return lines;
}

std::string freestone::cache::explainMiss(const Folder &folder, Kind kind, const Ingredients &wanted) {
  std::vector<std::string> nearest;
  std::string nearestKey;
  std::pair<size_t, size_t> least;
  try {
    for (const EntryFile &file : listEntries(folder)) {
      if (file.kind != kind)
        continue;
      try {
        Entry entry = EntryReader(folder).open(kind, file.key, Check::MetadataOnly);
        const Ingredients &ingredients = entry.ingredients();
        std::vector<std::string> lines = differences(wanted, ingredients);
        std::pair distance(lines.size(), countDifferentLines(wanted, ingredients));
        if (nearestKey.empty() || distance < least) {
          nearest = std::move(lines);
          nearestKey = file.key;
          least = distance;
        }
      } catch (const std::runtime_error &) {
        // Damaged, or gone meanwhile.
      }
    }
  } catch (const FileError &error) {
    return std::string("the cache can't be searched: ") + error.what();
  }
  std::string text = std::string("not in the cache: ") + nameOf(kind) + " " + wanted.key();
  if (nearestKey.empty())
    return text + "; there is no other to compare with";
  text += "; the nearest entry, " + nearestKey + ", differs in";
  for (const std::string &line : nearest)
    text += "\n  " + line;
  return text;
}

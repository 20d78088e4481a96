#include "cache/Explanation.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace freestone::cache;
using OrderedJson = nlohmann::ordered_json;

namespace {

/// A place where an ingredient differs between two entries, with both values.
struct Difference {
  std::string place;
  std::string mine, theirs; ///< "nothing" where there is nothing
};

} // namespace

static const std::string *find(const Ingredients &ingredients, const std::string &name) {
  for (const auto &[own, text] : ingredients.list())
    if (own == name)
      return &text;
  return nullptr;
}

/// Start of the UTF-8 character that contains the byte at `position`.
static size_t beginOfCharacter(std::string_view text, size_t position) {
  while (position > 0 && position < text.size() && (text[position] & 0xc0) == 0x80)
    --position;
  return position;
}

/// The line of `text` around `position`, shortened if long.
static std::string window(std::string_view text, size_t position) {
  constexpr size_t longest = 400, before = 100;
  size_t begin = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;
  size_t end = std::min(text.find('\n', position), text.size());
  size_t first = begin, last = end;
  if (end - begin > longest) {
    first = beginOfCharacter(text, std::max(begin + before, position) - before);
    last = beginOfCharacter(text, std::min(first + longest, end));
  }
  return (first > begin ? "…" : "") + std::string(text.substr(first, last - first)) + (last < end ? "…" : "");
}

/// The first difference of two texts.
static Difference compareTexts(const std::string &place, std::string_view one, std::string_view other) {
  auto orNothing = [](std::string shown) { return shown.empty() ? "nothing" : shown; };
  auto position = static_cast<size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  // A text that ends where the other begins a new line lacks that line.
  auto ends = [position](std::string_view text) { return text.size() == position; };
  auto goesOn = [position](std::string_view text) { return position < text.size() && text[position] == '\n'; };
  if ((ends(one) && goesOn(other)) || (goesOn(one) && ends(other))) {
    std::string line = window(ends(one) ? other : one, position + 1);
    line = line.empty() ? "an empty line" : line;
    return ends(one) ? Difference{place, "nothing", line} : Difference{place, line, "nothing"};
  }
  return {place, orNothing(window(one, position)), orNothing(window(other, position))};
}

/// Appends all differences of two values; null: absent.
static void compareValues(const std::string &place, const OrderedJson *one, const OrderedJson *other,
                          std::vector<Difference> &found) {
  if (one && other && one->is_object() && other->is_object()) {
    auto member = [](const OrderedJson &object, const std::string &key) {
      auto place = object.find(key);
      return place == object.end() ? nullptr : &*place;
    };
    for (const auto &[key, value] : one->items())
      compareValues(place + "." + key, &value, member(*other, key), found);
    for (const auto &[key, value] : other->items())
      if (!one->contains(key))
        compareValues(place + "." + key, nullptr, &value, found);
    return;
  }
  if (one && other && one->is_array() && other->is_array()) {
    for (size_t i = 0; i < std::max(one->size(), other->size()); ++i)
      compareValues(place + "[" + std::to_string(i) + "]", i < one->size() ? &(*one)[i] : nullptr,
                    i < other->size() ? &(*other)[i] : nullptr, found);
    return;
  }
  // Quotes distinguish words from numbers and from absent values.
  auto isWord = [](const OrderedJson *value) { return value && value->is_string() && *value != ""; };
  bool plain = isWord(one) && isWord(other);
  auto textOf = [plain](const OrderedJson *value) {
    if (!value)
      return std::string();
    return plain ? value->get<std::string>() : value->dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  };
  if (std::string mine = textOf(one), theirs = textOf(other); mine != theirs)
    found.push_back(compareTexts(place, mine, theirs));
}

/// The differences of two ingredients of one name; null: absent. Of texts that are not JSON, the first one.
static std::vector<Difference> compareIngredients(const std::string &name, const std::string *one,
                                                  const std::string *other) {
  auto parse = [](const std::string *text) {
    return text && text->starts_with('{') ? OrderedJson::parse(*text, nullptr, /*allow_exceptions=*/false)
                                          : OrderedJson();
  };
  std::vector<Difference> found;
  if (OrderedJson mine = parse(one), theirs = parse(other); mine.is_object() && theirs.is_object())
    compareValues(name, &mine, &theirs, found);
  // Equal values may still differ in their text.
  if (found.empty())
    found.push_back(compareTexts(name, one ? std::string_view(*one) : "", other ? std::string_view(*other) : ""));
  return found;
}

/// The number of lines that only one of the texts has.
static size_t countDifferentLines(const std::string &one, const std::string &other) {
  auto linesOf = [](const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  };
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(linesOf(one), linesOf(other), std::back_inserter(different));
  return different.size();
}

/// Calls `take` with the name and both texts of every ingredient that differs.
template <typename Take> static void forEachDifferent(const Ingredients &one, const Ingredients &other, Take take) {
  for (const auto &[name, text] : one.list())
    if (const std::string *counterpart = find(other, name); !counterpart || *counterpart != text)
      take(name, &text, counterpart);
  for (const auto &[name, text] : other.list())
    if (!find(one, name))
      take(name, static_cast<const std::string *>(nullptr), &text);
}

/// The number of ingredients that differ, and the number of places.
static std::pair<size_t, size_t> distanceOf(const Ingredients &one, const Ingredients &other) {
  std::pair<size_t, size_t> distance;
  forEachDifferent(one, other, [&](const std::string &name, const std::string *mine, const std::string *theirs) {
    ++distance.first;
    size_t lines = mine && theirs ? countDifferentLines(*mine, *theirs) : 1;
    // A difference counts once for each side, as a line does.
    distance.second += std::max(lines, 2 * compareIngredients(name, mine, theirs).size());
  });
  return distance;
}

std::vector<std::string> freestone::cache::differences(const Ingredients &one, const Ingredients &other) {
  constexpr size_t most = 16;
  std::vector<std::string> lines;
  forEachDifferent(one, other, [&](const std::string &name, const std::string *mine, const std::string *theirs) {
    std::vector<Difference> found = compareIngredients(name, mine, theirs);
    size_t shown = std::min(found.size(), most);
    for (size_t i = 0; i < shown; ++i)
      lines.push_back(found[i].place + ": " + found[i].mine + ", not " + found[i].theirs);
    if (shown < found.size())
      lines.push_back(name + ": and in " + std::to_string(found.size() - shown) + " other places");
  });
  return lines;
}

std::string freestone::cache::explainMiss(const Folder &folder, Kind kind, const Ingredients &wanted) {
  std::string nearestKey;
  Ingredients nearest;
  std::pair<size_t, size_t> least;
  try {
    for (const EntryFile &file : listEntries(folder)) {
      if (file.kind != kind)
        continue;
      try {
        Entry entry = EntryReader(folder).open(kind, file.key, Check::MetadataOnly);
        std::pair<size_t, size_t> distance = distanceOf(wanted, entry.ingredients());
        if (nearestKey.empty() || distance < least) {
          nearest = entry.ingredients();
          nearestKey = file.key;
          least = distance;
        }
      } catch (const std::runtime_error &) {
        // Damaged or removed meanwhile.
      }
    }
  } catch (const FileError &error) {
    return std::string("the cache can't be searched: ") + error.what();
  }
  std::string text = std::string("not in the cache: ") + nameOf(kind) + " " + wanted.key();
  if (nearestKey.empty())
    return text + "; there is no other to compare with";
  text += "; the nearest entry, " + nearestKey + ", differs in";
  for (const std::string &line : differences(wanted, nearest))
    text += "\n  " + line;
  return text;
}

#include "words/Choice.h"

#include "words/NearNames.h"
#include <algorithm>

namespace freestone::words {

/// "file:" of "file:LOSS.onnx"
static std::string_view prefixOf(std::string_view form) { return form.substr(0, form.find(':') + 1); }

bool Choice::contains(std::string_view text) const {
  if (std::ranges::any_of(forms, [&](const std::string &form) {
        return text.starts_with(prefixOf(form)) && text.size() > prefixOf(form).size();
      }))
    return true;
  while (!additions.empty() && text.find(',') != text.npos) {
    size_t comma = text.rfind(',');
    if (std::ranges::find(additions, text.substr(comma + 1)) == additions.end())
      return false;
    text = text.substr(0, comma);
  }
  return std::ranges::find(words, text) != words.end();
}

std::string Choice::describe() const {
  std::vector<std::string> all = words;
  all.insert(all.end(), forms.begin(), forms.end());
  std::string last = all.back();
  all.pop_back();
  std::string text = all.empty() ? last : listNames(all, all.size()) + " or " + last;
  if (!additions.empty())
    text += ", and behind it after commas " + listNames(additions, additions.size());
  return text;
}

std::optional<std::string> Choice::complain(std::string_view text) const {
  if (contains(text))
    return std::nullopt;
  std::string word(text.substr(0, additions.empty() ? text.npos : text.find(',')));
  return "must be " + describe() + (contains(word) ? "" : suggest(word, words));
}

} // namespace freestone::words

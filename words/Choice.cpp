#include "words/Choice.h"

#include "words/NearNames.h"
#include <algorithm>

namespace freestone::words {

/// "file:" of "file:LOSS.onnx"
static std::string_view prefixOf(std::string_view form) { return form.substr(0, form.find(':') + 1); }

bool Choice::contains(std::string_view text) const {
  return std::ranges::find(words, text) != words.end() || std::ranges::any_of(forms, [&](const std::string &form) {
           return text.starts_with(prefixOf(form)) && text.size() > prefixOf(form).size();
         });
}

std::string Choice::describe() const {
  std::vector<std::string> all = words;
  all.insert(all.end(), forms.begin(), forms.end());
  std::string last = all.back();
  all.pop_back();
  return all.empty() ? last : listNames(all, all.size()) + " or " + last;
}

std::optional<std::string> Choice::complain(std::string_view text) const {
  if (contains(text))
    return std::nullopt;
  return "must be " + describe() + suggest(text, words);
}

} // namespace freestone::words

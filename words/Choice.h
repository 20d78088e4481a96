#ifndef FREESTONE_WORDS_CHOICE_H
#define FREESTONE_WORDS_CHOICE_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace freestone::words {

/// The valid words of an option.
struct Choice {
  std::vector<std::string> words;
  /// Further valid forms, for messages: "file:LOSS.onnx" stands for `file:` followed by any text.
  std::vector<std::string> forms = {};
  /// Valid additions to a word, each after a comma: "x86-64-v4,+amx-bf16".
  std::vector<std::string> additions = {};

  bool contains(std::string_view text) const;
  /// "sgd, adam or file:OPTIMIZER.onnx"
  std::string describe() const;
  /// Why a text is no valid value: "must be fp32, bf16 or fp16; did you mean 'bf16'?"; nothing if it is valid.
  std::optional<std::string> complain(std::string_view text) const;
};

} // namespace freestone::words

#endif // FREESTONE_WORDS_CHOICE_H

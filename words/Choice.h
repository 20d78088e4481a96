#ifndef FREESTONE_WORDS_CHOICE_H
#define FREESTONE_WORDS_CHOICE_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace freestone::words {

/// The words that an option takes.
struct Choice {
  std::vector<std::string> words;
  /// What it takes besides, as it is told: "file:LOSS.onnx" stands for `file:` and anything behind it.
  std::vector<std::string> forms = {};
  /// What may stand behind one of the words, each after a comma: "x86-64-v4,+amx-bf16".
  std::vector<std::string> additions = {};

  bool contains(std::string_view text) const;
  /// "sgd, adam or file:OPTIMIZER.onnx"
  std::string describe() const;
  /// Why a text can't be the value: "must be fp32, bf16 or fp16; did you mean 'bf16'?"; nothing if it can.
  std::optional<std::string> complain(std::string_view text) const;
};

} // namespace freestone::words

#endif // FREESTONE_WORDS_CHOICE_H

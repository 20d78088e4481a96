#ifndef FREESTONE_TRAIN_DATA_TOKENDATASET_H
#define FREESTONE_TRAIN_DATA_TOKENDATASET_H

#include "train/data/ArrayFiles.h"
#include "train/data/Dataset.h"

namespace freestone::train {

/// The number of tokens of a sample: each batch draws a length from shortest to longest, which all its samples share.
struct Window {
  int64_t shortest = 0;
  int64_t longest = 0; ///< inclusive
};

/// "64" or "32:256". Throws Error.
Window parseWindow(const std::string &text);

/// Windows of one long text. A sample of length L begins at some token i: the inputs are tokens [i, i + L), the labels
/// [i + 1, i + L + 1). An epoch consists of adjacent windows of the longest length. When shuffled, each epoch begins at
/// another token and wraps around, so that over the epochs every token is seen at every position. An evaluation reads
/// windows of the longest length and a shorter last one, so that every token but the first is a label once; models that
/// can't take such a batch leave out the last window.
class TokenDataset : public Dataset {
public:
  /// `tokens` is one-dimensional, of any integer type, longer than a window, and must outlive the dataset. `inputs` and
  /// `labels` are integer fields of shape [batch, length]; tokens are converted to their types. Throws Error.
  TokenDataset(const formats::TensorView &tokens, Window window, Field inputs, Field labels);

  int64_t length(const BatchPlace &place) const override;
  int64_t longest() const override { return window.longest; }
  void sampleSizes(size_t field, int64_t length, std::vector<int64_t> &sizes) const override;
  void copySample(size_t field, int64_t sample, int64_t length, const BatchPlace &place,
                  uint8_t *target) const override;
  void checkRanges() const override;
  std::vector<std::unique_ptr<Dataset>> evaluationParts() const override;

private:
  /// Throws Error for a token out of a field's range.
  [[noreturn]] void refuse(const Field &field, int64_t token) const;
  bool takesOtherLengths() const;

  const formats::TensorView &tokens;
  Window window;
  int64_t first = 0; ///< first token of the first window, unless shuffled
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_TOKENDATASET_H

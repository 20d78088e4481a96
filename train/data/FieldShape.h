#ifndef FREESTONE_TRAIN_DATA_FIELDSHAPE_H
#define FREESTONE_TRAIN_DATA_FIELDSHAPE_H

#include "formats/TensorView.h"
#include "train/data/Dataset.h"
#include <map>

namespace freestone::train {

/// "[batch, 784] f32"
std::string describeField(const Field &field);
/// "0 to 9, or -100"
std::string describeRange(const IntegerRange &range);
/// The number of a constant dimension; nothing for a symbol or an expression.
std::optional<int64_t> fixedSize(const std::string &dimension);

/// The sizes of the fields' symbols, bound by the arrays.
class SymbolSizes {
public:
  /// Throws Error when dimension `dim` of `array` contradicts the field or another array.
  void check(const Field &field, const formats::TensorView &array, size_t dim);

private:
  struct Binding {
    int64_t size;
    std::string array;
  };
  std::map<std::string, Binding> bindings;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_FIELDSHAPE_H

#ifndef FREESTONE_FORMATS_TENSORVIEW_H
#define FREESTONE_FORMATS_TENSORVIEW_H

#include "formats/Bytes.h"
#include "freestone/runtime.h"
#include <string>
#include <vector>

namespace freestone::formats {

/// A view of a named tensor: little-endian, C-contiguous, exactly as many bytes as its shape needs, possibly unaligned.
/// i1 is one byte; in foreign files any number but 0 is true.
struct TensorView {
  std::string name;
  freestone_dtype dtype = FREESTONE_F32;
  std::vector<int64_t> shape;
  Bytes bytes;
};

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_TENSORVIEW_H

#ifndef FREESTONE_FORMATS_TENSORVIEW_H
#define FREESTONE_FORMATS_TENSORVIEW_H

#include "formats/Bytes.h"
#include "freestone/runtime.h"
#include <string>
#include <vector>

namespace freestone::formats {

/// A named tensor in memory that others own: little-endian, C-contiguous, exactly as many bytes as its shape needs,
/// perhaps not aligned. i1 is one byte; in files that others wrote it may hold any number but 0 for true.
struct TensorView {
  std::string name;
  freestone_dtype dtype = FREESTONE_F32;
  std::vector<int64_t> shape;
  Bytes bytes;
};

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_TENSORVIEW_H

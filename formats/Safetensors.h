// safetensors: an 8-byte length, a JSON header with dtype, shape and offsets of each tensor, then their bytes.
#ifndef FREESTONE_FORMATS_SAFETENSORS_H
#define FREESTONE_FORMATS_SAFETENSORS_H

#include "formats/TensorView.h"
#include <map>
#include <span>

namespace freestone::formats {

/// A file taken apart; the tensors are views of its bytes.
struct SafetensorsFile {
  std::vector<TensorView> tensors; ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Validates all of the header: nothing truncated, tensors neither overlap nor leave gaps, sizes agree with shapes.
/// Throws FormatError, naming the tensor; element types below 8 bits and f8 are refused by name.
SafetensorsFile parseSafetensors(Bytes file);

/// What stands before the bytes of `tensors`, which follow in this order without gaps; its size is a multiple of 64.
std::string formatSafetensorsHeader(std::span<const TensorView> tensors,
                                    const std::map<std::string, std::string> &metadata = {});

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_SAFETENSORS_H

#include "formats/OnnxElementType.h"

namespace freestone::formats {

std::optional<freestone_dtype> elementTypeFromOnnx(int64_t number) {
  switch (number) {
  case 1:
    return FREESTONE_F32;
  case 2:
    return FREESTONE_U8;
  case 3:
    return FREESTONE_I8;
  case 4:
    return FREESTONE_U16;
  case 5:
    return FREESTONE_I16;
  case 6:
    return FREESTONE_I32;
  case 7:
    return FREESTONE_I64;
  case 9:
    return FREESTONE_I1;
  case 10:
    return FREESTONE_F16;
  case 11:
    return FREESTONE_F64;
  case 12:
    return FREESTONE_U32;
  case 13:
    return FREESTONE_U64;
  case 16:
    return FREESTONE_BF16;
  }
  return std::nullopt;
}

} // namespace freestone::formats

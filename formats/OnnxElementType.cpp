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
  case 17:
    return FREESTONE_F8E4M3FN;
  case 18:
    return FREESTONE_F8E4M3FNUZ;
  case 19:
    return FREESTONE_F8E5M2;
  case 20:
    return FREESTONE_F8E5M2FNUZ;
  case 21:
    return FREESTONE_U4;
  case 22:
    return FREESTONE_I4;
  case 23:
    return FREESTONE_F4E2M1;
  case 24:
    return FREESTONE_F8E8M0;
  case 25:
    return FREESTONE_U2;
  case 26:
    return FREESTONE_I2;
  }
  return std::nullopt;
}

} // namespace freestone::formats

#include "python/module/ElementTypes.h"

#include <cstring>

using namespace freestone::python;

bool freestone::python::typeOfFormat(const char *format, ptrdiff_t itemSize, DLDataType &type) {
  // Without a format the elements are unsigned bytes.
  const char *letter = format ? format : "B";
  if (*letter == '@' || *letter == '=' || *letter == '<')
    ++letter;
  if (!*letter || letter[1])
    return false;
  uint8_t code;
  if (*letter == '?')
    code = kDLBool;
  else if (std::strchr("bhilqn", *letter))
    code = kDLInt;
  else if (std::strchr("BHILQN", *letter))
    code = kDLUInt;
  else if (std::strchr("efd", *letter))
    code = kDLFloat;
  else
    return false;
  type = {code, static_cast<uint8_t>(8 * itemSize), 1};
  return true;
}

const char *freestone::python::numpyType(freestone_dtype type) {
  switch (type) {
  case FREESTONE_F16:
    return "float16";
  case FREESTONE_BF16:
    return "bfloat16";
  case FREESTONE_F32:
    return "float32";
  case FREESTONE_F64:
    return "float64";
  case FREESTONE_I1:
    return "bool";
  case FREESTONE_I8:
    return "int8";
  case FREESTONE_I16:
    return "int16";
  case FREESTONE_I32:
    return "int32";
  case FREESTONE_I64:
    return "int64";
  case FREESTONE_U8:
    return "uint8";
  case FREESTONE_U16:
    return "uint16";
  case FREESTONE_U32:
    return "uint32";
  case FREESTONE_U64:
    return "uint64";
  }
  return "";
}

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
  case FREESTONE_F8E4M3FN:
    return "float8_e4m3fn";
  case FREESTONE_F8E4M3FNUZ:
    return "float8_e4m3fnuz";
  case FREESTONE_F8E5M2:
    return "float8_e5m2";
  case FREESTONE_F8E5M2FNUZ:
    return "float8_e5m2fnuz";
  case FREESTONE_F8E8M0:
    return "float8_e8m0fnu";
  case FREESTONE_F4E2M1:
    return "float4_e2m1fn";
  case FREESTONE_I4:
    return "int4";
  case FREESTONE_U4:
    return "uint4";
  case FREESTONE_I2:
    return "int2";
  case FREESTONE_U2:
    return "uint2";
  }
  return "";
}

static constexpr std::pair<std::string_view, DLDataType> mlDtypes[] = {{"bfloat16", {kDLBfloat, 16, 1}},
                                                                       {"float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}},
                                                                       {"float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}},
                                                                       {"float8_e5m2", {kDLFloat8_e5m2, 8, 1}},
                                                                       {"float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}},
                                                                       {"float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}},
                                                                       {"float4_e2m1fn", {kDLFloat4_e2m1fn, 4, 1}},
                                                                       {"int4", {kDLInt, 4, 1}},
                                                                       {"uint4", {kDLUInt, 4, 1}},
                                                                       {"int2", {kDLInt, 2, 1}},
                                                                       {"uint2", {kDLUInt, 2, 1}}};

std::optional<DLDataType> freestone::python::typeOfMlDtypes(std::string_view name) {
  for (auto [known, type] : mlDtypes)
    if (known == name)
      return type;
  return std::nullopt;
}

std::optional<std::string_view> freestone::python::nameOfMlDtypes(DLDataType type) {
  for (auto [name, known] : mlDtypes)
    if (known.code == type.code && known.bits == type.bits)
      return name;
  return std::nullopt;
}

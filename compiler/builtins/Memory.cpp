// Copies, fills and compares bytes. The loops must not be recognized as calls of these same functions.

using Size = decltype(sizeof(0));
using Byte = unsigned char;

namespace {

/// A value of T, unaligned and of any effective type.
template <typename T> struct __attribute__((packed, may_alias)) Unaligned {
  T value;
};
using Vector = int __attribute__((vector_size(32)));
using Half = int __attribute__((vector_size(16)));

template <typename T> inline T load(const Byte *from) { return reinterpret_cast<const Unaligned<T> *>(from)->value; }
template <typename T> inline void store(Byte *to, T value) { reinterpret_cast<Unaligned<T> *>(to)->value = value; }

/// Copies sizeof(T) to 2*sizeof(T) bytes, which may overlap: both ends are read before either is written.
template <typename T> inline void copyEnds(Byte *to, const Byte *from, Size size) {
  T head = load<T>(from), tail = load<T>(from + size - sizeof(T));
  store(to, head);
  store(to + size - sizeof(T), tail);
}

inline void copyFew(Byte *to, const Byte *from, Size size) {
  if (size >= sizeof(Half))
    copyEnds<Half>(to, from, size);
  else if (size >= 8)
    copyEnds<long>(to, from, size);
  else if (size >= 4)
    copyEnds<int>(to, from, size);
  else if (size >= 2)
    copyEnds<short>(to, from, size);
  else if (size == 1)
    *to = *from;
}

constexpr Size width = sizeof(Vector);

/// At least one vector; `to` may overlap `from` if it lies below.
inline void copyUp(Byte *to, const Byte *from, Size size) {
  Vector tail = load<Vector>(from + size - width);
  for (Size done = 0; done < size - width; done += width)
    store(to + done, load<Vector>(from + done));
  store(to + size - width, tail);
}

/// At least one vector; `to` may overlap `from` if it lies above.
inline void copyDown(Byte *to, const Byte *from, Size size) {
  Vector head = load<Vector>(from);
  for (Size left = size; left > width; left -= width)
    store(to + left - width, load<Vector>(from + left - width));
  store(to, head);
}

} // namespace

extern "C" void *memmove(void *to, const void *from, Size size) {
  Byte *target = static_cast<Byte *>(to);
  const Byte *source = static_cast<const Byte *>(from);
  if (size < width)
    copyFew(target, source, size);
  else if (reinterpret_cast<Size>(target) - reinterpret_cast<Size>(source) >= size)
    copyUp(target, source, size);
  else
    copyDown(target, source, size);
  return to;
}

extern "C" void *memcpy(void *__restrict to, const void *__restrict from, Size size) {
  if (size < width)
    copyFew(static_cast<Byte *>(to), static_cast<const Byte *>(from), size);
  else
    copyUp(static_cast<Byte *>(to), static_cast<const Byte *>(from), size);
  return to;
}

extern "C" void *memset(void *to, int value, Size size) {
  Byte *target = static_cast<Byte *>(to);
  if (size < width) {
    for (Size done = 0; done < size; ++done)
      target[done] = static_cast<Byte>(value);
    return to;
  }
  Vector bytes = static_cast<int>(0x01010101u * static_cast<Byte>(value)) - Vector{};
  for (Size done = 0; done < size - width; done += width)
    store(target + done, bytes);
  store(target + size - width, bytes);
  return to;
}

extern "C" int memcmp(const void *left, const void *right, Size size) {
  const Byte *one = static_cast<const Byte *>(left), *other = static_cast<const Byte *>(right);
  for (Size done = 0; done < size; ++done)
    if (one[done] != other[done])
      return one[done] - other[done];
  return 0;
}

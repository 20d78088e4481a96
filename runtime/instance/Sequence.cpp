#include "runtime/instance/Sequence.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace freestone::runtime;

namespace {

bool isOpen(const TensorInfo &info, size_t axis) {
  return std::ranges::find(info.openAxes, static_cast<int64_t>(axis)) != info.openAxes.end();
}

std::string describeSize(const TensorInfo &info, size_t axis, size_t element) {
  return "dimension " + std::to_string(axis) + " of element " + std::to_string(element) + " of input '" + info.name +
         "'";
}

/// The number that a size expression is; nothing for others.
std::optional<int64_t> constantOf(const std::string &text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Copies a box of rows between two arrays whose rows begin so many bytes apart, dimension by dimension; they may
/// overlap if `to` is not behind `from`.
void copyBox(char *to, const char *from, std::span<const int64_t> toSizes, std::span<const int64_t> fromSizes,
             std::span<const int64_t> box, int64_t elementBytes) {
  if (box.empty()) {
    std::memmove(to, from, elementBytes);
    return;
  }
  int64_t toBytes = elementBytes, fromBytes = elementBytes;
  bool isWhole = true;
  for (size_t axis = 1; axis < box.size(); ++axis) {
    toBytes *= toSizes[axis];
    fromBytes *= fromSizes[axis];
    isWhole &= box[axis] == toSizes[axis] && box[axis] == fromSizes[axis];
  }
  if (isWhole) {
    std::memmove(to, from, box[0] * toBytes);
    return;
  }
  for (int64_t row = 0; row < box[0]; ++row)
    copyBox(to + row * toBytes, from + row * fromBytes, toSizes.subspan(1), fromSizes.subspan(1), box.subspan(1),
            elementBytes);
}

int64_t bytesOf(std::span<const int64_t> shape, DType dtype, bool &overflow) {
  int64_t bytes = dtypeBytes(dtype);
  for (int64_t dim : shape)
    overflow |= __builtin_mul_overflow(bytes, dim, &bytes);
  return bytes;
}

/// Lays out the stacks of one entry.
class Layout {
public:
  Layout(const Entry &entry, std::span<const std::optional<Sequence>> sequences,
         std::span<std::optional<TensorView>> inputs)
      : entry(entry), sequences(sequences), inputs(inputs) {}

  Status run();

private:
  int64_t roomFor(int64_t slot, const std::string &text) const;
  Status checkElements(const TensorInfo &info, const Sequence &sequence, std::span<const int64_t> room) const;
  Status checkAlike(const TensorInfo &info, const Sequence &sequence) const;
  void setPart(int64_t part, std::vector<int64_t> shape);

  const Entry &entry;
  std::span<const std::optional<Sequence>> sequences;
  std::span<std::optional<TensorView>> inputs;
};

/// What a dimension of a stack must have room for: its number, the size that a tensor has, or else the greatest of all
/// elements.
int64_t Layout::roomFor(int64_t slot, const std::string &text) const {
  if (std::optional<int64_t> constant = constantOf(text))
    return *constant;
  int64_t greatest = 0;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const TensorInfo &info = entry.inputs[i];
    for (size_t dim = 0; dim < info.dimSlots.size(); ++dim) {
      if (info.dimSlots[dim] != slot || info.kind == ValueKind::Part || (info.isStack() && dim == 0))
        continue;
      if (!info.isStack())
        return inputs[i]->shape[dim];
      for (const TensorView &element : sequences[i]->elements)
        greatest = std::max(greatest, element.shape[dim - 1]);
    }
  }
  return greatest;
}

Status Layout::checkElements(const TensorInfo &info, const Sequence &sequence, std::span<const int64_t> room) const {
  for (size_t number = 0; number < sequence.elements.size(); ++number)
    for (size_t axis = 0; axis < room.size(); ++axis) {
      int64_t actual = sequence.elements[number].shape[axis];
      bool fits = isOpen(info, axis) ? actual <= room[axis] : actual == room[axis];
      if (!fits)
        return {Code::Mismatch, describeSize(info, axis, number) + " must be " +
                                    (isOpen(info, axis) ? "at most " : "") + std::to_string(room[axis]) + ", but is " +
                                    std::to_string(actual)};
    }
  return {};
}

/// Sizes of one name are equal in elements at the same place.
Status Layout::checkAlike(const TensorInfo &info, const Sequence &sequence) const {
  for (size_t i = 0; &entry.inputs[i] <= &info; ++i) {
    const TensorInfo &other = entry.inputs[i];
    for (size_t open = 0; open < info.openAxes.size(); ++open)
      for (size_t otherOpen = 0; otherOpen < other.openAxes.size(); ++otherOpen) {
        if (info.openNames[open].empty() || info.openNames[open] != other.openNames[otherOpen])
          continue;
        int64_t axis = info.openAxes[open], otherAxis = other.openAxes[otherOpen];
        const std::vector<TensorView> &elements = sequences[i]->elements;
        for (size_t number = 0; number < std::min(elements.size(), sequence.elements.size()); ++number) {
          int64_t expected = elements[number].shape[otherAxis], actual = sequence.elements[number].shape[axis];
          if (actual != expected)
            return {Code::Mismatch, describeSize(info, axis, number) + ", " + info.openNames[open] + ", must be " +
                                        std::to_string(expected) + " as dimension " + std::to_string(otherAxis) +
                                        " in input '" + other.name + "', but is " + std::to_string(actual)};
        }
      }
  }
  return {};
}

void Layout::setPart(int64_t part, std::vector<int64_t> shape) {
  if (part < 0)
    return;
  bool overflow = false;
  int64_t bytes = bytesOf(shape, entry.inputs[part].dtype, overflow);
  inputs[part] = TensorView{nullptr, std::move(shape), bytes};
}

Status Layout::run() {
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const TensorInfo &info = entry.inputs[i];
    if (!info.isStack())
      continue;
    const Sequence &sequence = *sequences[i];
    auto length = static_cast<int64_t>(sequence.elements.size());
    TensorView stack;
    stack.shape = {length};
    for (size_t dim = 1; dim < info.dimSlots.size(); ++dim)
      stack.shape.push_back(roomFor(info.dimSlots[dim], info.shape[dim]));
    if (Status status = checkElements(info, sequence, std::span(stack.shape).subspan(1)); !status.ok())
      return status;
    if (Status status = checkAlike(info, sequence); !status.ok())
      return status;
    bool overflow = false;
    stack.bytes = bytesOf(stack.shape, info.dtype, overflow);
    if (overflow)
      return {Code::Mismatch, "the elements of input '" + info.name + "' need more than 2^63 bytes as a stack"};
    inputs[i] = std::move(stack);
    setPart(info.sizes, {length, static_cast<int64_t>(info.openAxes.size())});
    setPart(info.presence, {});
  }
  return {};
}

} // namespace

Status freestone::runtime::viewSequence(std::span<const DLTensor> elements, const TensorInfo &info,
                                        Sequence &sequence) {
  if (info.kind == ValueKind::Optional && elements.size() > 1)
    return {Code::Mismatch, "input '" + info.name + "' is optional: it takes one tensor or none, not " +
                                std::to_string(elements.size())};
  std::vector<TensorView> views(elements.size());
  std::vector<int64_t> lacks(elements.size());
  int64_t rank = static_cast<int64_t>(info.shape.size()) - 1;
  for (size_t i = 0; i < elements.size(); ++i) {
    std::string what = "element " + std::to_string(i) + " of input";
    if (info.lacking > 0 && (elements[i].ndim > rank || elements[i].ndim < rank - info.lacking))
      return {Code::Mismatch, what + " '" + info.name + "' must have " + std::to_string(rank - info.lacking) + " to " +
                                  std::to_string(rank) + " dimensions, but has " + std::to_string(elements[i].ndim)};
    lacks[i] = info.lacking > 0 ? rank - elements[i].ndim : 0;
    TensorInfo element;
    element.name = info.name;
    element.dtype = info.dtype;
    element.shape.assign(info.shape.begin() + 1 + lacks[i], info.shape.end());
    if (Status status = viewTensor(elements[i], element, what.c_str(), views[i]); !status.ok())
      return status;
    views[i].shape.insert(views[i].shape.begin(), lacks[i], 1);
  }
  sequence.elements = std::move(views);
  sequence.lacks = std::move(lacks);
  sequence.isAbsent = false;
  return {};
}

Status freestone::runtime::layOutStacks(const Entry &entry, std::span<const std::optional<Sequence>> sequences,
                                        std::span<std::optional<TensorView>> inputs) {
  return Layout(entry, sequences, inputs).run();
}

void *freestone::runtime::inPlace(const Sequence &sequence, const TensorView &stack) {
  if (sequence.elements.empty())
    return nullptr;
  auto *first = static_cast<char *>(sequence.elements.front().data);
  for (size_t i = 0; i < sequence.elements.size(); ++i) {
    const TensorView &element = sequence.elements[i];
    if (!std::ranges::equal(element.shape, std::span(stack.shape).subspan(1)) ||
        element.data != first + i * element.bytes)
      return nullptr;
  }
  return first;
}

void freestone::runtime::pack(const Sequence &sequence, const TensorInfo &info, const TensorView &stack, char *memory) {
  std::span<const int64_t> room = std::span(stack.shape).subspan(1);
  std::memset(memory, 0, stack.bytes);
  int64_t bytes = sequence.elements.empty() ? 0 : stack.bytes / stack.shape[0];
  for (const TensorView &element : sequence.elements) {
    if (element.bytes > 0)
      copyBox(memory, static_cast<const char *>(element.data), room, element.shape, element.shape,
              dtypeBytes(info.dtype));
    memory += bytes;
  }
}

void freestone::runtime::packSizes(const Sequence &sequence, const TensorInfo &info, int64_t *sizes) {
  for (size_t i = 0; i < sequence.elements.size(); ++i)
    for (int64_t axis : info.openAxes)
      *sizes++ = axis < sequence.lacks[i] ? -1 : sequence.elements[i].shape[axis];
}

/// An element in the stack's dimensions.
static TensorView placeOf(const TensorInfo &info, const TensorView &stack, const int64_t *sizes, int64_t index) {
  TensorView element;
  element.shape.assign(stack.shape.begin() + 1, stack.shape.end());
  int64_t room = dtypeBytes(info.dtype);
  for (int64_t dim : element.shape)
    room *= dim;
  for (size_t i = 0; i < info.openAxes.size(); ++i) {
    int64_t &dim = element.shape[info.openAxes[i]];
    int64_t size = sizes[index * info.openAxes.size() + i];
    dim = std::clamp<int64_t>(size < 0 && info.openAxes[i] < info.lacking ? 1 : size, 0, dim);
  }
  element.bytes = dtypeBytes(info.dtype);
  for (int64_t dim : element.shape)
    element.bytes *= dim;
  element.data = static_cast<char *>(stack.data) + index * room;
  return element;
}

TensorView freestone::runtime::elementOf(const TensorInfo &info, const TensorView &stack, const int64_t *sizes,
                                         int64_t index) {
  TensorView element = placeOf(info, stack, sizes, index);
  int64_t lacks = 0;
  while (lacks < info.lacking && sizes[index * info.openAxes.size() + lacks] < 0)
    ++lacks;
  element.shape.erase(element.shape.begin(), element.shape.begin() + lacks);
  return element;
}

void freestone::runtime::compact(const TensorInfo &info, const TensorView &stack, const int64_t *sizes) {
  if (info.openAxes.empty())
    return;
  std::span<const int64_t> room = std::span(stack.shape).subspan(1);
  for (int64_t index = 0; index < stack.shape[0]; ++index) {
    TensorView element = placeOf(info, stack, sizes, index);
    if (element.bytes > 0)
      copyBox(static_cast<char *>(element.data), static_cast<const char *>(element.data), element.shape, room,
              element.shape, dtypeBytes(info.dtype));
  }
}

#include "distributed/transport/Message.h"

#include "distributed/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace freestone::distributed {

namespace {

/// "fstnpipe" and the version of the form.
constexpr int64_t magic = 0x657069706e747366 + 1;
/// Fields of a header before the sizes, which are filled up with -1.
namespace field {
enum { Magic, Model, Kind, Step, From, To, MicroBatch, Parts, Bytes, Types, Sizes };
}

int64_t hash(std::span<const int64_t> numbers) {
  uint64_t state = 14695981039346656037u;
  for (int64_t number : numbers)
    state = (state ^ static_cast<uint64_t>(number)) * 1099511628211u;
  return static_cast<int64_t>(state);
}

const char *nameOf(int64_t kind) {
  constexpr const char *names[] = {"activations", "gradients",     "an exchange of numbers",
                                   "gradients of a replica", "sums over replicas", "a parameter", "an evaluation",
                                   "results of an evaluation", "a report", "a parcel",
                                   "a shard"};
  return kind >= 0 && kind < std::ssize(names) ? names[kind] : "something unknown";
}

std::string describe(const MessageHeader &header) {
  std::span<const int64_t> sizes(header.begin() + field::Sizes, header.end());
  sizes = sizes.first(std::ranges::find(sizes, -1) - sizes.begin());
  std::string text =
      fmt::format("{} of step {}, micro-batch {}, from stage {} to {}", nameOf(header[field::Kind]),
                  header[field::Step], header[field::MicroBatch], header[field::From], header[field::To]);
  if (!sizes.empty())
    text += fmt::format(", sizes {}", fmt::join(sizes, " × "));
  return text + fmt::format(", {} tensors of {} bytes", header[field::Parts], header[field::Bytes]);
}

} // namespace

size_t Message::bytes() const {
  size_t sum = 0;
  for (const MessagePart &part : parts)
    sum += part.bytes;
  return sum;
}

std::string Message::describe() const { return distributed::describe(makeHeader(*this)); }

MessageHeader makeHeader(const Message &message) {
  const MessageLabel &label = message.label;
  MessageHeader header;
  header.fill(-1);
  header[field::Magic] = magic;
  header[field::Model] = static_cast<int64_t>(label.model);
  header[field::Kind] = static_cast<int64_t>(label.kind);
  header[field::Step] = label.step;
  header[field::From] = label.from;
  header[field::To] = label.to;
  header[field::MicroBatch] = label.microBatch;
  header[field::Parts] = std::ssize(message.parts);
  header[field::Bytes] = static_cast<int64_t>(message.bytes());
  std::vector<int64_t> types;
  for (const MessagePart &part : message.parts)
    types.insert(types.end(), {part.type, static_cast<int64_t>(part.bytes)});
  // Sizes for which there is no place count here.
  size_t places = std::min(label.sizes.size(), header.size() - field::Sizes);
  std::copy_n(label.sizes.begin(), places, header.begin() + field::Sizes);
  types.insert(types.end(), label.sizes.begin() + static_cast<std::ptrdiff_t>(places), label.sizes.end());
  header[field::Types] = hash(types);
  return header;
}

void checkHeader(const MessageHeader &come, const Message &expected) {
  MessageHeader wanted = makeHeader(expected);
  if (come == wanted)
    return;
  if (come[field::Magic] != magic)
    throw Error(fmt::format("a message that is none of this program came instead of {}", describe(wanted)));
  if (come[field::Model] != wanted[field::Model])
    throw Error(fmt::format("the other rank trains another model, or cuts it in other stages, by the message that came "
                            "instead of {}: start all ranks with the same model and options",
                            describe(wanted)));
  std::string same = describe(come) == describe(wanted) ? ", of other element types" : "";
  throw Error(fmt::format("expected {}, but {}{} came", describe(wanted), describe(come), same));
}

} // namespace freestone::distributed

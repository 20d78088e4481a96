#ifndef FREESTONE_DISTRIBUTED_TRANSPORT_MESSAGE_H
#define FREESTONE_DISTRIBUTED_TRANSPORT_MESSAGE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace freestone::distributed {

enum class MessageKind : int32_t {
  Activations,   ///< of a micro-batch, from a stage to a later one
  Gradients,     ///< of a micro-batch, from a stage to an earlier one
  Exchange,      ///< numbers that decide all updates
  ReplicaValues, ///< gradients of a stage's replica, to the one that adds them up; `to` is the sending replica, and
                 ///< `microBatch` numbers the message
  ReplicaTotal,  ///< their sum, to all replicas
  State,         ///< a parameter that several stages read, after its update
  Evaluation,    ///< of a batch that is evaluated, from a stage to a later one
  Results,       ///< of an evaluation, to all ranks
  Report,        ///< of a rank to the first one, behind a step
  Parcel,        ///< of a ParcelLine: `from` and `to` are ranks
  Shard,         ///< of a ParcelLine between the threads that write checkpoints
  Heartbeat      ///< of a courier, without a header
};

/// What a message is: both ends know it before it is sent, so that the receiver checks all of it.
struct MessageLabel {
  MessageKind kind = MessageKind::Activations;
  uint64_t model = 0; ///< hash of the pipeline's description
  int64_t step = 0;
  int from = 0, to = 0; ///< stages; of an exchange and of results, `to` is a rank
  int64_t microBatch = 0;
  std::vector<int64_t> sizes = {}; ///< of the micro-batch
};

/// A tensor of a message, in the memory of its sender or receiver.
struct MessagePart {
  void *data = nullptr;
  size_t bytes = 0;
  int64_t type = 0; ///< its element type
};

struct Message {
  MessageLabel label;
  std::vector<MessagePart> parts;

  size_t bytes() const;
  /// "activations of micro-batch 3, stage 0 to 1, step 17"
  std::string describe() const;
};

/// The form of a label and of the parts' types and sizes in which they go ahead of the parts.
using MessageHeader = std::array<int64_t, 32>;
MessageHeader makeHeader(const Message &message);

/// Throws Error, which says what was expected and what has come, unless both headers are the same.
void checkHeader(const MessageHeader &come, const Message &expected);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_TRANSPORT_MESSAGE_H

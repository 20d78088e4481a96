#ifndef FREESTONE_DISTRIBUTED_TRANSPORT_PARCELLINE_H
#define FREESTONE_DISTRIBUTED_TRANSPORT_PARCELLINE_H

#include "distributed/transport/Courier.h"
#include "formats/TensorView.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace freestone::distributed {

/// JSON and tensors.
struct Parcel {
  nlohmann::json about;
  std::vector<formats::TensorView> tensors;
};

/// Parcels between two ranks, in order: commands and what is answered. The receiver need not know their sizes. Not
/// thread-safe.
class ParcelLine {
public:
  /// `kind` differs between lines of the same two ranks.
  ParcelLine(Courier &courier, int peer, uint64_t model, MessageKind kind = MessageKind::Parcel)
      : courier(courier), peer(peer), model(model), kind(kind) {}

  /// Returns at once; the tensors' memory must stay until the next call of `send` or `settle`.
  void send(Parcel parcel);
  /// Waits until what was sent is received.
  void settle();
  /// Waits for a parcel, however long; its tensors are valid until the next call.
  const Parcel &receive();

private:
  MessageLabel labelOf(bool isSent, int64_t part) const;

  Courier &courier;
  int peer;
  uint64_t model;
  MessageKind kind;
  int64_t sentParcels = 0, receivedParcels = 0;
  // Of the parcel that was sent last.
  int64_t sentSize = 0;
  std::string sentText;
  std::vector<Ticket> tickets;
  // Of the parcel that was received last.
  std::string text;
  std::vector<std::vector<uint8_t>> bytes;
  Parcel received;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_TRANSPORT_PARCELLINE_H

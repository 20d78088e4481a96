#include "distributed/transport/ParcelLine.h"

#include "distributed/Error.h"
#include "formats/ElementType.h"

namespace freestone::distributed {

using Json = nlohmann::json;

/// A parcel is three messages: the size of its text, the text, and the tensors.
MessageLabel ParcelLine::labelOf(bool isSent, int64_t part) const {
  int own = courier.rank();
  return {kind, model, isSent ? sentParcels : receivedParcels, isSent ? own : peer, isSent ? peer : own, part};
}

void ParcelLine::settle() {
  for (Ticket ticket : tickets)
    courier.wait(ticket, std::chrono::hours(24 * 365));
  tickets.clear();
}

void ParcelLine::send(Parcel parcel) {
  settle();
  Json shapes = Json::array();
  for (const formats::TensorView &tensor : parcel.tensors)
    shapes.push_back({tensor.name, static_cast<int>(tensor.dtype), tensor.shape});
  sentText = Json{{"about", std::move(parcel.about)}, {"tensors", std::move(shapes)}}.dump();
  sentSize = std::ssize(sentText);
  ++sentParcels;
  tickets.push_back(courier.send(peer, {labelOf(true, 0), {{&sentSize, sizeof(sentSize), FREESTONE_I64}}}));
  tickets.push_back(courier.send(peer, {labelOf(true, 1), {{sentText.data(), sentText.size(), FREESTONE_U8}}}));
  if (parcel.tensors.empty())
    return;
  Message message{labelOf(true, 2), {}};
  for (const formats::TensorView &tensor : parcel.tensors)
    message.parts.push_back({const_cast<uint8_t *>(tensor.bytes.data()), tensor.bytes.size(), tensor.dtype});
  tickets.push_back(courier.send(peer, std::move(message)));
}

const Parcel &ParcelLine::receive() {
  constexpr auto forever = std::chrono::hours(24 * 365);
  ++receivedParcels;
  int64_t size = 0;
  courier.wait(courier.receive(peer, {labelOf(false, 0), {{&size, sizeof(size), FREESTONE_I64}}}), forever);
  text.resize(size);
  courier.wait(courier.receive(peer, {labelOf(false, 1), {{text.data(), text.size(), FREESTONE_U8}}}));
  Json parsed = Json::parse(text);
  received = {std::move(parsed.at("about")), {}};
  const Json &shapes = parsed.at("tensors");
  bytes.resize(std::max(bytes.size(), shapes.size()));
  Message message{labelOf(false, 2), {}};
  for (size_t i = 0; i < shapes.size(); ++i) {
    formats::TensorView &tensor = received.tensors.emplace_back();
    tensor.name = shapes[i].at(0);
    tensor.dtype = static_cast<freestone_dtype>(shapes[i].at(1).get<int>());
    tensor.shape = shapes[i].at(2).get<std::vector<int64_t>>();
    size_t needed = formats::countBytes(tensor.dtype, tensor.shape);
    bytes[i].resize(std::max(bytes[i].size(), needed));
    tensor.bytes = {bytes[i].data(), needed};
    message.parts.push_back({bytes[i].data(), needed, tensor.dtype});
  }
  if (!message.parts.empty())
    courier.wait(courier.receive(peer, std::move(message)));
  return received;
}

} // namespace freestone::distributed

#include "train/data/BatchStream.h"

#include "train/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::train {

BatchStream::BatchStream(Next next, std::optional<int64_t> perEpoch, int64_t epochs, int held, LoaderPosition start)
    : next(std::move(next)), perEpoch(perEpoch), epochs(epochs), upcoming(start),
      ring(static_cast<size_t>(std::max(held, 1)) + 1) {
  if (start.epoch >= epochs)
    return;
  for (int64_t i = 0; i < start.sample; ++i)
    if (!this->next(start.epoch))
      throw Error(fmt::format("the training stopped after {} batches of epoch {}, but the data have {}: these are not "
                              "the data that it began with",
                              start.sample, start.epoch + 1, i));
  fetch(start);
}

void BatchStream::fetch(LoaderPosition place) {
  ahead = next(place.epoch);
  if (!ahead && place.sample == 0)
    throw Error(fmt::format("the data have no batch in epoch {}; give what can be iterated once more, or fewer epochs",
                            place.epoch + 1));
  if (!ahead && place.epoch + 1 < epochs) {
    place = {place.step, place.epoch + 1, 0};
    return fetch(place);
  }
  if (!ahead)
    place = {place.step, place.epoch + 1, 0};
  upcoming = place;
}

const Batch *BatchStream::take() {
  if (!ahead)
    return nullptr;
  Batch &batch = ring[taken++ % ring.size()] = std::move(*ahead);
  batch.place = upcoming;
  fetch({upcoming.step + 1, upcoming.epoch, upcoming.sample + 1});
  batch.next = upcoming;
  return &batch;
}

} // namespace freestone::train

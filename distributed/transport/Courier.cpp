#include "distributed/transport/Courier.h"

#include "distributed/Error.h"
#include <ctime>
#include <fmt/format.h>
#include <utility>

namespace freestone::distributed {

using Clock = std::chrono::steady_clock;

Courier::Courier(Transport &transport, CourierOptions options) : transport(transport), options(options) {
  if (options.heartbeat.count() > 0)
    for (int peer = 0; peer < transport.size(); ++peer)
      if ((peer == 0) != (transport.rank() == 0))
        pulses[peer].last = Clock::now();
  thread = std::thread([this] { work(); });
}

Courier::~Courier() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  transport.wake();
  thread.join();
}

/// The same at both ends, and between the same two ranks another one for every pair of stages and kind.
int Courier::tagOf(const MessageLabel &label) const {
  constexpr int kinds = static_cast<int>(MessageKind::Heartbeat) + 1, places = 512;
  return (label.from % places * places + label.to % places) * kinds + static_cast<int>(label.kind);
}

Ticket Courier::post(int peer, Message message, bool isSend) {
  auto transfer = std::make_unique<Transfer>();
  transfer->peer = peer;
  transfer->isSend = isSend;
  transfer->left = 1 + message.parts.size();
  transfer->message = std::move(message);
  if (isSend)
    transfer->header = makeHeader(transfer->message);
  transfer->posted = Clock::now();
  Ticket ticket = 0;
  {
    std::lock_guard lock(mutex);
    if (!fault.empty())
      throw Error(fault);
    ticket = transfer->ticket = next++;
    counted.messages += 1;
    counted.bytes += static_cast<int64_t>(transfer->message.bytes());
    fresh.push_back(transfer.get());
    underWay.emplace(ticket, std::move(transfer));
  }
  transport.wake();
  return ticket;
}

void Courier::wait(Ticket ticket, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex);
  auto isOver = [&] { return !fault.empty() || !underWay.contains(ticket); };
  bool hasEnded = true;
  if (!isOver()) {
    ++counted.waits;
    isAwaited = true;
    transport.wake();
    Clock::time_point begin = Clock::now();
    hasEnded = changed.wait_until(lock, begin + patience, isOver);
    isAwaited = false;
    counted.waitedNs += std::chrono::nanoseconds(Clock::now() - begin).count();
    if (!hasEnded)
      fault = "nothing has come for too long: " + describe(*underWay.at(ticket));
  }
  if (!underWay.contains(ticket))
    return;
  std::string reason = fault;
  int code = hasEnded && !isPassing ? lastingFault : passingFault;
  lock.unlock();
  transport.abort(reason, code);
  throw Error(reason);
}

std::string Courier::describe(const Transfer &transfer) const {
  return fmt::format("rank {} {} rank {}: {}; posted {:.1f} s ago", transport.rank(),
                     transfer.isSend ? "sends to" : "receives from", transfer.peer, transfer.message.describe(),
                     std::chrono::duration<double>(Clock::now() - transfer.posted).count());
}

Courier::Counters Courier::counters() const {
  std::lock_guard lock(mutex);
  return counted;
}

/// Posts the header and every part to the network.
void Courier::begin(Transfer &transfer) {
  int tag = tagOf(transfer.message.label);
  auto post = [&](void *data, size_t bytes) {
    Ticket part = nextPart++;
    parts.emplace(part, &transfer);
    if (transfer.isSend)
      transport.send(part, transfer.peer, tag, data, bytes);
    else
      transport.receive(part, transfer.peer, tag, data, bytes);
  };
  post(transfer.header.data(), sizeof(transfer.header));
  for (const MessagePart &part : transfer.message.parts)
    post(part.data, part.bytes);
}

/// Sends signs of life, and ends the job where a rank gives none.
void Courier::beat() {
  Clock::time_point now = Clock::now();
  bool isDue = now - lastBeat >= options.heartbeat;
  for (auto &[peer, pulse] : pulses) {
    auto tagFrom = [&](int from, int to) { return tagOf({MessageKind::Heartbeat, 0, 0, from, to}); };
    if (!pulse.receiving)
      transport.receive(pulse.receiving = nextPart++, peer, tagFrom(peer, rank()), &pulse.received,
                        sizeof(pulse.received));
    if (isDue && !pulse.sending)
      transport.send(pulse.sending = nextPart++, peer, tagFrom(rank(), peer), &pulse.sent, sizeof(pulse.sent));
    if (now - pulse.last > options.silence) {
      isPassing = true;
      throw Error(fmt::format("rank {} has not been heard of for {:.1f} s", peer,
                              std::chrono::duration<double>(now - pulse.last).count()));
    }
  }
  if (isDue)
    lastBeat = now;
}

/// Whether it was a sign of life that has ended.
bool Courier::takePulse(Ticket part) {
  for (auto &[peer, pulse] : pulses) {
    if (part == pulse.receiving) {
      pulse.last = Clock::now();
      pulse.receiving = 0;
      return true;
    }
    if (part == pulse.sending) {
      pulse.sending = 0;
      return true;
    }
  }
  return false;
}

/// Of one header or part.
void Courier::end(Ticket part) {
  if (takePulse(part))
    return;
  Transfer &transfer = *parts.extract(part).mapped();
  if (--transfer.left > 0)
    return;
  if (!transfer.isSend)
    checkHeader(transfer.header, transfer.message);
  std::lock_guard lock(mutex);
  underWay.erase(transfer.ticket);
  changed.notify_all();
}

void Courier::work() {
  std::vector<Ticket> ended;
  std::vector<Transfer *> begun;
  try {
    for (;;) {
      bool isUrgent;
      {
        std::lock_guard lock(mutex);
        if (stopping)
          return;
        isUrgent = isAwaited;
        begun.clear();
        std::swap(begun, fresh);
        timespec used = {};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        counted.busyNs = used.tv_sec * 1'000'000'000 + used.tv_nsec;
      }
      for (Transfer *transfer : begun)
        begin(*transfer);
      beat();
      ended.clear();
      transport.wait(pulses.empty() ? std::chrono::seconds(1) : options.heartbeat, isUrgent, ended);
      for (Ticket part : ended)
        end(part);
    }
  } catch (const std::exception &error) {
    {
      std::lock_guard lock(mutex);
      if (fault.empty())
        fault = error.what();
      changed.notify_all();
    }
    transport.abort(error.what(), isPassing ? passingFault : lastingFault);
  }
}

} // namespace freestone::distributed

#include "distributed/transport/Courier.h"

#include "distributed/Error.h"
#include "distributed/schedule/ScheduleText.h"
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <utility>

namespace freestone::distributed {

using Clock = std::chrono::steady_clock;

static int64_t nanoseconds(Clock::time_point time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); }

namespace {
/// A rank is heard of no more, which may not come again.
struct SilentRank : Error {
  using Error::Error;
};
} // namespace

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
  transport.giveUp();
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
    counted.mostUnderWay = std::max(counted.mostUnderWay, std::ssize(underWay));
  }
  transport.wake();
  return ticket;
}

void Courier::wait(Ticket ticket, std::chrono::milliseconds patience, const std::stop_token &stop) {
  std::unique_lock lock(mutex);
  auto isOver = [&] { return !fault.empty() || !underWay.contains(ticket); };
  if (!isOver()) {
    ++counted.waits;
    ++awaiting;
    transport.wake();
    Delivery delivery = listener ? underWay.at(ticket)->delivery() : Delivery();
    Clock::time_point begin = Clock::now();
    bool hasEnded = changed.wait_until(lock, stop, begin + patience, isOver);
    --awaiting;
    Clock::time_point end = Clock::now();
    counted.waitedNs += std::chrono::nanoseconds(end - begin).count();
    if (listener)
      listener->waited(delivery, nanoseconds(begin), nanoseconds(end));
    if (!hasEnded && stop.stop_requested())
      throw Error("a message is waited for no more");
    if (!hasEnded) {
      fault = fmt::format("nothing has moved for {:.1f} s: {}", std::chrono::duration<double>(patience).count(),
                          describe(*underWay.at(ticket)));
      faultCode = passingFault;
    }
  }
  if (!underWay.contains(ticket))
    return;
  std::string reason = fault;
  int code = faultCode;
  lock.unlock();
  transport.abort(reason, code);
  throw Error(reason);
}

/// With the exit code of what was found first, by whichever thread.
void Courier::abort(const std::string &reason) noexcept {
  int code;
  {
    std::lock_guard lock(mutex);
    code = faultCode;
  }
  transport.abort(reason, code);
}

std::string Courier::describe(const Transfer &transfer) const {
  return fmt::format("rank {}{} {} rank {}: {}; posted {:.1f} s ago", transport.rank(),
                     entered ? " at " + printAction(*entered) : "", transfer.isSend ? "sends to" : "receives from",
                     transfer.peer, transfer.message.describe(),
                     std::chrono::duration<double>(Clock::now() - transfer.posted).count());
}

/// The oldest message with a rank that is under way, if any.
std::string Courier::describeOldest(int peer) const {
  std::lock_guard lock(mutex);
  auto found = std::ranges::find_if(underWay, [&](const auto &transfer) { return transfer.second->peer == peer; });
  return found == underWay.end() ? "" : "; " + describe(*found->second);
}

void Courier::enter(const Action &action) {
  std::lock_guard lock(mutex);
  entered = action;
}

void Courier::tell(CourierListener *to) {
  std::lock_guard lock(mutex);
  listener = to;
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
    if (now - pulse.last > options.silence)
      throw SilentRank(fmt::format("rank {} has not been heard of for {:.1f} s{}", peer,
                                   std::chrono::duration<double>(now - pulse.last).count(), describeOldest(peer)));
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
  if (listener)
    listener->transferred(transfer.delivery(), nanoseconds(transfer.posted), nanoseconds(Clock::now()));
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
        isUrgent = awaiting > 0;
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
  } catch (const SilentRank &error) {
    fail(error.what(), passingFault);
  } catch (const std::exception &error) {
    fail(error.what(), lastingFault);
  }
}

/// Ends all waits, and the job.
void Courier::fail(const std::string &reason, int code) {
  {
    std::lock_guard lock(mutex);
    if (fault.empty()) {
      fault = reason;
      faultCode = code;
    }
    changed.notify_all();
  }
  transport.abort(reason, code);
}

} // namespace freestone::distributed

#include "distributed/transport/LocalTransport.h"

#include "distributed/Error.h"
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

namespace freestone::distributed {

namespace {

using Clock = std::chrono::steady_clock;

/// One end of a message.
struct End {
  Ticket ticket = 0;
  const void *source = nullptr;
  void *target = nullptr;
  size_t bytes = 0;
};

/// A transfer that has ended, or will.
struct Ended {
  Ticket ticket;
  Clock::time_point at;
};

/// What the ranks share.
struct Hub {
  explicit Hub(int ranks, Disturbance disturbance) : disturbance(std::move(disturbance)), mailboxes(ranks) {}

  struct Mailbox {
    std::condition_variable changed;
    std::vector<Ended> ended;
    bool isWoken = false;
  };
  struct Line {
    std::deque<End> sends, receives;
  };

  const Disturbance disturbance;
  std::mutex mutex;                                ///< protects all members below
  std::map<std::tuple<int, int, int>, Line> lines; ///< by sender, receiver and tag
  std::vector<Mailbox> mailboxes;
  std::string reason; ///< why the job has ended
};

class LocalTransport final : public Transport {
public:
  LocalTransport(std::shared_ptr<Hub> hub, int rank) : hub(std::move(hub)), own(rank) {}

  int rank() const override { return own; }
  int size() const override { return static_cast<int>(hub->mailboxes.size()); }
  void send(Ticket ticket, int peer, int tag, const void *data, size_t bytes) override {
    post(own, peer, tag, {ticket, data, nullptr, bytes}, &Hub::Line::sends);
  }
  void receive(Ticket ticket, int peer, int tag, void *data, size_t bytes) override {
    post(peer, own, tag, {ticket, nullptr, data, bytes}, &Hub::Line::receives);
  }
  void wait(std::chrono::milliseconds limit, bool isUrgent, std::vector<Ticket> &ended) override;
  void wake() override;
  void giveUp() noexcept override;
  void abort(const std::string &reason, int exitCode) noexcept override;

private:
  void post(int from, int to, int tag, const End &end, std::deque<End> Hub::Line::*ends);
  void match(int from, int to, int tag, Hub::Line &line);
  void requireJob() const {
    if (!hub->reason.empty())
      throw Error(hub->reason);
  }

  std::shared_ptr<Hub> hub;
  int own;
};

void LocalTransport::post(int from, int to, int tag, const End &end, std::deque<End> Hub::Line::*ends) {
  std::lock_guard lock(hub->mutex);
  requireJob();
  Hub::Line &line = hub->lines[{from, to, tag}];
  (line.*ends).push_back(end);
  match(from, to, tag, line);
}

void LocalTransport::match(int from, int to, int tag, Hub::Line &line) {
  while (!line.sends.empty() && !line.receives.empty()) {
    End sent = line.sends.front(), received = line.receives.front();
    line.sends.pop_front();
    line.receives.pop_front();
    size_t bytes = std::min(sent.bytes, received.bytes);
    if (bytes > 0)
      std::memcpy(received.target, sent.source, bytes);
    const Disturbance &disturbance = hub->disturbance;
    if (disturbance.corrupt)
      disturbance.corrupt(from, to, tag, received.target, bytes);
    Clock::time_point at = Clock::now();
    if (disturbance.delay)
      at += disturbance.delay(from, to, bytes);
    for (auto [rank, ticket] : {std::pair(from, sent.ticket), std::pair(to, received.ticket)}) {
      hub->mailboxes[rank].ended.push_back({ticket, at});
      hub->mailboxes[rank].changed.notify_all();
    }
  }
}

void LocalTransport::wait(std::chrono::milliseconds limit, bool isUrgent, std::vector<Ticket> &ended) {
  std::unique_lock lock(hub->mutex);
  Hub::Mailbox &mailbox = hub->mailboxes[own];
  Clock::time_point until = Clock::now() + limit;
  for (;;) {
    requireJob();
    Clock::time_point now = Clock::now(), next = until;
    std::erase_if(mailbox.ended, [&](const Ended &transfer) {
      if (transfer.at <= now)
        ended.push_back(transfer.ticket);
      else
        next = std::min(next, transfer.at);
      return transfer.at <= now;
    });
    if (std::exchange(mailbox.isWoken, false) || !ended.empty() || now >= until)
      return;
    mailbox.changed.wait_until(lock, next);
  }
}

void LocalTransport::wake() {
  std::lock_guard lock(hub->mutex);
  hub->mailboxes[own].isWoken = true;
  hub->mailboxes[own].changed.notify_all();
}

void LocalTransport::giveUp() noexcept {
  std::lock_guard lock(hub->mutex);
  for (auto &[way, line] : hub->lines) {
    auto [from, to, tag] = way;
    if (from == own)
      line.sends.clear();
    if (to == own)
      line.receives.clear();
  }
  hub->mailboxes[own].ended.clear();
}

void LocalTransport::abort(const std::string &reason, int exitCode) noexcept {
  std::lock_guard lock(hub->mutex);
  if (hub->reason.empty())
    hub->reason = reason;
  for (Hub::Mailbox &mailbox : hub->mailboxes)
    mailbox.changed.notify_all();
}

} // namespace

std::vector<std::unique_ptr<Transport>> connectLocally(int ranks, Disturbance disturbance) {
  auto hub = std::make_shared<Hub>(ranks, std::move(disturbance));
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < ranks; ++rank)
    transports.push_back(std::make_unique<LocalTransport>(hub, rank));
  return transports;
}

} // namespace freestone::distributed

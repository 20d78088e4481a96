#ifndef FREESTONE_DISTRIBUTED_TRANSPORT_COURIER_H
#define FREESTONE_DISTRIBUTED_TRANSPORT_COURIER_H

#include "distributed/schedule/Schedule.h"
#include "distributed/transport/Message.h"
#include "distributed/transport/Transport.h"
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace freestone::distributed {

struct CourierOptions {
  /// The longest that a rank waits for one message; then the job ends, and it is told which rank waits at which action
  /// for which message of which size, since when.
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  /// Rank 0 and every other one tell each other so often that they are alive; 0: never.
  std::chrono::milliseconds heartbeat = std::chrono::milliseconds(0);
  /// The job ends when a rank has not been heard of for so long.
  std::chrono::milliseconds silence = std::chrono::seconds(6);
};

/// What a courier carries.
struct Delivery {
  MessageLabel label;
  int peer = 0;
  bool isSend = false;
  size_t bytes = 0;
};

/// Receives what a courier does, with times of the steady clock in nanoseconds. Calls must return soon.
class CourierListener {
public:
  virtual ~CourierListener() = default;
  /// From the communication thread.
  virtual void transferred(const Delivery &delivery, int64_t posted, int64_t ended) = 0;
  /// From the thread that has waited for it.
  virtual void waited(const Delivery &delivery, int64_t begin, int64_t end) = 0;
};

/// One rank's communication thread, which alone talks to the network: transfers go on while the rank computes. Threads
/// that post messages of different kinds may do so side by side, and each waits for its own.
class Courier {
public:
  /// `transport` must outlive it.
  Courier(Transport &transport, CourierOptions options = {});
  /// Transfers that have not ended are given up.
  ~Courier();
  Courier(const Courier &) = delete;

  int rank() const { return transport.rank(); }
  int size() const { return transport.size(); }

  /// Posts a message, whose parts must stay until it has ended. Between two stages, messages of one kind must be posted
  /// in the same order at both ends.
  Ticket send(int peer, Message message) { return post(peer, std::move(message), /*isSend=*/true); }
  Ticket receive(int peer, Message message) { return post(peer, std::move(message), /*isSend=*/false); }
  /// Waits until a message has ended, and a received one was checked. Throws Error: a wrong message, a fault of the
  /// network or of another rank, no more patience.
  void wait(Ticket ticket) { wait(ticket, options.patience); }
  void wait(Ticket ticket, std::chrono::milliseconds patience) { wait(ticket, patience, {}); }
  /// Throws Error also when a stop is requested; the message then stays under way.
  void wait(Ticket ticket, const std::stop_token &stop) { wait(ticket, options.patience, stop); }
  /// Tells what the rank does from now on, for messages about faults.
  void enter(const Action &action);
  /// From now on `listener` hears of all messages; null: nobody does, also when this returns.
  void tell(CourierListener *listener);
  /// Ends the job on all ranks.
  void abort(const std::string &reason) noexcept;

  struct Counters {
    int64_t messages = 0; ///< sent and received
    int64_t bytes = 0;    ///< of their parts
    int64_t waits = 0;    ///< that found their message still under way
    int64_t waitedNs = 0;
    int64_t busyNs = 0;       ///< CPU time of the communication thread
    int64_t mostUnderWay = 0; ///< messages at a time
  };
  Counters counters() const;

private:
  /// A message under way.
  struct Transfer {
    Ticket ticket = 0;
    int peer = 0;
    bool isSend = false;
    Message message;
    MessageHeader header = {}; ///< to send, or that has come
    size_t left = 0;           ///< its header and its parts that have not ended
    std::chrono::steady_clock::time_point posted;

    Delivery delivery() const { return {message.label, peer, isSend, message.bytes()}; }
  };

  /// Another rank's signs of life.
  struct Pulse {
    int64_t received = 0, sent = 0; ///< content of the messages
    Ticket receiving = 0, sending = 0;
    std::chrono::steady_clock::time_point last;
  };

  Ticket post(int peer, Message message, bool isSend);
  void wait(Ticket ticket, std::chrono::milliseconds patience, const std::stop_token &stop);
  int tagOf(const MessageLabel &label) const;
  void beat();
  bool takePulse(Ticket part);
  void work();
  void fail(const std::string &reason, int code);
  void begin(Transfer &transfer);
  void end(Ticket part);
  std::string describe(const Transfer &transfer) const;
  std::string describeOldest(int peer) const;

  Transport &transport;
  CourierOptions options;

  mutable std::mutex mutex; ///< protects the members below, up to those of the communication thread
  std::condition_variable_any changed;
  std::map<Ticket, std::unique_ptr<Transfer>> underWay;
  std::vector<Transfer *> fresh; ///< posted here, not yet to the network
  Ticket next = 1;
  std::optional<Action> entered;
  CourierListener *listener = nullptr;
  bool stopping = false;
  int awaiting = 0;             ///< threads that wait for a message
  std::string fault;            ///< why nothing moves any more
  int faultCode = lastingFault; ///< its exit code
  Counters counted;

  // Of the communication thread.
  std::map<Ticket, Transfer *> parts; ///< the network's transfers
  Ticket nextPart = 1;
  std::map<int, Pulse> pulses; ///< by rank
  std::chrono::steady_clock::time_point lastBeat;
  std::thread thread;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_TRANSPORT_COURIER_H

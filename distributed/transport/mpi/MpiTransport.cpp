// The network of an MPI job. Only functions of MPI 3.1, so that any implementation will do.
#include "distributed/Error.h"
#include "distributed/transport/Transport.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace freestone::distributed {

namespace {

using Clock = std::chrono::steady_clock;

/// MPI counts elements in an int: larger messages go in pieces.
constexpr size_t largestPiece = size_t(1) << 30;
/// While transfers are under way, MPI is asked at intervals that grow with the wait, which leaves the CPU to the
/// workers; up to the second while they compute.
constexpr Clock::duration leastPause = std::chrono::microseconds(20), longestUrgent = std::chrono::microseconds(100),
                          longestPause = std::chrono::microseconds(500);
constexpr int partOfWait = 8;
constexpr Clock::duration longestEnd = std::chrono::seconds(8);

void check(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(fmt::format("MPI, {}: {}", what, std::string_view(text, length)));
}

class MpiTransport final : public Transport {
public:
  MpiTransport();
  ~MpiTransport() override;

  int rank() const override { return own; }
  int size() const override { return count; }
  void send(Ticket ticket, int peer, int tag, const void *data, size_t bytes) override;
  void receive(Ticket ticket, int peer, int tag, void *data, size_t bytes) override;
  void wait(std::chrono::milliseconds limit, bool isUrgent, std::vector<Ticket> &ended) override;
  void wake() override;
  void giveUp() noexcept override;
  void abort(const std::string &reason, int exitCode) noexcept override;

private:
  template <typename Post> void postPieces(Ticket ticket, bool isReceive, size_t bytes, Post post);
  void test(std::vector<Ticket> &ended);

  int own = 0, count = 1;
  bool isSynchronous = std::getenv("FREESTONE_MPI_SYNCHRONOUS") != nullptr;
  MPI_Comm job = MPI_COMM_NULL;
  std::vector<MPI_Request> requests;
  std::vector<Ticket> tickets;     ///< of the requests
  std::vector<char> receives;      ///< whether each request is one
  std::map<Ticket, size_t> pieces; ///< of tickets that have not ended

  std::mutex mutex; ///< protects isWoken
  std::condition_variable woken;
  bool isWoken = false;
};

MpiTransport::MpiTransport() {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "start");
  if (provided < MPI_THREAD_SERIALIZED)
    throw Error("this MPI can't be used by a thread of its own (MPI_THREAD_SERIALIZED)");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &job), "start");
  MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN);
  MPI_Comm_rank(job, &own);
  MPI_Comm_size(job, &count);
}

/// MPI waits for all ranks, and no sign of life tells whether one is stopped.
MpiTransport::~MpiTransport() {
  giveUp();
  bool hasEnded = false;
  std::thread limit([&] {
    std::unique_lock lock(mutex);
    if (woken.wait_for(lock, longestEnd, [&] { return hasEnded; }))
      return;
    std::fprintf(stderr, "freestone: rank %d of %d: another rank does not end\n", own, count);
    std::fflush(nullptr);
    _exit(passingFault);
  });
  MPI_Comm_free(&job);
  MPI_Finalize();
  {
    std::lock_guard lock(mutex);
    hasEnded = true;
  }
  woken.notify_all();
  limit.join();
}

template <typename Post> void MpiTransport::postPieces(Ticket ticket, bool isReceive, size_t bytes, Post post) {
  size_t first = 0;
  do {
    size_t piece = std::min(bytes - first, largestPiece);
    MPI_Request request = MPI_REQUEST_NULL;
    check(post(first, static_cast<int>(piece), &request), "post a transfer");
    requests.push_back(request);
    tickets.push_back(ticket);
    receives.push_back(isReceive);
    ++pieces[ticket];
    first += piece;
  } while (first < bytes);
}

void MpiTransport::send(Ticket ticket, int peer, int tag, const void *data, size_t bytes) {
  postPieces(ticket, /*isReceive=*/false, bytes, [&](size_t first, int piece, MPI_Request *request) {
    const char *begin = static_cast<const char *>(data) + first;
    return isSynchronous ? MPI_Issend(begin, piece, MPI_BYTE, peer, tag, job, request)
                         : MPI_Isend(begin, piece, MPI_BYTE, peer, tag, job, request);
  });
}

void MpiTransport::receive(Ticket ticket, int peer, int tag, void *data, size_t bytes) {
  postPieces(ticket, /*isReceive=*/true, bytes, [&](size_t first, int piece, MPI_Request *request) {
    return MPI_Irecv(static_cast<char *>(data) + first, piece, MPI_BYTE, peer, tag, job, request);
  });
}

/// Appends the tickets of what has ended.
void MpiTransport::test(std::vector<Ticket> &ended) {
  std::vector<int> indices(requests.size());
  int found = 0;
  check(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &found, indices.data(), MPI_STATUSES_IGNORE),
        "a transfer");
  if (found <= 0)
    return;
  std::sort(indices.begin(), indices.begin() + found);
  for (int i = 0; i < found; ++i) {
    Ticket ticket = tickets[indices[i]];
    if (--pieces.at(ticket) > 0)
      continue;
    pieces.erase(ticket);
    ended.push_back(ticket);
  }
  for (int i = found; i-- > 0;) {
    requests.erase(requests.begin() + indices[i]);
    tickets.erase(tickets.begin() + indices[i]);
    receives.erase(receives.begin() + indices[i]);
  }
}

void MpiTransport::wait(std::chrono::milliseconds limit, bool isUrgent, std::vector<Ticket> &ended) {
  Clock::time_point begin = Clock::now(), until = begin + limit;
  for (;;) {
    if (!requests.empty())
      test(ended);
    std::unique_lock lock(mutex);
    Clock::time_point now = Clock::now();
    if (std::exchange(isWoken, false) || !ended.empty() || now >= until)
      return;
    // Without a transfer nothing has to be asked.
    Clock::time_point next =
        now + std::clamp((now - begin) / partOfWait, leastPause, isUrgent ? longestUrgent : longestPause);
    woken.wait_until(lock, requests.empty() ? until : std::min(next, until), [&] { return isWoken; });
  }
}

void MpiTransport::wake() {
  std::lock_guard lock(mutex);
  isWoken = true;
  woken.notify_all();
}

/// Such as signs of life of ranks that have ended.
void MpiTransport::giveUp() noexcept {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (receives[i] && MPI_Cancel(&requests[i]) == MPI_SUCCESS)
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    else
      MPI_Request_free(&requests[i]);
  }
  requests.clear();
  tickets.clear();
  receives.clear();
  pieces.clear();
}

void MpiTransport::abort(const std::string &reason, int exitCode) noexcept {
  static std::atomic_flag hasAborted;
  if (hasAborted.test_and_set())
    return;
  std::fprintf(stderr, "freestone: rank %d of %d: %s\n", own, count, reason.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exitCode);
}

} // namespace

} // namespace freestone::distributed

/// The only exported symbol. The caller owns the transport. Throws Error.
extern "C" __attribute__((visibility("default"))) freestone::distributed::Transport *freestone_connect_by_mpi() {
  return new freestone::distributed::MpiTransport();
}

#include "distributed/Error.h"
#include "distributed/transport/LocalTransport.h"
#include "distributed/transport/ParcelLine.h"
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace freestone::distributed;
using freestone::formats::TensorView;

namespace {

/// Ranks with their couriers.
struct Job {
  explicit Job(int ranks, CourierOptions options = {}, Disturbance disturbance = {})
      : transports(connectLocally(ranks, std::move(disturbance))) {
    for (auto &transport : transports)
      couriers.push_back(std::make_unique<Courier>(*transport, options));
  }
  Courier &operator[](int rank) { return *couriers[rank]; }

  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::unique_ptr<Courier>> couriers;
};

Message messageOf(std::vector<int64_t> &values, int64_t microBatch, int64_t step = 1) {
  Message message{{MessageKind::Activations, 7, step, 0, 1, microBatch, {4, 3}}, {}};
  message.parts.push_back({values.data(), values.size() * sizeof(int64_t), FREESTONE_I64});
  return message;
}

/// The message of an Error that `call` throws.
std::string faultOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Courier, DeliversInOrderWhateverTheDelays) {
  std::atomic<int> seed = 0;
  Disturbance late{[&](int, int, size_t) { return std::chrono::microseconds(std::mt19937(seed++)() % 300); }, {}};
  Job job(2, {}, late);
  constexpr int count = 200;
  std::vector<std::vector<int64_t>> sent(count), received(count);
  std::vector<Ticket> sends, receives;
  for (int i = 0; i < count; ++i) {
    sent[i].assign(i % 7 * 1000, i); // some are empty
    received[i].resize(sent[i].size());
    receives.push_back(job[1].receive(0, messageOf(received[i], i)));
  }
  for (int i = 0; i < count; ++i)
    sends.push_back(job[0].send(1, messageOf(sent[i], i)));
  for (int i = count; i-- > 0;) // waits may be in any order
    job[1].wait(receives[i]);
  for (Ticket ticket : sends)
    job[0].wait(ticket);
  EXPECT_EQ(sent, received);
  EXPECT_EQ(job[0].counters().messages, count);
}

TEST(Courier, ASendEndsWhenItIsReceived) {
  Job job(2, {.patience = std::chrono::milliseconds(50)});
  std::vector<int64_t> values(10);
  Ticket sent = job[0].send(1, messageOf(values, 0));
  std::string fault = faultOf([&] { job[0].wait(sent); });
  EXPECT_NE(fault.find("nothing has moved for 0.1 s: rank 0 sends to rank 1: activations of step 1, micro-batch 0"),
            std::string::npos)
      << fault;
}

TEST(Courier, AWaitIsStopped) {
  Job job(2);
  std::vector<int64_t> values = {1, 2};
  Ticket receive = job[1].receive(0, messageOf(values, 0));
  std::string fault;
  std::jthread waiter([&](const std::stop_token &stop) { fault = faultOf([&] { job[1].wait(receive, stop); }); });
  waiter.request_stop();
  waiter.join();
  EXPECT_EQ(fault, "a message is waited for no more");
  // It is still under way.
  std::vector<int64_t> sent = {3, 4};
  job[0].wait(job[0].send(1, messageOf(sent, 0)));
  job[1].wait(receive);
  EXPECT_EQ(values, sent);
}

TEST(Courier, RefusesWhatWasNotExpected) {
  struct Case {
    std::function<void(Message &)> change;
    const char *part;
  };
  for (const Case &wrong :
       std::vector<Case>{{[](Message &message) { message.label.microBatch = 3; }, "micro-batch 3, from stage 0 to 1"},
                         {[](Message &message) { message.label.step = 9; }, "activations of step 9"},
                         {[](Message &message) { message.label.model = 8; }, "trains another model"},
                         {[](Message &message) { message.label.sizes = {4, 2}; }, "sizes 4 × 2"},
                         {[](Message &message) { message.parts[0].type = FREESTONE_F64; }, "of other element types"},
                         {[](Message &message) { message.parts[0].bytes = 8; }, "1 tensors of 8 bytes"}}) {
    Job job(2);
    std::vector<int64_t> values(10), target(10);
    Message message = messageOf(values, 0);
    wrong.change(message);
    Ticket received = job[1].receive(0, messageOf(target, 0));
    job[0].send(1, std::move(message));
    std::string fault = faultOf([&] { job[1].wait(received); });
    EXPECT_NE(fault.find(wrong.part), std::string::npos) << fault;
    // The other rank learns it too.
    Ticket waiting = 0;
    std::string other = faultOf([&] {
      waiting = job[0].receive(1, messageOf(target, 5));
      job[0].wait(waiting);
    });
    EXPECT_EQ(other, fault);
  }
}

TEST(Courier, RefusesDamagedHeaders) {
  Disturbance damage{{}, [](int, int, int, void *data, size_t bytes) {
                       if (bytes == sizeof(MessageHeader))
                         std::memset(data, 0x5a, 8);
                     }};
  Job job(2, {}, damage);
  std::vector<int64_t> values(4), target(4);
  job[0].send(1, messageOf(values, 0));
  Ticket received = job[1].receive(0, messageOf(target, 0));
  std::string fault = faultOf([&] { job[1].wait(received); });
  EXPECT_NE(fault.find("a message that is none of this program"), std::string::npos) << fault;
}

TEST(Courier, NoticesSilentRanks) {
  std::vector<std::unique_ptr<Transport>> transports = connectLocally(2);
  CourierOptions options;
  options.heartbeat = std::chrono::milliseconds(10);
  options.silence = std::chrono::milliseconds(100);
  Courier first(*transports[0], options);
  std::vector<int64_t> values(4);
  {
    Courier second(*transports[1], options);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    EXPECT_EQ(faultOf([&] { first.receive(1, messageOf(values, 0)); }), "");
  }
  std::string fault;
  for (int i = 0; i < 200 && fault.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    fault = faultOf([&] { first.receive(1, messageOf(values, 1)); });
  }
  EXPECT_NE(fault.find("rank 1 has not been heard of"), std::string::npos) << fault;
}

TEST(ParcelLine, CarriesTextAndTensors) {
  Job job(2);
  ParcelLine there(job[0], 1, 3), here(job[1], 0, 3);
  for (int count : {0, 3, 1}) {
    std::vector<std::vector<float>> values(count);
    Parcel parcel{{{"count", count}}, {}};
    for (int i = 0; i < count; ++i) {
      values[i].resize(100 * i);
      std::iota(values[i].begin(), values[i].end(), i);
      parcel.tensors.push_back(
          {"t" + std::to_string(i),
           FREESTONE_F32,
           {100, i},
           {reinterpret_cast<const uint8_t *>(values[i].data()), values[i].size() * sizeof(float)}});
    }
    there.send(parcel);
    const Parcel &received = here.receive();
    EXPECT_EQ(received.about, parcel.about);
    ASSERT_EQ(received.tensors.size(), parcel.tensors.size());
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(received.tensors[i].name, parcel.tensors[i].name);
      EXPECT_EQ(received.tensors[i].shape, parcel.tensors[i].shape);
      EXPECT_TRUE(std::ranges::equal(received.tensors[i].bytes, parcel.tensors[i].bytes));
    }
  }
  there.settle();
}

} // namespace

#include "test/runtime/Models.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

using namespace freestone;
using namespace freestone::test;
using Json = nlohmann::json;

namespace {

std::string pathOf(const std::string &name) { return ::testing::TempDir() + "timeline-" + name + ".json"; }

/// The events of a file; removes the file.
std::vector<Json> eventsIn(const std::string &path, const std::string &kind) {
  std::ifstream file(path);
  Json all = Json::parse(file);
  std::remove(path.c_str());
  std::vector<Json> events;
  for (const Json &event : all["traceEvents"])
    if (event["ph"] == kind)
      events.push_back(event);
  return events;
}

/// The number of events of each lane; checks that the events of a lane do not overlap.
std::map<std::string, int> countsByLane(const std::string &path) {
  std::ifstream file(path);
  Json all = Json::parse(file);
  std::map<int, std::string> lanes;
  std::map<std::string, int> counts;
  std::map<int, double> ends;
  for (const Json &event : all["traceEvents"]) {
    if (event["name"] == "thread_name")
      lanes[event["tid"]] = event["args"]["name"];
    if (event["ph"] != "X")
      continue;
    ++counts[lanes[event["tid"]]];
    EXPECT_GE(event["ts"].get<double>() + 0.002, ends[event["tid"]]);
    ends[event["tid"]] = event["ts"].get<double>() + event["dur"].get<double>();
  }
  return counts;
}

freestone_instance_options on(const Timeline &timeline, int threads) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.timeline = timeline.get();
  return options;
}

} // namespace

TEST(Timeline, HasAnEventForEveryTask) {
  std::string path = pathOf("tasks");
  Timeline timeline(path);
  Instance instance(loadPhases(), on(timeline, 2));
  // More events than a lane buffers.
  std::vector<int64_t> count = {700}, failing = {-1};
  instance.setInput(0, viewOf(count));
  instance.setInput(1, viewOf(failing));
  for (int run = 0; run < 3; ++run)
    instance.run();
  timeline.write();
  std::map<std::string, int> counts = countsByLane(path);
  EXPECT_EQ(counts["worker 0"], 3 * 2 * 700);
  EXPECT_EQ(counts["worker 1"], 3 * 2 * 700);
  int tasks = 0;
  for (const Json &event : eventsIn(path, "X")) {
    EXPECT_GE(event["args"]["run"], 1);
    EXPECT_LE(event["args"]["run"], 3);
    if (!event["args"].contains("tiles"))
      continue;
    ++tasks;
    EXPECT_EQ(event["args"]["first tile"], event["tid"].get<int>() - 1);
    EXPECT_EQ(event["args"]["tiles"], 1);
    EXPECT_EQ(event["args"]["of tiles"], 2);
  }
  EXPECT_EQ(tasks, 3 * 2 * 700);
}

TEST(Timeline, TakesEventsOfTheApplicationFromAnyThread) {
  std::string path = pathOf("application");
  Timeline timeline(path);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&timeline, thread] {
      for (int i = 0; i < 100; ++i) {
        int64_t begin = Timeline::now();
        timeline.add("data", thread % 2 ? "copy \"x\"" : "read", begin, Timeline::now(), i);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  timeline.write();
  std::vector<Json> events = eventsIn(path, "X");
  ASSERT_EQ(events.size(), 400u);
  int quoted = 0;
  for (const Json &event : events) {
    EXPECT_GE(event["ts"].get<double>(), 0);
    quoted += event["name"] == "copy \"x\"";
  }
  EXPECT_EQ(quoted, 200);
}

TEST(Timeline, ShowsOtherProcesses) {
  std::string path = pathOf("processes");
  Timeline first(path), second(pathOf("none"));
  first.setProcess(1, "rank 0 of 2", 1'000'000);
  second.setProcess(2, "rank 1 of 2", 3'000'000); // its clock is 2 ms ahead
  constexpr int count = 3000;                     // more than one piece of text
  for (int i = 0; i < count; ++i) {
    first.add("passes", "F0.0", 1'500'000 + i, 1'600'000 + i, 7);
    second.add("passes", "F1.0", 3'500'000 + i, 3'600'000 + i, 7);
  }
  check(freestone_timeline_print(
      second.get(),
      [](void *user, const char *text, size_t bytes) {
        check(freestone_timeline_add_text(static_cast<Timeline *>(user)->get(), text, bytes));
      },
      &first));
  first.write();
  std::map<int, std::string> names;
  for (const Json &event : eventsIn(path, "M")) {
    if (event["name"] == "process_name")
      names[event["pid"]] = event["args"]["name"];
  }
  EXPECT_EQ(names, (std::map<int, std::string>{{1, "rank 0 of 2"}, {2, "rank 1 of 2"}}));
  first.write();
  std::map<int, int> counts;
  for (const Json &event : eventsIn(path, "X")) {
    EXPECT_NEAR(event["ts"].get<double>(), 500 + counts[event["pid"]]++ * 1e-3, 1e-3);
    EXPECT_EQ(event["name"], event["pid"] == 1 ? "F0.0" : "F1.0");
  }
  EXPECT_EQ(counts, (std::map<int, int>{{1, count}, {2, count}}));
}

TEST(Timeline, TellsWhyItCannotBeWritten) {
  std::string message = errorOf(FREESTONE_IO, [] { Timeline timeline("/nowhere/trace.json"); });
  EXPECT_NE(message.find("/nowhere/trace.json"), std::string::npos) << message;
}

TEST(Timeline, OutlivesItsHandleInInstances) {
  std::string path = pathOf("handle");
  auto timeline = std::make_unique<Timeline>(path);
  Instance instance(loadReverse(), on(*timeline, 1));
  timeline.reset();
  std::vector<float> x = ramp(10);
  instance.setInput(0, viewOf(x));
  instance.run();
  EXPECT_FALSE(std::ifstream(path).good());
}

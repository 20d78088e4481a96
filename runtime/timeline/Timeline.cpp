#include "runtime/timeline/Timeline.h"

#include "runtime/platform/File.h"
#include "runtime/timeline/Clock.h"
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

using namespace freestone::runtime;

static constexpr size_t recentEvents = 1024;

Result<std::shared_ptr<Timeline>> Timeline::create(const std::string &path) {
  std::FILE *spill = platform::openUnnamedFile(path);
  if (!spill)
    return Status(Code::Io, "can't write '" + path + "': " + std::strerror(errno));
  std::shared_ptr<Timeline> timeline(new Timeline(path, spill));
  timeline->origin = now();
  return timeline;
}

Timeline::~Timeline() {
  std::fclose(spill);
  if (others)
    std::fclose(others);
}

void Timeline::setProcess(int32_t id, const std::string &name, int64_t from) {
  std::lock_guard lock(mutex);
  process = id;
  processName = name;
  origin = from;
}

Timeline::Lane &Timeline::addLane(const std::string &name) {
  std::lock_guard lock(mutex);
  Lane &lane = lanes.emplace_back(Lane(*this, static_cast<int32_t>(lanes.size())));
  lane.recent.reserve(recentEvents);
  laneNames.push_back(name);
  return lane;
}

int32_t Timeline::nameOf(const std::string &name, const std::string &program) {
  std::lock_guard lock(mutex);
  auto [position, isNew] = numbers.try_emplace({name, program}, static_cast<int32_t>(names.size()));
  if (isNew)
    names.push_back({name, program});
  return position->second;
}

void Timeline::Lane::add(Event event) {
  event.lane = number;
  recent.push_back(event);
  if (recent.size() == recentEvents)
    timeline.flush(*this);
}

void Timeline::add(const std::string &lane, const std::string &name, Event event) {
  event.name = nameOf(name);
  std::unique_lock lock(mutex);
  auto found = namedLanes.find(lane);
  if (found == namedLanes.end()) {
    lock.unlock();
    Lane &made = addLane(lane);
    lock.lock();
    found = namedLanes.try_emplace(lane, &made).first;
  }
  // Several threads may add to such a lane, so it does not buffer.
  event.lane = found->second->number;
  failed |= std::fwrite(&event, sizeof(event), 1, spill) != 1;
}

void Timeline::flush(Lane &lane) {
  std::lock_guard lock(mutex);
  failed |= std::fwrite(lane.recent.data(), sizeof(Event), lane.recent.size(), spill) != lane.recent.size();
  lane.recent.clear();
}

static std::string jsonText(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// As printf.
__attribute__((format(printf, 2, 3))) static void append(std::string &text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  size_t size = text.size(), added = std::vsnprintf(nullptr, 0, format, arguments);
  text.resize(size + added + 1);
  std::vsnprintf(text.data() + size, added + 1, format, again);
  text.pop_back();
  va_end(again);
  va_end(arguments);
}

void Timeline::printEvent(std::string &text, const Event &event) const {
  const Name &name = names[event.name];
  append(text,
         ",\n{\"ph\":\"X\",\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"name\":%s,\"ts\":%.3f,\"dur\":%.3f,\"args\":{",
         process, event.lane + 1, jsonText(name.text).c_str(), static_cast<double>(event.begin - origin) * 1e-3,
         static_cast<double>(event.end - event.begin) * 1e-3);
  const char *separator = "";
  if (event.run >= 0) {
    append(text, "\"run\":%" PRId64, event.run);
    separator = ",";
  }
  if (!name.program.empty()) {
    append(text, "%s\"program\":%s", separator, jsonText(name.program).c_str());
    separator = ",";
  }
  if (event.firstTile >= 0)
    append(text, "%s\"first tile\":%" PRId64 ",\"tiles\":%" PRId64 ",\"of tiles\":%" PRId64 ",\"bytes\":%" PRId64,
           separator, event.firstTile, event.tiles, event.ofTiles, event.bytes);
  text += "}}";
}

Status Timeline::print(const std::function<void(const char *text, size_t bytes)> &take) {
  for (Lane &lane : lanes)
    flush(lane);
  std::lock_guard lock(mutex);
  std::string text;
  auto give = [&] {
    take(text.data(), text.size());
    text.clear();
  };
  auto describe = [&](const char *what, size_t lane, const char *key, const std::string &value) {
    append(text, ",\n{\"ph\":\"M\",\"pid\":%" PRId32 ",\"tid\":%zu,\"name\":\"%s\",\"args\":{\"%s\":%s}}", process,
           lane, what, key, value.c_str());
  };
  describe("process_name", 0, "name", jsonText(processName));
  describe("process_sort_index", 0, "sort_index", std::to_string(process));
  for (size_t lane = 0; lane < laneNames.size(); ++lane) {
    describe("thread_name", lane + 1, "name", jsonText(laneNames[lane]));
    describe("thread_sort_index", lane + 1, "sort_index", std::to_string(lane));
  }
  give();
  std::rewind(spill);
  std::vector<Event> events(recentEvents);
  for (size_t count; (count = std::fread(events.data(), sizeof(Event), events.size(), spill)) > 0; give())
    for (size_t i = 0; i < count; ++i)
      printEvent(text, events[i]);
  bool isRead = !failed && !std::ferror(spill);
  std::fseek(spill, 0, SEEK_END);
  return isRead ? Status() : Status(Code::Io, "can't keep events for '" + path + "': the disk is full or failed");
}

void Timeline::addText(const char *text, size_t bytes) {
  std::lock_guard lock(mutex);
  if (!others)
    others = platform::openUnnamedFile(path);
  failed |= !others || std::fwrite(text, 1, bytes, others) != bytes;
}

Status Timeline::write() {
  std::FILE *file = std::fopen(path.c_str(), "we");
  if (!file)
    return {Code::Io, "can't write '" + path + "': " + std::strerror(errno)};
  std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", file);
  bool isFirst = true;
  auto take = [&](const char *text, size_t bytes) {
    size_t skipped = std::exchange(isFirst, false) ? 1 : 0; // the comma between events
    std::fwrite(text + skipped, 1, bytes - skipped, file);
  };
  Status printed = print(take);
  std::lock_guard lock(mutex);
  if (others) {
    std::rewind(others);
    std::vector<char> piece(1 << 16);
    for (size_t count; (count = std::fread(piece.data(), 1, piece.size(), others)) > 0;)
      take(piece.data(), count);
    std::fseek(others, 0, SEEK_END);
  }
  std::fputs("\n]}\n", file);
  bool isWritten = printed.ok() && !std::ferror(file);
  isWritten &= std::fclose(file) == 0;
  return isWritten ? Status() : Status(Code::Io, "can't write '" + path + "': the disk is full or failed");
}

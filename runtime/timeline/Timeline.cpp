#include "runtime/timeline/Timeline.h"

#include "runtime/platform/File.h"
#include "runtime/timeline/Clock.h"
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace freestone::runtime;

static constexpr size_t recentEvents = 1024;

Result<std::shared_ptr<Timeline>> Timeline::create(const std::string &path) {
  std::FILE *spill = platform::openUnnamedFile(path);
  if (!spill)
    return Status(Code::Io, "can't write '" + path + "': " + std::strerror(errno));
  std::shared_ptr<Timeline> timeline(new Timeline(path, spill));
  timeline->begin = now();
  return timeline;
}

Timeline::~Timeline() { std::fclose(spill); }

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

void Timeline::writeEvent(std::FILE *file, const Event &event) const {
  const Name &name = names[event.name];
  std::fprintf(file, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%" PRId32 ",\"name\":%s,\"ts\":%.3f,\"dur\":%.3f,\"args\":{",
               event.lane + 1, jsonText(name.text).c_str(), static_cast<double>(event.begin - begin) * 1e-3,
               static_cast<double>(event.end - event.begin) * 1e-3);
  const char *separator = "";
  if (event.run >= 0) {
    std::fprintf(file, "\"run\":%" PRId64, event.run);
    separator = ",";
  }
  if (!name.program.empty()) {
    std::fprintf(file, "%s\"program\":%s", separator, jsonText(name.program).c_str());
    separator = ",";
  }
  if (event.firstTile >= 0)
    std::fprintf(file, "%s\"first tile\":%" PRId64 ",\"tiles\":%" PRId64 ",\"of tiles\":%" PRId64 ",\"bytes\":%" PRId64,
                 separator, event.firstTile, event.tiles, event.ofTiles, event.bytes);
  std::fputs("}}", file);
}

Status Timeline::write() {
  for (Lane &lane : lanes)
    flush(lane);
  std::lock_guard lock(mutex);
  std::FILE *file = std::fopen(path.c_str(), "we");
  if (!file)
    return {Code::Io, "can't write '" + path + "': " + std::strerror(errno)};
  std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
             "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"freestone\"}}",
             file);
  for (size_t lane = 0; lane < laneNames.size(); ++lane) {
    std::fprintf(file, ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"name\":\"thread_name\",\"args\":{\"name\":%s}}",
                 lane + 1, jsonText(laneNames[lane]).c_str());
    std::fprintf(file,
                 ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"name\":\"thread_sort_index\","
                 "\"args\":{\"sort_index\":%zu}}",
                 lane + 1, lane);
  }
  std::rewind(spill);
  std::vector<Event> events(recentEvents);
  for (size_t count; (count = std::fread(events.data(), sizeof(Event), events.size(), spill)) > 0;)
    for (size_t i = 0; i < count; ++i)
      writeEvent(file, events[i]);
  std::fputs("\n]}\n", file);
  bool isWritten = !failed && !std::ferror(spill) && !std::ferror(file);
  std::fseek(spill, 0, SEEK_END);
  isWritten &= std::fclose(file) == 0;
  return isWritten ? Status() : Status(Code::Io, "can't write '" + path + "': the disk is full or failed");
}

// The part of the C ABI that deals with timelines.
#include "runtime/interface/Interface.h"
#include "runtime/timeline/Clock.h"

using namespace freestone::runtime;

freestone_status freestone_timeline_create(const char *path, freestone_timeline **timeline) {
  return guarded([&] {
    if (!path || !timeline)
      return nullArgument(path ? "timeline" : "path");
    *timeline = nullptr;
    Result<std::shared_ptr<Timeline>> created = Timeline::create(path);
    if (!created.ok())
      return created.status();
    *timeline = new freestone_timeline{std::move(*created)};
    return Status();
  });
}

int64_t freestone_timeline_now(void) { return now(); }

freestone_status freestone_timeline_add(freestone_timeline *timeline, const char *lane, const char *name,
                                        int64_t begin_ns, int64_t end_ns, int64_t run) {
  return guarded([&] {
    if (!timeline || !lane || !name)
      return nullArgument(!timeline ? "timeline" : lane ? "name" : "lane");
    Timeline::Event event = {begin_ns, end_ns};
    event.run = run;
    timeline->timeline->add(lane, name, event);
    return Status();
  });
}

freestone_status freestone_timeline_set_process(freestone_timeline *timeline, int32_t id, const char *name,
                                                int64_t origin_ns) {
  return guarded([&] {
    if (!timeline || !name)
      return nullArgument(timeline ? "name" : "timeline");
    timeline->timeline->setProcess(id, name, origin_ns);
    return Status();
  });
}

freestone_status freestone_timeline_print(freestone_timeline *timeline,
                                          void (*take)(void *user, const char *text, size_t bytes), void *user) {
  return guarded([&] {
    if (!timeline || !take)
      return nullArgument(timeline ? "take" : "timeline");
    return timeline->timeline->print([&](const char *text, size_t bytes) { take(user, text, bytes); });
  });
}

freestone_status freestone_timeline_add_text(freestone_timeline *timeline, const char *text, size_t bytes) {
  return guarded([&] {
    if (!timeline || !text)
      return nullArgument(timeline ? "text" : "timeline");
    timeline->timeline->addText(text, bytes);
    return Status();
  });
}

freestone_status freestone_timeline_write(freestone_timeline *timeline) {
  return guarded([&] { return timeline ? timeline->timeline->write() : nullArgument("timeline"); });
}

void freestone_timeline_release(freestone_timeline *timeline) { delete timeline; }

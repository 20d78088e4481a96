#ifndef FREESTONE_RUNTIME_TIMELINE_TIMELINE_H
#define FREESTONE_RUNTIME_TIMELINE_TIMELINE_H

#include "runtime/Status.h"
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace freestone::runtime {

/// A recording of the activity of a process's threads: lanes of events, finally written as a file of Chrome trace
/// events for Perfetto. Until then events are stored in binary form in a nameless file, which bounds memory and keeps
/// recording cheap.
class Timeline {
public:
  struct Event {
    int64_t begin, end; ///< `now()`
    int32_t lane = 0, name = 0;
    int64_t run = -1;       ///< the run or step that it belongs to; -1: none
    int64_t firstTile = -1; ///< of a task; -1: no task
    int64_t tiles = 0, ofTiles = 0;
    int64_t bytes = 0; ///< of the task's operands, its share
  };

  /// A row of events, written by one thread at a time.
  class Lane {
  public:
    /// Not thread-safe. Sets `event.lane`.
    void add(Event event);

  private:
    friend class Timeline;
    Lane(Timeline &timeline, int32_t number) : timeline(timeline), number(number) {}
    Timeline &timeline;
    int32_t number;
    std::vector<Event> recent;
  };

  /// The file is created by `write`; its folder must exist. Errors: Io.
  static Result<std::shared_ptr<Timeline>> create(const std::string &path);
  ~Timeline();

  /// A new lane, whose name need not be unique; lives as long as this object. Thread-safe.
  Lane &addLane(const std::string &name);
  /// A number for a name, unique for the pair of `name` and `program`, which is shown with it if not empty.
  /// Thread-safe.
  int32_t nameOf(const std::string &name, const std::string &program = "");
  /// Adds an event to the lane of this name, which is created on first use. Thread-safe; for few events.
  void add(const std::string &lane, const std::string &name, Event event);

  /// This process among those that one file shows; times in the file count from `origin`, of this process's clock. By
  /// default the only one, from the creation of this object on.
  void setProcess(int32_t id, const std::string &name, int64_t origin);

  /// Gives all events in pieces of text, for the file of another process's timeline, which takes them by `addText`. No
  /// events may be added during this call. Errors: Io.
  Status print(const std::function<void(const char *text, size_t bytes)> &take);
  /// Thread-safe.
  void addText(const char *text, size_t bytes);

  /// Writes the file, with all added events. No events may be added during this call. Errors: Io.
  Status write();

private:
  struct Name {
    std::string text, program;
  };

  Timeline(std::string path, std::FILE *spill) : path(std::move(path)), spill(spill) {}
  void flush(Lane &lane);
  void printEvent(std::string &text, const Event &event) const;

  const std::string path;
  std::FILE *spill; ///< events in binary form
  int32_t process = 1;
  std::string processName = "freestone";
  int64_t origin = 0;
  std::FILE *others = nullptr; ///< text of other processes
  std::mutex mutex;            ///< protects all members below
  std::deque<Lane> lanes;
  std::vector<std::string> laneNames;
  std::vector<Name> names;
  std::map<std::pair<std::string, std::string>, int32_t> numbers;
  std::map<std::string, Lane *> namedLanes;
  bool failed = false;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_TIMELINE_TIMELINE_H

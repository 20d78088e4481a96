#ifndef FREESTONE_RUNTIME_TIMELINE_H
#define FREESTONE_RUNTIME_TIMELINE_H

#include "runtime/Status.h"
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace freestone::runtime {

/// What the threads of a process did and when, on one line of time: lanes of events, written in the end as a file of
/// Chrome trace events, which Perfetto opens. Until then events go in binary form to a file without a name, so that
/// memory stays bounded and recording costs little.
class Timeline {
public:
  struct Event {
    int64_t begin, end; ///< `now()`
    int32_t lane = 0, name = 0;
    int64_t run = -1;       ///< number of the run or step that it belongs to; -1: none
    int64_t firstTile = -1; ///< of a task; -1: it is none
    int64_t tiles = 0, ofTiles = 0;
    int64_t bytes = 0; ///< of the task's operands, its share
  };

  /// A row of events that one thread at a time adds to.
  class Lane {
  public:
    /// Not thread-safe. `event.lane` is filled in.
    void add(Event event);

  private:
    friend class Timeline;
    Lane(Timeline &timeline, int32_t number) : timeline(timeline), number(number) {}
    Timeline &timeline;
    int32_t number;
    std::vector<Event> recent;
  };

  /// The file appears with `write`; its folder must be there. Errors: Io.
  static Result<std::shared_ptr<Timeline>> create(const std::string &path);
  ~Timeline();

  /// A new lane under a name that need not be its own; lives as long as this object. Thread-safe.
  Lane &addLane(const std::string &name);
  /// A number for a name, the same for the same `name` and `program`, which is told beside it if not empty.
  /// Thread-safe.
  int32_t nameOf(const std::string &name, const std::string &program = "");
  /// An event of the lane with this name, which is made if need be. Thread-safe; for few events.
  void add(const std::string &lane, const std::string &name, Event event);

  /// Writes the file, with all that was added. Nobody may add during this call. Errors: Io.
  Status write();

private:
  struct Name {
    std::string text, program;
  };

  Timeline(std::string path, std::FILE *spill) : path(std::move(path)), spill(spill) {}
  void flush(Lane &lane);
  void writeEvent(std::FILE *file, const Event &event) const;

  const std::string path;
  std::FILE *spill; ///< events as they are in memory
  int64_t begin = 0;
  std::mutex mutex; ///< of all below
  std::deque<Lane> lanes;
  std::vector<std::string> laneNames;
  std::vector<Name> names;
  std::map<std::pair<std::string, std::string>, int32_t> numbers;
  std::map<std::string, Lane *> namedLanes;
  bool failed = false;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_TIMELINE_H

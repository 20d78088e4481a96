// The part of the C ABI that deals with watches.
#include "runtime/interface/Interface.h"

using namespace freestone::runtime;

static Status checkState(const Instance &instance, size_t index) {
  size_t count = instance.stateCount();
  return index < count ? Status() : Status(Code::InvalidArgument, "there is no state " + std::to_string(index));
}

freestone_status freestone_instance_last_use(const freestone_instance *instance, size_t index, int64_t *phases) {
  return guarded([&] {
    if (!instance || !phases)
      return nullArgument(instance ? "phases" : "instance");
    if (Status status = checkState(*instance->instance, index); !status.ok())
      return status;
    *phases = instance->instance->lastUse(index);
    return Status();
  });
}

freestone_status freestone_watch_create(freestone_instance *instance, freestone_watch **watch) {
  return guarded([&] {
    if (!instance || !watch)
      return nullArgument(instance ? "watch" : "instance");
    *watch = new freestone_watch{*instance->instance, std::make_shared<RunWatch>()};
    return Status();
  });
}

void freestone_watch_release(freestone_watch *watch) { delete watch; }

freestone_status freestone_watch_next_run(freestone_watch *watch) {
  return guarded([&] {
    if (!watch)
      return nullArgument("watch");
    watch->instance.watchNext(watch->watch);
    return Status();
  });
}

freestone_status freestone_watch_wait(freestone_watch *watch, size_t index) {
  return guarded([&] {
    if (!watch)
      return nullArgument("watch");
    if (Status status = checkState(watch->instance, index); !status.ok())
      return status;
    switch (watch->instance.await(*watch->watch, index)) {
    case RunWatch::Stage::None:
      return Status(Code::InvalidArgument, "the watch is about no run: call next_run first");
    case RunWatch::Stage::Failed:
      return Status(Code::RunFailed, "the run that was watched has failed, as its own call tells");
    case RunWatch::Stage::GivenUp:
      return Status(Code::Cancelled, "the watch was given up before its run began");
    default:
      return Status();
    }
  });
}

freestone_status freestone_watch_give_up(freestone_watch *watch) {
  return guarded([&] {
    if (!watch)
      return nullArgument("watch");
    watch->watch->giveUp();
    return Status();
  });
}

#include "compilation/interface/Answers.h"

#include <cstdlib>
#include <fmt/format.h>

namespace freestone::compilation {

static std::vector<std::string> split(const char *list) {
  std::vector<std::string> words;
  for (std::string_view rest = list ? list : ""; !rest.empty();) {
    size_t end = std::min(rest.find(','), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

freestone_status report(freestone_status status, const std::string &sentence) {
  freestone_set_last_error(sentence.c_str());
  return status;
}

void require(const void *pointer, const char *name) {
  if (!pointer)
    throw Error(FREESTONE_INVALID_ARGUMENT, (std::string("argument '") + name + "' is null").c_str());
}

char *copy(const std::string &text) {
  char *copied = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copied)
    throw std::bad_alloc();
  std::memcpy(copied, text.c_str(), text.size() + 1);
  return copied;
}

Order orderOf(const freestone_compiler_settings &settings) {
  Order order;
  if (settings.target)
    order.what.target = settings.target;
  order.what.disabled = split(settings.disable);
  order.what.stripWeights = settings.strip_weights != 0;
  if (settings.range_count)
    require(settings.ranges, "ranges");
  for (size_t i = 0; i < settings.range_count; ++i) {
    const freestone_size_range &range = settings.ranges[i];
    require(range.symbol, "symbol");
    order.ranges.push_back({range.symbol, range.lower, range.upper, std::max<int64_t>(range.multiple_of, 1)});
  }
  if (settings.jobs < 0)
    throw Error(
        FREESTONE_INVALID_ARGUMENT,
        fmt::format("jobs is a number of programs compiled at the same time, or 0 for as many as CPUs and memory "
                    "allow, not {}",
                    settings.jobs)
            .c_str());
  order.jobs = settings.jobs;
  order.tune = settings.tune != 0;
  order.noCache = settings.no_cache != 0;
  if (settings.progress)
    order.onProgress = [settings](const std::string &phase, int64_t done, int64_t total) {
      settings.progress(settings.user, phase.c_str(), done, total);
    };
  if (settings.warn)
    order.onWarning = [settings](const std::string &sentence) { settings.warn(settings.user, sentence.c_str()); };
  return order;
}

} // namespace freestone::compilation

#include "distributed/schedule/ScheduleText.h"

#include "distributed/Error.h"
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <string_view>

namespace freestone::distributed {

namespace {

constexpr std::string_view letters = "FBIWR><SXU";

/// Reads numbers and marks off the front of a word.
class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  int number() {
    int value = 0;
    auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || value < 0)
      throw Error(fmt::format("a number is expected before '{}'", text));
    text.remove_prefix(end - text.data());
    return value;
  }
  bool take(char mark) {
    if (text.empty() || text.front() != mark)
      return false;
    text.remove_prefix(1);
    return true;
  }
  void require(char mark) {
    if (!take(mark))
      throw Error(fmt::format("'{}' is expected before '{}'", mark, text));
  }
  void end() const {
    if (!text.empty())
      throw Error(fmt::format("'{}' is not expected", text));
  }

private:
  std::string_view text;
};

Action readAction(std::string_view word) {
  Action action;
  bool isCompute = letters.find(word.front()) != std::string_view::npos;
  Reader reader(isCompute ? word.substr(1) : word);
  action.stage = reader.number();
  if (isCompute) {
    action.kind = static_cast<ActionKind>(letters.find(word.front()));
  } else {
    action.kind = reader.take('>') ? ActionKind::Send : ActionKind::Receive;
    if (action.kind == ActionKind::Receive)
      reader.require('<');
    action.peer = reader.number();
  }
  reader.require('.');
  action.microBatch = reader.number();
  if (reader.take('@'))
    action.version = reader.number();
  reader.end();
  return action;
}

int readWord(std::istream &words, std::string_view expected) {
  std::string word, value;
  if (!(words >> word >> value) || word != expected)
    throw Error(fmt::format("'{} NUMBER' is expected", expected));
  Reader reader(value);
  int number = reader.number();
  reader.end();
  return number;
}

void requireValid(const Schedule &schedule, const Action &action) {
  if (action.stage >= schedule.stages() || action.peer >= schedule.stages())
    throw Error(fmt::format("{} is of a stage that does not exist", printAction(action)));
  if (action.microBatch >= schedule.total())
    throw Error(fmt::format("{} is of a micro-batch that does not exist", printAction(action)));
}

void readLine(Schedule &schedule, const std::string &line) {
  std::istringstream words(line);
  std::string first, word;
  words >> first;
  if (first == "schedule") {
    words >> word;
    schedule.kind = scheduleKindOf(word);
    schedule.microBatches = readWord(words, "micro-batches");
    schedule.steps = readWord(words, "steps");
  } else if (first == "stages") {
    while (words >> word) {
      std::vector<int> &ranks = schedule.ranksOf.emplace_back();
      Reader reader(word);
      do
        ranks.push_back(reader.number());
      while (reader.take(','));
      reader.end();
    }
  } else if (first == "rank") {
    words >> word;
    Reader reader(word);
    if (reader.number() != static_cast<int>(schedule.ranks.size()))
      throw Error(fmt::format("the lines of ranks are in order, so this is rank {}", schedule.ranks.size()));
    reader.require(':');
    std::vector<Action> &list = schedule.ranks.emplace_back();
    while (words >> word) {
      list.push_back(readAction(word));
      requireValid(schedule, list.back());
    }
  } else {
    throw Error(fmt::format("a line begins with 'schedule', 'stages' or 'rank', not with '{}'", first));
  }
}

} // namespace

std::string printAction(const Action &action) {
  std::string text = action.kind == ActionKind::Send ? fmt::format("{}>{}", action.stage, action.peer)
                     : action.kind == ActionKind::Receive
                         ? fmt::format("{}<{}", action.stage, action.peer)
                         : fmt::format("{}{}", letters[static_cast<size_t>(action.kind)], action.stage);
  text += fmt::format(".{}", action.microBatch);
  if (action.version > 0)
    text += fmt::format("@{}", action.version);
  return text;
}

std::string printSchedule(const Schedule &schedule) {
  std::string text = fmt::format("schedule {} micro-batches {} steps {}\nstages", nameOf(schedule.kind),
                                 schedule.microBatches, schedule.steps);
  for (const std::vector<int> &ranks : schedule.ranksOf)
    text += fmt::format(" {}", fmt::join(ranks, ","));
  text += "\n";
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += fmt::format("rank {}:", rank);
    for (const Action &action : schedule.ranks[rank])
      text += " " + printAction(action);
    text += "\n";
  }
  return text;
}

Schedule readSchedule(const std::string &text) {
  Schedule schedule;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty())
      continue;
    try {
      readLine(schedule, line);
    } catch (const Error &error) {
      throw Error(fmt::format("line {} of the schedule: {}", number, error.what()));
    }
  }
  return schedule;
}

} // namespace freestone::distributed

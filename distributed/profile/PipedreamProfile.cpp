#include "distributed/profile/PipedreamProfile.h"

#include "distributed/Error.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace freestone::distributed {

namespace {

constexpr double millisecond = 1e-3;
constexpr std::string_view separator = " -- ";

/// A profile whose nodes are in the order of the file.
struct File {
  std::vector<std::string> ids;
  Profile profile;
};

[[noreturn]] void refuse(int line, const std::string &why) {
  throw Error(fmt::format("the profile's line {}: {}", line, why));
}

/// The number behind `key=`, or the sum of a list of numbers.
double readField(std::string_view fields, std::string_view key, int line) {
  size_t begin = fields.find(fmt::format("{}=", key));
  if (begin == std::string_view::npos)
    refuse(line, fmt::format("it has no {}", key));
  const char *at = fields.data() + begin + key.size() + 1, *end = fields.data() + fields.size();
  bool isList = at < end && *at == '[';
  double sum = 0;
  for (at += isList;;) {
    double number = 0;
    auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc())
      refuse(line, fmt::format("its {} is no number", key));
    sum += number;
    if (!isList || next == end || *next == ']')
      return sum;
    at = std::find_if(next, end, [](char c) { return c != ';' && c != ' '; });
  }
}

File readFile(std::istream &text) {
  File file;
  std::map<std::string, int> numbers;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty())
      continue;
    bool isEdge = line.front() == '\t';
    size_t first = line.find(separator), second = first == std::string::npos ? first : line.find(separator, first + 4);
    if (first == std::string::npos || (!isEdge && second == std::string::npos))
      refuse(number, "it is neither a node nor an edge");
    if (isEdge) {
      auto from = numbers.find(line.substr(1, first - 1)), to = numbers.find(line.substr(first + 4));
      if (from == numbers.end() || to == numbers.end())
        refuse(number, "an edge of a node that has no line before");
      file.profile.edges.push_back({from->second, to->second, file.profile.nodes[from->second].activations});
      continue;
    }
    std::string id = line.substr(0, first);
    std::string_view fields = std::string_view(line).substr(second);
    ProfileNode node;
    node.name = line.substr(first + 4, second - first - 4);
    node.forward = readField(fields, "forward_compute_time", number) * millisecond;
    node.backward = readField(fields, "backward_compute_time", number) * millisecond;
    node.weights = node.backward / 2; // the form does not tell
    node.activations = readField(fields, "activation_size", number);
    node.parameters = readField(fields, "parameter_size", number);
    if (!numbers.emplace(id, static_cast<int>(file.profile.nodes.size())).second)
      refuse(number, fmt::format("there is another node '{}'", id));
    file.profile.nodes.push_back(std::move(node));
  }
  return file;
}

/// The new number of each node; nothing for those that are left out.
std::vector<std::optional<int>> renumber(const Profile &profile) {
  size_t count = profile.nodes.size();
  std::vector<int> readers(count), sources(count);
  for (const ProfileEdge &edge : profile.edges) {
    ++readers[edge.from];
    ++sources[edge.to];
  }
  auto isLeftOut = [&](size_t node) {
    const std::string &name = profile.nodes[node].name;
    return (sources[node] == 0 && name.starts_with("Input")) || (readers[node] == 0 && name.starts_with("__getitem__"));
  };
  std::vector<std::optional<int>> numbers(count);
  std::vector<bool> isDone(count);
  int next = 0;
  for (size_t done = 0, before = count; done != before;) {
    before = done;
    for (size_t node = 0; node < count; ++node) {
      if (isDone[node] || sources[node] > 0)
        continue;
      isDone[node] = true;
      ++done;
      if (!isLeftOut(node))
        numbers[node] = next++;
      for (const ProfileEdge &edge : profile.edges)
        if (edge.from == static_cast<int>(node))
          --sources[edge.to];
    }
  }
  if (std::ranges::find(isDone, false) != isDone.end())
    throw Error("the profile's nodes read each other in a circle");
  return numbers;
}

} // namespace

Profile readPipedreamProfile(std::istream &text) {
  File file = readFile(text);
  std::vector<std::optional<int>> numbers = renumber(file.profile);
  Profile sorted;
  sorted.nodes.resize(std::ranges::count_if(numbers, [](const auto &number) { return number.has_value(); }));
  for (size_t node = 0; node < numbers.size(); ++node)
    if (numbers[node])
      sorted.nodes[*numbers[node]] = std::move(file.profile.nodes[node]);
  for (const ProfileEdge &edge : file.profile.edges)
    if (numbers[edge.from] && numbers[edge.to])
      sorted.edges.push_back({*numbers[edge.from], *numbers[edge.to], edge.bytes});
  return sorted;
}

} // namespace freestone::distributed

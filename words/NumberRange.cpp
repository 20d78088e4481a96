#include "words/NumberRange.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace freestone::words {

/// Prints whole numbers with all digits as long as they are readable.
static std::string digits(double number) {
  return std::abs(number) < 1e15 && number == std::trunc(number) ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{:g}", number);
}

bool NumberRange::contains(double number) const {
  if (!std::isfinite(number) || (isWhole && number != std::trunc(number)))
    return false;
  return (isLeastExcluded ? number > least : number >= least) && (isMostExcluded ? number < most : number <= most);
}

std::string NumberRange::describe() const {
  std::string kind = isWhole ? "a whole number" : "a number";
  if (std::isinf(least) && std::isinf(most))
    return kind;
  if (std::isinf(least))
    return fmt::format("{} {} {}", kind, isMostExcluded ? "below" : "up to", digits(most));
  if (std::isinf(most))
    return isLeastExcluded ? fmt::format("{} above {}", kind, digits(least))
                           : fmt::format("{} from {} on", kind, digits(least));
  if (isMostExcluded)
    return fmt::format("{} {} {}, below {}", kind, isLeastExcluded ? "above" : "from", digits(least), digits(most));
  return isLeastExcluded ? fmt::format("{} above {}, up to {}", kind, digits(least), digits(most))
                         : fmt::format("{} from {} to {}", kind, digits(least), digits(most));
}

std::string NumberRange::brief() const {
  std::string upper = std::isinf(most) ? "" : (isMostExcluded ? " below " : "") + digits(most);
  if (std::isinf(least))
    return upper.empty() ? "" : ":" + upper;
  if (!isLeastExcluded)
    return digits(least) + ":" + upper;
  return "above " + digits(least) + (upper.empty() ? "" : ":" + upper);
}

std::optional<double> NumberRange::parse(std::string_view text) {
  double number;
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || text.empty() || error == std::errc::invalid_argument)
    return std::nullopt;
  return error == std::errc() ? number : std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::string> NumberRange::complain(std::string_view text) const {
  std::optional<double> number = parse(text);
  return number && contains(*number) ? std::nullopt : std::optional("must be " + describe());
}

std::optional<std::string> NumberRange::complain(double number) const {
  return contains(number) ? std::nullopt : std::optional("must be " + describe());
}

} // namespace freestone::words

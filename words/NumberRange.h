#ifndef FREESTONE_WORDS_NUMBERRANGE_H
#define FREESTONE_WORDS_NUMBERRANGE_H

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace freestone::words {

/// The valid numbers of an option. NaN and infinities are in no range.
struct NumberRange {
  double least, most;           ///< inclusive bounds; infinite: unbounded
  bool isWhole = false;         ///< integers only
  bool isLeastExcluded = false; ///< exclusive lower bound
  bool isMostExcluded = false;

  bool contains(double number) const;
  /// "a whole number from 1 to 1024", "a number above 0", "a number from 0 on, below 1"
  std::string describe() const;
  /// "1:1024", "above 0", "0: below 1", for lists of options.
  std::string brief() const;

  /// Parses a text as one number; nothing if it is none.
  static std::optional<double> parse(std::string_view text);
  /// Why a text is no valid value, such as "must be a number above 0"; nothing if it is valid.
  std::optional<std::string> complain(std::string_view text) const;
  std::optional<std::string> complain(double number) const;
};

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Upper bound of counts: products of two counts fit into 64 bits.
inline constexpr double mostCounted = 1e9;

constexpr NumberRange wholeFrom(double least, double most = mostCounted) { return {least, most, true}; }
inline constexpr NumberRange anyNumber{-unbounded, unbounded}, positive{0, unbounded, false, true},
    notNegative{0, unbounded}, fraction{0, 1};

} // namespace freestone::words

#endif // FREESTONE_WORDS_NUMBERRANGE_H

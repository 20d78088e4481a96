#ifndef FREESTONE_WORDS_NUMBERRANGE_H
#define FREESTONE_WORDS_NUMBERRANGE_H

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace freestone::words {

/// The numbers that an option may be. NaN and infinities are in no range.
struct NumberRange {
  double least, most;           ///< both may be infinite: there is no bound
  bool isWhole = false;         ///< no fractions
  bool isLeastExcluded = false; ///< above `least`, not equal to it
  bool isMostExcluded = false;

  bool contains(double number) const;
  /// "a whole number from 1 to 1024", "a number above 0", "a number from 0 on, below 1"
  std::string describe() const;
  /// "1:1024", "above 0", "0: below 1", for lists of options.
  std::string brief() const;

  /// The number that a whole text is, or nothing.
  static std::optional<double> parse(std::string_view text);
  /// Why a text can't be the value, such as "must be a number above 0"; nothing if it can.
  std::optional<std::string> complain(std::string_view text) const;
  std::optional<std::string> complain(double number) const;
};

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// What counts things: so many fit into memory or a life, and products of two such numbers into 64 bits.
inline constexpr double mostCounted = 1e9;

constexpr NumberRange wholeFrom(double least, double most = mostCounted) { return {least, most, true}; }
inline constexpr NumberRange anyNumber{-unbounded, unbounded}, positive{0, unbounded, false, true},
    notNegative{0, unbounded}, fraction{0, 1};

} // namespace freestone::words

#endif // FREESTONE_WORDS_NUMBERRANGE_H

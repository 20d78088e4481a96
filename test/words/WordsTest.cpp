#include "words/Choice.h"
#include "words/NearNames.h"
#include "words/NumberRange.h"
#include <gtest/gtest.h>

using namespace freestone::words;

static const std::vector<std::string> optimizers = {"sgd", "adam", "adamw", "adagrad", "rmsprop"};

TEST(NearNames, AreThoseThatFewLettersMakeEqual) {
  EXPECT_EQ(nearNames("adamx", optimizers), (std::vector<std::string>{"adam", "adamw"}));
  EXPECT_EQ(nearNames("AdamW", optimizers).front(), "adamw");
  EXPECT_EQ(nearNames("sdg", optimizers), std::vector<std::string>{"sgd"});
  EXPECT_EQ(nearNames("rms", optimizers), std::vector<std::string>{"rmsprop"}); // a beginning
  EXPECT_EQ(nearNames("cross", {"mse", "sigmoid-cross-entropy"}), std::vector<std::string>{"sigmoid-cross-entropy"});
  EXPECT_TRUE(nearNames("lbfgs", optimizers).empty());
  EXPECT_TRUE(nearNames("y", {"x"}).empty());
  EXPECT_TRUE(nearNames("", optimizers).empty());
  EXPECT_TRUE(nearNames(std::string(1 << 20, 'a'), optimizers).empty());
  EXPECT_EQ(nearNames("layer.1", {"layer.0", "layer.1.w", "layer.2", "layer.3"}).size(), 3u);
}

TEST(NearNames, MakeSentences) {
  EXPECT_EQ(suggest("adamx", optimizers), "; did you mean 'adam' or 'adamw'?");
  EXPECT_EQ(suggest("lbfgs", optimizers), "");
  EXPECT_EQ(listNames({"a", "b"}), "a, b");
  EXPECT_EQ(listNames({"a", "b", "c"}, 2), "a, b, … (3 in all)");
}

TEST(NumberRange, SaysWhatItTakes) {
  EXPECT_EQ(wholeFrom(1, 1024).describe(), "a whole number from 1 to 1024");
  EXPECT_EQ(wholeFrom(0).describe(), "a whole number from 0 to 1000000000");
  EXPECT_EQ(positive.describe(), "a number above 0");
  EXPECT_EQ(notNegative.describe(), "a number from 0 on");
  EXPECT_EQ(anyNumber.describe(), "a number");
  EXPECT_EQ((NumberRange{0, 1, false, false, true}.describe()), "a number from 0, below 1");
  EXPECT_EQ((NumberRange{0, 1, false, true}.describe()), "a number above 0, up to 1");
  EXPECT_EQ(fraction.brief(), "0:1");
  EXPECT_EQ(positive.brief(), "above 0");
}

TEST(NumberRange, RefusesWhatItDoesNotTake) {
  for (const char *text : {"1", "+7", "1e3", "1000000000"})
    EXPECT_EQ(wholeFrom(1).complain(text), std::nullopt) << text;
  for (const char *text : {"", " ", "x", "0", "-1", "1.5", "1x", "+-1", "nan", "inf", "1e400", "99999999999999999999"})
    EXPECT_EQ(wholeFrom(1).complain(text), "must be a whole number from 1 to 1000000000") << text;
  for (const char *text : {"0", "nan", "inf", "1e400", "-1e-9"})
    EXPECT_EQ(positive.complain(text), "must be a number above 0") << text;
  EXPECT_EQ(positive.complain("1e-9"), std::nullopt);
  EXPECT_EQ((NumberRange{0, 1, false, false, true}.complain("1")), "must be a number from 0, below 1");
}

TEST(Choice, TakesAdditionsBehindItsWords) {
  const Choice choice{{"host", "v4"}, {}, {"+tiles", "-tiles"}};
  for (const char *text : {"host", "v4,+tiles", "host,+tiles,-tiles"})
    EXPECT_EQ(choice.complain(text), std::nullopt) << text;
  const std::string all = "must be host or v4, and behind it after commas +tiles, -tiles";
  for (const char *text : {"v4,", "v4,tiles", "+tiles", ",+tiles", "v4,+tiles,"})
    EXPECT_EQ(choice.complain(text), all) << text;
  EXPECT_EQ(choice.complain("hos,+tiles"), all + "; did you mean 'host'?");
}

TEST(Choice, TakesItsWordsAndForms) {
  const Choice choice{optimizers, {"file:OPTIMIZER.onnx"}};
  EXPECT_EQ(choice.complain("adam"), std::nullopt);
  EXPECT_EQ(choice.complain("file:mine.onnx"), std::nullopt);
  const std::string all = "must be sgd, adam, adamw, adagrad, rmsprop or file:OPTIMIZER.onnx";
  EXPECT_EQ(choice.complain("adan"), all + "; did you mean 'adam'?");
  for (const char *text : {"", "file:", "files:x", "file", "lbfgs"})
    EXPECT_EQ(choice.complain(text), all) << text;
}

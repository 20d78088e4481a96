#include "runtime/artifact/Descriptor.h"
#include "runtime/artifact/CborSyntax.h"
#include "test/runtime/Programs.h"

#include <gtest/gtest.h>
#include <random>

using namespace freestone;
using namespace freestone::runtime;

namespace {

/// The error of a refused descriptor.
std::string refusal(const Descriptor &descriptor) {
  Status status = validate(descriptor);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(decode(encode(descriptor)).ok());
  return status.message();
}

/// The refusal of Reverse's descriptor with one change.
template <typename Change> std::string refusalAfter(Change change) {
  Descriptor descriptor = test::describeReverse();
  change(descriptor, descriptor.entries[0]);
  return refusal(descriptor);
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

} // namespace

TEST(Descriptor, SurvivesEncoding) {
  for (Descriptor descriptor : {test::describeReverse(), test::describeLookup(), test::describeNonzero()}) {
    descriptor.statistics = {{"programs", 3}, {"negative", -1}};
    descriptor.entries[0].symbols[0].upper = INT64_MAX;
    descriptor.entries[0].symbols[0].multipleOf = 8;
    descriptor.entries[0].services = {{"own.service", 3, {{DType::f32, {0}, 0}}, {{DType::f32, {0, 0}, 2}}}};
    descriptor.entries[0].operations = "2*n";
    descriptor.entries[0].operationsSlot = 1;
    std::vector<uint8_t> bytes = encode(descriptor);
    Result<Descriptor> decoded = decode(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(toJson(*decoded), toJson(descriptor));
    EXPECT_EQ(encode(*decoded), bytes);
    EXPECT_EQ(decoded->entries[0].symbols[0].upper, INT64_MAX);
  }
  Result<Descriptor> sequences = decode(encode(test::describeTwice()));
  ASSERT_TRUE(sequences.ok()) << sequences.status().message();
  EXPECT_EQ(toJson(*sequences), toJson(test::describeTwice()));
  Result<Descriptor> decoded = decode(encode(test::describeTrain()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(toJson(*decoded), toJson(test::describeTrain()));
}

TEST(Descriptor, RefusesWhatItCannotTrust) {
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].dimSlots[0] = 5; }), "not one of its sizes");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.scratchSlot = -1; }), "scratch");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.slotCount = INT64_MAX; }), "too many sizes");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.operationsSlot = 5; }), "number of its operations");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.symbols[0].multipleOf = 0; }), "multiple of less than 1");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.symbols[0].scale = 0; }), "scale of less than 1");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) {
                    e.symbols[0].scale = int64_t(1) << 40;
                    e.symbols[0].multipleOf = int64_t(1) << 40;
                  }),
                  "no dimension fits 64 bits");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.services = {{"f", 1, {{DType::f32, {0}, 4}}, {}}}; }),
                  "has no buffer for an operand");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.services = {{"f", 1, {}, {{DType::f32, {0}, 1}}}}; }),
                  "read only");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.services = {{"f", 1, {{DType::f32, {9}, 0}}, {}}}; }),
                  "a dimension of an operand");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.symbols[0].input = 1; }), "input that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.symbols[0].index = 1; }), "dimension that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) {
                    e.symbols[0].source = SymbolSource::InputElement;
                    e.inputs[0].dtype = DType::i1;
                  }),
                  "no numbers");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.symbols[0].lower = e.symbols[0].upper + 1; }),
                  "between its bounds");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[1].weight = 1; }), "weight that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[2].alignment = 48; }), "power of two");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[2].freed = 3; }), "outside of the phases");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[2].first = 3; }), "outside of the phases");
  auto setSpaces = [](std::vector<Space> spaces, int64_t deals) {
    return [=](auto &d, auto &e) {
      e.phases[1].spaces = spaces;
      e.dealCount = deals;
    };
  };
  EXPECT_MENTIONS(refusalAfter(setSpaces({{9, 0, 0}}, 1)), "a number of tiles");
  EXPECT_MENTIONS(refusalAfter(setSpaces({{0, 9, 0}}, 1)), "a time");
  EXPECT_MENTIONS(refusalAfter(setSpaces({{0, 0, 1}}, 1)), "deal that does not exist");
  EXPECT_MENTIONS(refusalAfter(setSpaces({{0, 0, 0}, {1, 0, 0}}, 1)), "another number of tiles");
  EXPECT_MENTIONS(refusalAfter(setSpaces({{0, 0, 0, Space::Dealing::Claimed}, {0, 0, 0}}, 1)), "tiles are claimed");
  EXPECT_MENTIONS(refusalAfter(setSpaces({{0, 0, 0}, {0, 0, 0, Space::Dealing::Claimed}}, 1)), "tiles are claimed");
  EXPECT_MENTIONS(refusalAfter(setSpaces({}, 1)), "deals of no spaces");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.phases[1].awaits = {1}; }), "does not come before");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.phases[1].buffers = {4}; }), "buffer that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[2].released = 1; }), "outside of the phases");
  auto setWindow = [](Window window) {
    return [=](auto &d, auto &e) {
      e.phases[0].spaces = e.phases[1].spaces = {{0, 0, 0}};
      e.phases[1].windows = {window};
      e.dealCount = 1;
    };
  };
  EXPECT_MENTIONS(refusalAfter(setWindow({1, {}})), "does not come before");
  EXPECT_MENTIONS(refusalAfter(setWindow({~int64_t(2), {}})), "does not come before");
  EXPECT_MENTIONS(refusalAfter(setWindow({0, {{{1, -1, -1}, {}}}})), "space that does not exist");
  EXPECT_MENTIONS(refusalAfter(setWindow({0, {{{0, 9, 0}, {}}}})), "a block of elements");
  EXPECT_MENTIONS(refusalAfter(setWindow({0, {{{}, {0, 0, 9}}}})), "tiles that share a block");
  EXPECT_MENTIONS(refusalAfter(setWindow({0, {{{}, {0, -1, 0}}}})), "share no block");
  EXPECT_MENTIONS(refusalAfter([&](auto &d, auto &e) {
                    setWindow({0, {}})(d, e);
                    e.symbols[0].source = SymbolSource::RunTime;
                  }),
                  "a run deals anew");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[3].kind = BufferKind::Arena; }),
                  "no buffer of its kind");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[2].kind = BufferKind::Output; }), "not exactly one");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].kind = ValueKind::String; }), "kind");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.weights[0].bytes = 12; }), "bytes");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.weights[0].shape = {INT64_MAX, 8}; }), "bytes");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.name = "other"; }), "no entry 'main'");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.segments = {"main", "main"}; }), "segments");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.entries.push_back(e); }), "two entries");
}

TEST(Descriptor, RefusesStatesThatItCannotTrust) {
  auto refusalAfter = [](auto change) {
    Descriptor descriptor = test::describeTrain();
    change(descriptor, descriptor.entries[0]);
    return refusal(descriptor);
  };
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[1].state = 2; }), "state that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[1].state = -1; }), "state that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.buffers[2].state = 0; }), "two buffers of state 'fc.weight'");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].initial = 1; }), "weight that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].initial = -2; }), "weight that does not exist");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[1].initial = 0; }), "weight of another size");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].bytes = 8; }), "bytes");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].shape = {-4}; }), "negative");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].panelWidth = 3; }), "panels that it does not fill");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].panelWidth = -2; }), "panels that it does not fill");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[0].panelAxis = d.states[0].panelWidth = 2; }), "panels");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[1].panelWidth = 1; }), "panels that it does not fill");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { d.states[1].name = "fc.weight"; }), "two states");
}

TEST(Descriptor, RefusesSequencesThatItCannotTrust) {
  auto refusalAfter = [](auto change) {
    Descriptor descriptor = test::describeTwice();
    change(descriptor, descriptor.entries[0]);
    return refusal(descriptor);
  };
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].sizes = 1; }), "no part of its own");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].sizes = 9; }), "no part of its own");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].sizes = 3; }), "no part of its own");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].presence = -1; }), "no part of its own");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].openAxes = {2}; }), "does not have");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].openAxes = {0, 0}; }), "does not have");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].openNames = {}; }), "without names");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].lacking = 2; }), "lacks dimensions");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].lacking = -1; }), "lacks dimensions");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[0].kind = ValueKind::Tensor; }), "is no stack");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[1].kind = ValueKind::Part; }), "part");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) { e.inputs[2].kind = ValueKind::Tensor; }), "part");
  EXPECT_MENTIONS(refusalAfter([](auto &d, auto &e) {
                    e.inputs[1].shape.clear();
                    e.inputs[1].dimSlots.clear();
                    e.symbols[2] = {"p", 0, 1, SymbolSource::RunTime, -1, -1, 6};
                  }),
                  "a stack without a length");
}

TEST(Descriptor, NamesTheFieldThatIsWrong) {
  std::vector<uint8_t> bytes = encode(test::describeReverse());
  auto replace = [&](std::string from, std::string to) {
    std::string text(bytes.begin(), bytes.end());
    text.replace(text.find(from), from.size(), to);
    auto decoded = decode(std::vector<uint8_t>(text.begin(), text.end()));
    EXPECT_FALSE(decoded.ok());
    return decoded.status().message();
  };
  EXPECT_MENTIONS(replace("producer", "produxer"), "'producer' is missing");
  EXPECT_MENTIONS(replace("arena", "arenx"), "'entries.0.buffers.2.kind' is an unknown value 'arenx'");
  EXPECT_MENTIONS(replace("cf32", "cf99"), "unknown element type");
}

TEST(Descriptor, TellsAnotherVersion) {
  Descriptor descriptor = test::describeReverse();
  descriptor.version = descriptorVersion + 1;
  auto decoded = decode(encode(descriptor));
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().code(), Code::Incompatible);
  EXPECT_MENTIONS(decoded.status().message(), "version " + std::to_string(descriptorVersion + 1));
}

TEST(Descriptor, AnyBytesAreRefusedOrValid) {
  const std::vector<uint8_t> originals[] = {encode(test::describeReverse()), encode(test::describeTrain())};
  std::mt19937 random(3);
  int valid = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = originals[round % 2];
    for (int change = 1 + random() % 3; change > 0; --change)
      bytes[random() % bytes.size()] = random();
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    Result<Descriptor> decoded = decode(bytes);
    if (!decoded.ok())
      EXPECT_FALSE(decoded.status().message().empty());
    else
      ++valid;
  }
  EXPECT_GT(valid, 0); // such as a changed letter in a name
}

TEST(Descriptor, NestingDoesNotExhaustTheStack) {
  for (uint8_t opening : {0x81, 0x9f, 0xa1, 0xbf, 0x7f, 0x5f, 0xc1, 0xd8}) {
    std::vector<uint8_t> bytes(1 << 20, opening);
    EXPECT_FALSE(isPlainCbor(bytes));
    EXPECT_FALSE(decode(bytes).ok());
  }
  std::vector<uint8_t> claimsMuch = {0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  EXPECT_FALSE(decode(claimsMuch).ok());
  EXPECT_FALSE(decode({}).ok());
}

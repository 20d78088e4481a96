// The table of operators (docs/operators.md): every operator, and every reason of a refusal.
#include "test/import/TextModel.h"

#include "compiler/import/OperatorLimits.h"
#include "compiler/import/Registry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace freestone;
using namespace freestone::test;

/// Appends the texts behind `mark` in a source, without remedies and the parts specific to a node.
static void collectReasons(const std::string &path, llvm::StringRef mark, std::vector<std::string> &reasons) {
  auto source = llvm::MemoryBuffer::getFile(path);
  llvm::StringRef text = source ? (*source)->getBuffer() : "";
  for (size_t at = text.find(mark); at != llvm::StringRef::npos; at = text.find(mark, at + 1)) {
    llvm::StringRef reason = text.substr(at + mark.size());
    reasons.push_back(reason.substr(0, std::min(reason.find('"'), reason.find(';'))).str());
  }
}

/// The reasons of the importer, and those of the lowering of loops and branches.
static std::vector<std::string> reasonsInSources() {
  std::vector<std::string> reasons;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(DOCS "/../compiler/import/operators", error), end; file != end && !error;
       file.increment(error))
    collectReasons(file->path(), "refuse(\"", reasons);
  collectReasons(DOCS "/../compiler/tile/LiftRegions.cpp", "emitError(\"", reasons);
  return reasons;
}

TEST(OperatorTable, TheTableTellsEveryReasonOfARefusal) {
  std::vector<std::string> reasons = reasonsInSources();
  EXPECT_GT(reasons.size(), 30u);
  for (const std::string &reason : reasons)
    EXPECT_TRUE(llvm::any_of(importer::getOperatorLimits(),
                             [&](const importer::OperatorLimit &limit) { return limit.reason.starts_with(reason); }))
        << "missing in OperatorLimits.cpp: " << reason;
  for (const importer::OperatorLimit &limit : importer::getOperatorLimits()) {
    EXPECT_TRUE(llvm::any_of(reasons, [&](const std::string &reason) { return limit.reason.starts_with(reason); }))
        << "no operator gives this reason: " << limit.reason.str();
    for (llvm::StringRef name : llvm::split(limit.operators, ' '))
      EXPECT_TRUE(importer::Registry::instance().entries().count(name.str())) << name.str();
  }
}

TEST(OperatorTable, TheTableNamesEveryEntry) {
  std::string table;
  llvm::raw_string_ostream os(table);
  printOperatorTable(os);
  EXPECT_NE(table.find("| Softmax | 1 to newest |  |"), std::string::npos);
  EXPECT_NE(table.find("| If | 1 to newest | its branches give tensors of"), std::string::npos);
  auto written = llvm::MemoryBuffer::getFile(DOCS "/operators.md");
  ASSERT_TRUE(bool(written));
  EXPECT_EQ((*written)->getBuffer().str(), table) << "print it again: import_report --operators > docs/operators.md";
}

#include "compiler/dialect/sym/ExprStorage.h"

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

llvm::hash_code ExprStorage::hashKey(const KeyTy &key) {
  llvm::hash_code hash = llvm::hash_combine(key.kind, key.name.getAsOpaquePointer(),
                                            llvm::hash_combine_range(key.operands.begin(), key.operands.end()));
  for (const Term &term : key.terms) {
    hash = llvm::hash_combine(hash, term.coefficient);
    for (const Factor &factor : term.factors)
      hash = llvm::hash_combine(hash, factor.atom, factor.power);
  }
  return hash;
}

ExprStorage *ExprStorage::construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
  auto *storage = new (allocator.allocate<ExprStorage>()) ExprStorage();
  storage->kind = key.kind;
  storage->name = key.name;
  storage->operands = allocator.copyInto(key.operands);
  if (key.kind == Kind::Invalid)
    return storage;

  if (key.kind != Kind::Polynomial) {
    Factor self{Expr::getFromOpaquePointer(storage), 1};
    storage->terms = allocator.copyInto(ArrayRef<Term>(Term{1, allocator.copyInto(ArrayRef<Factor>(self))}));
    return storage;
  }

  SmallVector<Term, 8> terms;
  for (const Term &term : key.terms)
    terms.push_back({term.coefficient, allocator.copyInto(term.factors)});
  storage->terms = allocator.copyInto(ArrayRef<Term>(terms));
  return storage;
}

bool ExprStorage::operator==(const KeyTy &key) const {
  if (kind != key.kind)
    return false;
  if (kind == Kind::Polynomial)
    return terms == key.terms;
  return name == key.name && operands == key.operands;
}

static ExprAttr getUniqued(MLIRContext *context, Kind kind, StringAttr name, ArrayRef<Expr> operands,
                           ArrayRef<Term> terms) {
  return ExprAttr::getCanonical(context, kind, name, operands, terms);
}

Expr Expr::symbol(StringAttr name) {
  // Uniquing ignores the type that a name's attribute may have.
  return Expr(getUniqued(name.getContext(), Kind::Symbol, StringAttr::get(name.getContext(), name.getValue()), {}, {}));
}

Expr Expr::symbol(MLIRContext *context, StringRef name) { return symbol(StringAttr::get(context, name)); }

Expr Expr::constant(MLIRContext *context, int64_t value) {
  if (value == 0)
    return Expr(getUniqued(context, Kind::Polynomial, {}, {}, {}));
  return Expr(getUniqued(context, Kind::Polynomial, {}, {}, Term{value, {}}));
}

Expr Expr::invalid(MLIRContext *context) { return Expr(getUniqued(context, Kind::Invalid, {}, {}, {})); }

Expr freestone::sym::detail::getAtom(Kind kind, ArrayRef<Expr> operands) {
  return Expr(getUniqued(operands.front().context(), kind, {}, operands, {}));
}

Expr freestone::sym::detail::getSum(MLIRContext *context, ArrayRef<Term> terms) {
  if (terms.size() > Expr::maxTerms)
    return Expr::invalid(context);
  if (terms.size() == 1) {
    auto [coefficient, factors] = terms.front();
    if (coefficient == 1 && factors.size() == 1 && factors.front().power == 1)
      return factors.front().atom;
  }
  return Expr(getUniqued(context, Kind::Polynomial, {}, {}, terms));
}

Expr::Expr(ExprAttr attr) : impl(static_cast<const ExprStorage *>(attr.getAsOpaquePointer())) {}

ExprAttr Expr::attr() const { return llvm::cast_or_null<ExprAttr>(Attribute::getFromOpaquePointer(impl)); }

MLIRContext *Expr::context() const { return attr().getContext(); }

Kind Expr::kind() const { return impl->kind; }

ArrayRef<Expr> Expr::operands() const { return impl->operands; }

ArrayRef<Term> Expr::terms() const { return impl->terms; }

std::optional<StringRef> Expr::asSymbol() const {
  if (kind() != Kind::Symbol)
    return std::nullopt;
  return impl->name.getValue();
}

std::optional<std::pair<StringRef, int64_t>> Expr::asMultiple() const {
  if (std::optional<StringRef> symbol = asSymbol())
    return std::pair(*symbol, int64_t(1));
  if (kind() != Kind::Polynomial || terms().size() != 1)
    return std::nullopt;
  const Term &term = terms().front();
  if (term.coefficient < 1 || term.factors.size() != 1 || term.factors.front().power != 1)
    return std::nullopt;
  std::optional<StringRef> symbol = term.factors.front().atom.asSymbol();
  return symbol ? std::optional(std::pair(*symbol, term.coefficient)) : std::nullopt;
}

std::optional<int64_t> Expr::asConstant() const {
  if (kind() != Kind::Polynomial || terms().size() > 1)
    return std::nullopt;
  if (terms().empty())
    return 0;
  if (!terms().front().factors.empty())
    return std::nullopt;
  return terms().front().coefficient;
}

unsigned Expr::countTerms(unsigned most) const {
  unsigned count = 0;
  for (const Term &term : terms()) {
    ++count;
    for (const Factor &factor : term.factors)
      for (Expr operand : factor.atom.operands())
        if (count < most)
          count += operand.countTerms(most - count);
  }
  return std::min(count, most);
}

void Expr::collectSymbols(llvm::SetVector<StringAttr> &symbols) const {
  if (kind() == Kind::Symbol) {
    symbols.insert(impl->name);
    return;
  }
  for (Expr operand : operands())
    operand.collectSymbols(symbols);
  if (isAtom())
    return;
  for (const Term &term : terms())
    for (const Factor &factor : term.factors)
      factor.atom.collectSymbols(symbols);
}

#ifndef FREESTONE_TEST_GUARDED_SAMENUMBERS_H
#define FREESTONE_TEST_GUARDED_SAMENUMBERS_H

#include "test/guarded/GuardedModel.h"

namespace freestone::test {

/// Expects equal shapes and, within a few roundings, equal numbers; NaN equals NaN.
void expectSameNumbers(const std::vector<HostArray> &actual, const std::vector<HostArray> &expected);

} // namespace freestone::test

#endif // FREESTONE_TEST_GUARDED_SAMENUMBERS_H

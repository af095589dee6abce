// Genes of random programs for RapidCheck. Genes shrink towards fewer and smaller numbers.
#pragma once

#include <rapidcheck.h>

#include "tests/support/trace_generator.h"

namespace rc {

template <>
struct Arbitrary<tg::test::Gene> {
  static Gen<tg::test::Gene> arbitrary() {
    using tg::test::Gene;
    const auto number = gen::inRange<std::uint32_t>(0, 720);
    return gen::build<Gene>(gen::set(&Gene::kind, number), gen::set(&Gene::a, number),
                            gen::set(&Gene::b, number), gen::set(&Gene::c, number));
  }
};

template <>
struct Arbitrary<tg::test::ProgramGenes> {
  static Gen<tg::test::ProgramGenes> arbitrary() {
    using tg::test::ProgramGenes;
    return gen::build<ProgramGenes>(gen::set(&ProgramGenes::arguments),
                                    gen::set(&ProgramGenes::statements),
                                    gen::set(&ProgramGenes::returns));
  }
};

}  // namespace rc

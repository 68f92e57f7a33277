#pragma once

namespace tandem {

/// e^x for x <= 0, within 1.5 units in the last place, 0 below -708. Only IEEE additions,
/// multiplications and bit moves, so every machine gets the same bits, which no libm promises: a
/// seed gives the same text everywhere.
double portable_exp(double x);

}  // namespace tandem

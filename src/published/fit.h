#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "published/prediction.h"

namespace tandem::published {

/// A number of a profile that published figures decide, shared by the profiles of a family.
struct Parameter {
  std::string name;  ///< the field, "max_gb_per_s"
  /// The value in a profile, to be changed in place.
  double& (*field)(soc::SocProfile& profile);
  double min;
  double max;
};

/// Profiles that share parameters: their names begin with `prefix`.
struct Family {
  std::string prefix;
  std::vector<Parameter> parameters;
};
const std::vector<Family>& families();

/// The family of a SoC, or null.
const Family* family_of(const std::string& soc);

/// Profiles by name, and the rows to compare them with.
struct Calibration {
  std::vector<soc::SocProfile> profiles;
  std::vector<Row> rows;
};
/// The built-in profiles and `rows`. Errors: those of reading a profile.
Result<Calibration> load_calibration(std::vector<Row> rows);

/// A row that is not simulated, and why.
struct Skipped {
  size_t row;
  std::string why;
};
struct Check {
  std::vector<Comparison> comparisons;
  std::vector<Skipped> skipped;
};
/// Predicts every row that can be simulated. A row whose variant the profile does not name runs
/// with the profile's own figures.
Check check(const Calibration& calibration);

/// Changes the family's parameters to lower the mean squared logarithm of simulated over
/// published, over the judged speed figures of its rows, those in `left_out` excepted. A search
/// along one parameter after another. Returns values by parameter.
std::vector<double> fit(Calibration& calibration, const Family& family,
                        const std::set<size_t>& left_out = {});

/// What a fit does not see of what it predicts.
enum class LeftOut : uint8_t {
  kRow,
  kSoc,  ///< every row of the SoC; families of one SoC are passed over
};

/// Each judged speed figure of a family as predicted by a fit that did not see its row, or any of
/// its SoC: tells a model that extrapolates from one that has learnt its table by heart. `on_row`
/// is told of every row, for progress.
std::vector<Comparison> leave_out(const Calibration& calibration, LeftOut what,
                                  const std::function<void(size_t done)>& on_row);

}  // namespace tandem::published

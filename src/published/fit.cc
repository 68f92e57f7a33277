// Finds the few free numbers of the profiles from published figures.

#include "published/fit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "soc/profile_reader.h"

namespace tandem::published {
namespace {

using soc::SocProfile;

double& launch(SocProfile& p) { return p.npus[0].launch_s; }
double& bandwidth(SocProfile& p) { return p.npus[0].dma.max_bytes_per_s; }
double& mac_efficiency(SocProfile& p) { return p.npus[0].array.mac_efficiency; }
double& vector_efficiency(SocProfile& p) { return p.npus[0].vector.efficiency; }

const Parameter kLaunch{"launch_us", launch, 1e-6, 0.1};
const Parameter kBandwidth{"dma.max_gb_per_s", bandwidth, 1e9, 500e9};
const Parameter kMacEfficiency{"array.mac_efficiency", mac_efficiency, 0.02, 1};
const Parameter kVectorEfficiency{"vector.efficiency", vector_efficiency, 0.005, 1};

bool belongs(const Family& family, const std::string& soc) {
  return soc.compare(0, family.prefix.size(), family.prefix) == 0;
}

const SocProfile* profile_of(const Calibration& calibration, const Row& row) {
  for (const SocProfile& profile : calibration.profiles) {
    if (profile.name == row.soc) return &profile;
  }
  return nullptr;
}

Result<std::vector<Comparison>> check_row(const Calibration& calibration, size_t index) {
  const Row& row = calibration.rows[index];
  const SocProfile* profile = profile_of(calibration, row);
  if (profile == nullptr) {
    return failure(ErrorCode::kNotFound, "no profile is named \"{}\"", row.soc);
  }
  const auto varied = soc::with_variant(*profile, row.variant);
  TANDEM_TRY(const Prediction prediction, predict(varied ? *varied : *profile, row));
  return compare(row, index, prediction);
}

bool is_fitted_to(const Family& family, const Row& row) {
  return row.judge_speed && row.unit == "npu" && belongs(family, row.soc);
}

/// Rows that a fit must not see to predict row `index`; nothing when no others are left.
std::optional<std::set<size_t>> left_out_with(const Calibration& calibration, const Family& family,
                                              size_t index, LeftOut what) {
  std::set<size_t> out = {index};
  bool has_others = false;
  for (size_t i = 0; i < calibration.rows.size(); ++i) {
    const bool same_soc = calibration.rows[i].soc == calibration.rows[index].soc;
    if (what == LeftOut::kSoc && same_soc) out.insert(i);
    has_others = has_others || (!out.contains(i) && is_fitted_to(family, calibration.rows[i]));
  }
  if (!has_others) return std::nullopt;
  return out;
}

/// The sum of squared logarithms over the family's rows.
double misfit(const Calibration& calibration, const Family& family,
              const std::set<size_t>& left_out) {
  double sum = 0;
  for (size_t i = 0; i < calibration.rows.size(); ++i) {
    const Row& row = calibration.rows[i];
    if (left_out.contains(i) || !is_fitted_to(family, row)) continue;
    const auto comparisons = check_row(calibration, i);
    if (!comparisons) continue;
    for (const Comparison& c : *comparisons) {
      if (c.energy) continue;
      const double log_ratio = std::log(c.simulated / c.published);
      sum += log_ratio * log_ratio;
    }
  }
  return sum;
}

void set(Calibration& calibration, const Family& family, const Parameter& parameter, double value) {
  for (SocProfile& profile : calibration.profiles) {
    if (belongs(family, profile.name)) parameter.field(profile) = value;
  }
}

double get(Calibration& calibration, const Family& family, const Parameter& parameter) {
  for (SocProfile& profile : calibration.profiles) {
    if (belongs(family, profile.name)) return parameter.field(profile);
  }
  return parameter.min;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      {"snapdragon-", {kLaunch, kBandwidth, kMacEfficiency, kVectorEfficiency}},
      {"ryzen-ai-", {kLaunch, kBandwidth}},
      {"rk3588", {kLaunch, kBandwidth, kMacEfficiency}},
  };
  return kFamilies;
}

const Family* family_of(const std::string& soc) {
  for (const Family& family : families()) {
    if (belongs(family, soc)) return &family;
  }
  return nullptr;
}

Result<Calibration> load_calibration(std::vector<Row> rows) {
  Calibration out;
  for (const std::string& name : soc::builtin_profile_names()) {
    TANDEM_TRY(SocProfile profile, soc::find_profile(name));
    out.profiles.push_back(std::move(profile));
  }
  out.rows = std::move(rows);
  return out;
}

Check check(const Calibration& calibration) {
  Check out;
  for (size_t i = 0; i < calibration.rows.size(); ++i) {
    auto comparisons = check_row(calibration, i);
    if (!comparisons) {
      out.skipped.push_back({i, comparisons.error().message});
      continue;
    }
    for (Comparison& c : *comparisons) out.comparisons.push_back(std::move(c));
  }
  return out;
}

std::vector<double> fit(Calibration& calibration, const Family& family,
                        const std::set<size_t>& left_out) {
  constexpr double kFirstStep = 0.25;  // of the logarithm
  constexpr double kLastStep = 0.005;
  double best = misfit(calibration, family, left_out);
  for (double step = kFirstStep; step > kLastStep; step /= 2) {
    bool moved = true;
    for (int sweep = 0; moved && sweep < 20; ++sweep) {
      moved = false;
      for (const Parameter& parameter : family.parameters) {
        const double value = get(calibration, family, parameter);
        double chosen = value;
        for (const double direction : {1.0, -1.0}) {
          const double trial =
              std::clamp(value * std::exp(direction * step), parameter.min, parameter.max);
          set(calibration, family, parameter, trial);
          const double now = misfit(calibration, family, left_out);
          if (now >= best) continue;
          best = now;
          chosen = trial;
          moved = true;
          break;
        }
        set(calibration, family, parameter, chosen);
      }
    }
  }
  std::vector<double> out;
  for (const Parameter& parameter : family.parameters) {
    out.push_back(get(calibration, family, parameter));
  }
  return out;
}

std::vector<Comparison> leave_out(const Calibration& calibration, LeftOut what,
                                  const std::function<void(size_t done)>& on_row) {
  std::vector<Comparison> out;
  for (size_t i = 0; i < calibration.rows.size(); ++i) {
    const Row& row = calibration.rows[i];
    const Family* family = family_of(row.soc);
    const bool is_fitted = family != nullptr && is_fitted_to(*family, row);
    const auto left_out = is_fitted ? left_out_with(calibration, *family, i, what) : std::nullopt;
    if (left_out) {
      Calibration without = calibration;
      fit(without, *family, *left_out);
      auto comparisons = check_row(without, i).value_or(std::vector<Comparison>());
      for (Comparison& c : comparisons) {
        if (!c.energy) out.push_back(std::move(c));
      }
    }
    on_row(i + 1);
  }
  return out;
}

}  // namespace tandem::published

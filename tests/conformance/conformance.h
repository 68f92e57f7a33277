#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace tandem::testing {

/// One node over random inputs: a graph whose nodes before `tested` make its inputs.
struct OpCase {
  std::string name;  ///< "linear Q4_0 [96,64] rows 17"
  std::shared_ptr<const Graph> graph;
  std::vector<std::vector<std::byte>> storage;  ///< bytes of the graph's weights
  NodeRange tested;                             ///< compiled for the device under test
  StepShape shape;
  std::vector<uint32_t> rows;       ///< tokens of each sequence
  std::vector<uint32_t> positions;  ///< first position of each sequence
};

/// Every op over the sizes, types and positions that tell implementations apart; the weight types
/// are those of GGUF files.
std::vector<OpCase> all_op_cases();

enum class Verdict { kRight, kUnsupported, kWrong };

struct CaseResult {
  std::string name;
  Verdict verdict;
  std::string detail;  ///< the Reason, or what differs
};

/// Runs `op_case` on the device and on the processor's scalar kernels. Right: the same bits when
/// the device claims matches_reference, else a normalised mean squared error within `bound`.
CaseResult check_case(Device& device, const OpCase& op_case, double bound);

/// Largest normalised mean squared error of a device with an arithmetic of its own. An int8 code of
/// a row of normal numbers whose largest is about 4 sigma is off by 4 sigma / 127 / sqrt(12): a
/// mean square of 8e-5 of the row's; a dot product keeps the ratio.
inline constexpr double kDefaultBound = 5e-4;

/// The tested output on a device; empty when it failed.
std::vector<float> results_of(Device& device, const OpCase& op_case);

/// Whether two devices give the same bits.
bool same_results(Device& a, Device& b, const OpCase& op_case);

/// What the contract says besides arithmetic: errors, events, estimates, reasons, imports. Each is
/// one GoogleTest expectation; call it inside a TEST.
void check_behaviour(Device& device);

}  // namespace tandem::testing

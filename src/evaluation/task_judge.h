#pragma once

#include <string_view>

#include "evaluation/task_set.h"
#include "text/reply/reply_parser.h"

namespace tandem {

/// Whether a reply, as the model wrote it, answers the row (any kind but kChoice). Replies to
/// conversations are taken apart first, so that reasoning does not count; `format` says how. A
/// reply that was cut off has no whole calls.
bool is_right(const TaskRow& row, std::string_view reply, const ReplyFormat& format, ReplyEnd end);

/// Index of the likeliest choice; the first among equals. `log_likelihoods` is not empty.
size_t likeliest(const std::vector<double>& log_likelihoods);

}  // namespace tandem

#pragma once

#include <functional>
#include <string_view>

namespace tandem {

enum class LogLevel { kDebug, kInfo, kWarning };

/// Where the library's messages go; the library itself never prints. May be called from any thread
/// that loads a model or runs a session. Empty: messages are dropped.
using LogSink = std::function<void(LogLevel, std::string_view)>;

}  // namespace tandem

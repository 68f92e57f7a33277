#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tandem {

/// What kind of thing went wrong; callers branch on it, people read the message.
enum class ErrorCode {
  kInvalidArgument,  ///< a flag, request or call argument is outside what is allowed
  kNotFound,         ///< a file, tensor, key, device or name does not exist
  kIo,               ///< the operating system refused to read, map or write
  kCorruptFile,      ///< bytes contradict the format
  kUnsupported,      ///< well formed, but this build or device cannot run it
  kOutOfMemory,      ///< an allocation of stated size failed
  kContextFull,      ///< the session has no room for another token
  kCancelled,        ///< the caller asked to stop
  kNumeric,          ///< NaN or infinity where a number was due
  kDevice,           ///< a device failed while running
};

/// The name of a code in JSON and logs, for instance "corrupt_file".
const char* to_string(ErrorCode code);

/// An expected failure. The message names subject, place, value and limit.
struct Error {
  ErrorCode code;
  std::string message;

  /// The same error with `where` put before the message: "where: message".
  Error within(const std::string& where) const { return {code, where + ": " + message}; }
};

/// A value or an Error. Bad input is always an Error; our own bugs are TANDEM_CHECK.
template <class T>
using Result = tl::expected<T, Error>;

/// Makes the failed alternative of any Result: `return failure(ErrorCode::kIo, "{}: ...", path);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> failure(ErrorCode code, fmt::format_string<Args...> format,
                                            Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace tandem

#define TANDEM_CONCAT_(a, b) a##b
#define TANDEM_CONCAT(a, b) TANDEM_CONCAT_(a, b)
#define TANDEM_TRY_VALUE_(temporary, target, expression)                     \
  auto temporary = (expression);                                             \
  if (!temporary) return tl::unexpected<::tandem::Error>(temporary.error()); \
  target = std::move(*temporary)

/// Hands an Error to the caller, or goes on.
///   TANDEM_TRY(write_header(file));                 for Result<void>
///   TANDEM_TRY(const auto header, read_header(file));   declares and assigns the value
#define TANDEM_TRY(...) TANDEM_TRY_PICK_(__VA_ARGS__, TANDEM_TRY_2_, TANDEM_TRY_1_)(__VA_ARGS__)
#define TANDEM_TRY_PICK_(_1, _2, name, ...) name
#define TANDEM_TRY_1_(expression) \
  if (auto result_ = (expression); !result_) return tl::unexpected<::tandem::Error>(result_.error())
#define TANDEM_TRY_2_(target, expression) \
  TANDEM_TRY_VALUE_(TANDEM_CONCAT(result_, __LINE__), target, expression)

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tandem {

/// The families of notations in which models write tool calls (docs/replies.md).
enum class CallSyntax {
  kJson,       ///< {"name": ..., "arguments": {...}}, one, several, or in a list
  kNamedJson,  ///< name, separator, {...}
  kTagged,     ///< <function=name><parameter=key>value</parameter></function> and its kin
  kPython,     ///< [name(key=value), ...]
  kGemma,      ///< call:name{key:value}
  kCode,       ///< calls as Python statements, or a program for the tool "python"
};

/// The words of kNamedJson and kTagged; unused ones are empty.
struct CallWords {
  std::string_view call_begin = {};
  /// End the name and are taken; without any the name ends before param_begin or call_end.
  std::vector<std::string_view> name_ends = {};
  /// After name and key: attributes up to this word, for instance ` string="true">`.
  std::string_view attributes_end = {};
  std::string_view call_end = {};
  std::string_view param_begin = {};
  std::string_view param_name_end = {};
  std::string_view value_begin = {};  ///< between key and value, when param_name_end is not enough
  std::string_view param_end = {};
};

/// A stretch of the reply that holds calls.
struct CallRegion {
  std::string_view begin;
  std::string_view end = {};  ///< empty: the region ends with its last call
  CallSyntax syntax = CallSyntax::kJson;
  /// JSON calls may stand here as well; told apart by the first character.
  bool or_json = false;
  /// JSON calls are written {"name": {...}}.
  bool key_is_name = false;
  CallWords words = {};
};

/// Messages with headers that say who speaks to whom (harmony), or just to whom (functionary).
enum class HeaderKind { kNone, kChannel, kRecipientLine };

/// How a model writes reasoning and tool calls. Plain data; views refer to static text.
struct ReplyFormat {
  std::string_view name;
  std::vector<CallRegion> regions = {};
  /// The reply may be a call from its first character on, with no marker before it.
  bool begins_with_json = false;
  bool begins_with_python = false;

  std::string_view reasoning_begin = "<think>";
  std::string_view reasoning_end = "</think>";
  /// Otherwise a block opens only where no content stands before it.
  bool reasoning_anywhere = false;
  /// Markers around content, dropped.
  std::vector<std::string_view> ignored = {};

  HeaderKind header = HeaderKind::kNone;
  std::vector<std::string_view> header_begins = {};
  std::string_view header_end = {};
  std::vector<std::string_view> message_ends = {};
};

/// Every format, "plain" last.
std::span<const ReplyFormat> reply_formats();

/// Errors: kNotFound listing the names there are.
Result<ReplyFormat> find_reply_format(std::string_view name);

/// The format of a chat template, found by the markers in its Jinja source. A template without any
/// known marker is "plain": content and <think> blocks.
ReplyFormat detect_reply_format(std::string_view template_source);

/// True when the rendered prompt ends inside a reasoning block it opened itself, so that the reply
/// begins with reasoning.
bool prompt_opens_reasoning(const ReplyFormat& format, std::string_view prompt);

/// The markers that must reach the parser as text. Where one is a control token of the vocabulary,
/// the detokenizer has to print it.
std::vector<std::string_view> reply_markers(const ReplyFormat& format);

}  // namespace tandem

// What CLI11 found wrong with a command line, in the program's words.

#include "cli/usage_error.h"

#include <sstream>
#include <string>

namespace tandem::cli {
namespace {

/// The subcommand in use, or the program.
const CLI::App& app_in_use(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return used.empty() ? app : *used.front();
}

std::string command_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining(true);
  if (app.get_subcommands().empty() && !rest.empty() && !rest[0].starts_with('-')) {
    return "unknown command \"" + rest[0] + "\"; the commands are " + command_names(app);
  }
  if (app.get_subcommands().empty() && rest.empty()) {
    return "a command is needed: " + command_names(app);
  }
  // An argument may be missing because another was misspelled.
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (is_extra && !rest.empty()) {
    return "unknown argument \"" + rest[0] + "\"";
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return std::string(error.what()) + " (a number is expected)";
  }
  return error.what();
}

}  // namespace

void finish_parse(const CLI::App& app, const CLI::ParseError& error, CommandContext& context) {
  if (error.get_exit_code() == 0) {
    std::ostringstream out, ignored;
    app.exit(error, out, ignored);
    return context.finish(write_output(out.str()));
  }
  const std::string command = app_in_use(app).get_name();
  note("tandem: error: {}\nRun tandem {}--help for more information.\n", describe(app, error),
       &app_in_use(app) == &app ? "" : command + " ");
  context.exit_code = 2;
}

}  // namespace tandem::cli

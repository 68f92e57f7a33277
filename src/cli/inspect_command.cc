// The command `tandem inspect`.

#include "cli/inspect_command.h"

#include <memory>
#include <string>

#include "cli/embedded_model.h"
#include "cli/inspect_report.h"
#include "formats/gguf_reader.h"
#include "formats/nested_section.h"
#include "sources/open_weight_source.h"

namespace tandem::cli {
namespace {

struct Arguments {
  std::string file;
  bool json = false;
  bool only_metadata = false;
  bool only_tensors = false;
  InspectOptions options;
};

Result<void> run(Arguments arguments) {
  TANDEM_TRY(ModelFile model, arguments.file.empty() ? parse_gguf(embedded_model())
                                                     : open_model_file(arguments.file));
  // A file whose low planes are gone or damaged is still worth a listing.
  const auto attached = attach_low_planes(model, MissingPlanes::kRefuse);
  if (!attached) note("tandem: warning: {}\n", attached.error().message);
  const bool selected = arguments.only_metadata || arguments.only_tensors;
  arguments.options.metadata = !selected || arguments.only_metadata;
  arguments.options.tensors = !selected || arguments.only_tensors;
  if (!arguments.json) return write_output(inspect_text(model, arguments.options));
  // Texts of the file may be broken UTF-8, which JSON cannot carry.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  return write_output(inspect_json(model, arguments.options).dump(2, ' ', false, kReplace) + '\n');
}

}  // namespace

void add_inspect_command(CLI::App& app, CommandContext& context) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "inspect", "List a model file's metadata, tensors, types, sizes and bits per weight");
  command->add_option(
      "FILE", arguments->file,
      "GGUF file (any part of a split model), Hugging Face or MLC folder (default: the "
      "embedded demo model)");
  command->add_flag("--json", arguments->json, "Print JSON, schema tandem.inspect.v1");
  command->add_flag("--metadata", arguments->only_metadata, "List metadata, not tensors");
  command->add_flag("--tensors", arguments->only_tensors, "List tensors, not metadata");
  command->add_option("--filter", arguments->options.filter,
                      "Only names that contain this text, or match it when it has * or ?");
  command->add_flag("--full", arguments->options.full, "Long texts and arrays in full");
  command->footer(
      "Examples:\n"
      "  tandem inspect model.gguf\n"
      "  tandem inspect --tensors --filter \"blk.0.*\" model.gguf\n"
      "  tandem inspect --json model.gguf");
  command->callback([arguments, &context] { context.finish(run(*arguments)); });
}

}  // namespace tandem::cli

# tandem_embed_profiles(<output> <files>): a C++ source that holds the files' texts, so that the
# program finds its SoC profiles wherever it is installed.
function(tandem_embed_profiles output)
  set(entries "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"json(${text})json\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
// Written by cmake/EmbedProfiles.cmake from profiles/*.json.

#include "soc/builtin_profiles.h"

namespace tandem::soc {
namespace {

constexpr BuiltinProfile kProfiles[] = {
@entries@};

}  // namespace

std::span<const BuiltinProfile> builtin_profiles() { return kProfiles; }

}  // namespace tandem::soc
]])
endfunction()

#include "text/reply/marker.h"

#include <gtest/gtest.h>

#include <vector>

#include "text/reply/reply_format.h"

namespace tandem {
namespace {

const std::vector<std::string_view> kMarkers{"<tool_call>", "<think>", "```"};

void expect_hit(std::string_view text, size_t position, size_t index) {
  const MarkerHit hit = find_marker(text, kMarkers, false);
  EXPECT_EQ(hit.position, position) << text;
  EXPECT_EQ(hit.index, index) << text;
}

TEST(Marker, TheFirstOneIsFound) {
  expect_hit("a<think>b<tool_call>", 1, 1);
  expect_hit("a<tool_call>b<think>", 1, 0);
  expect_hit("<<think>", 1, 1);
}

TEST(Marker, OnlyWhatMayBecomeOneIsHeldBack) {
  expect_hit("plain text", 10, MarkerHit::kNone);
  expect_hit("a < b", 5, MarkerHit::kNone);
  expect_hit("a <", 2, MarkerHit::kNone);
  expect_hit("a <t", 2, MarkerHit::kNone);
  expect_hit("a <tool_call", 2, MarkerHit::kNone);
  expect_hit("a <tx", 5, MarkerHit::kNone);
  expect_hit("a <t<", 4, MarkerHit::kNone);
  expect_hit("a ``", 2, MarkerHit::kNone);
}

TEST(Marker, NothingIsHeldBackAtTheEnd) {
  EXPECT_EQ(find_marker("a <tool_call", kMarkers, true).position, 12u);
}

TEST(Marker, EmptyMarkersNeverMatch) {
  const std::vector<std::string_view> markers{"", "x"};
  EXPECT_EQ(find_marker("ax", markers, false).index, 1u);
}

// find_marker relies on it.
TEST(Marker, NoRegionOrHeaderOfAFormatBeginsLikeAnother) {
  for (const ReplyFormat& format : reply_formats()) {
    std::vector<std::string_view> markers{format.reasoning_begin};
    for (const CallRegion& region : format.regions) markers.push_back(region.begin);
    for (const auto* list : {&format.header_begins, &format.message_ends, &format.ignored}) {
      markers.insert(markers.end(), list->begin(), list->end());
    }
    for (size_t i = 0; i < markers.size(); ++i) {
      for (size_t j = 0; j < markers.size(); ++j) {
        const bool clash = i != j && !markers[j].empty() && markers[i].starts_with(markers[j]);
        EXPECT_FALSE(clash) << format.name << ": " << markers[i] << " and " << markers[j];
      }
    }
  }
}

}  // namespace
}  // namespace tandem

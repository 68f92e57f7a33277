// A vendor's library is tried where it can do no harm (field report H02).

#include "device/vendor_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tandem {
namespace {

using Outcome = LibraryProbe::Outcome;
using testing::HasSubstr;

std::string built(const std::string& name) { return TANDEM_VENDOR_LIBRARIES "/lib" + name + ".so"; }

TEST(FieldReportH02, AGoodLibraryLoadsWithoutAWord) {
  testing::internal::CaptureStdout();
  const LibraryProbe probe = probe_vendor_library(built("vendor_good"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(probe.outcome, Outcome::kLoads) << probe.sentence;
}

TEST(FieldReportH02, AMissingLibraryIsSaidToBeMissing) {
  const LibraryProbe probe = probe_vendor_library("libNoSuchVendor.so");
  EXPECT_EQ(probe.outcome, Outcome::kMissing);
  EXPECT_EQ(probe.sentence, "libNoSuchVendor.so is not installed");
}

TEST(FieldReportH02, ALibraryThatEndsTheProcessEndsItsOwn) {
  const LibraryProbe abort = probe_vendor_library(built("vendor_abort"));
  EXPECT_EQ(abort.outcome, Outcome::kCrashed);
  EXPECT_THAT(abort.sentence, HasSubstr("crashes while it is loaded (Aborted)"));
  const LibraryProbe fault = probe_vendor_library(built("vendor_fault"));
  EXPECT_EQ(fault.outcome, Outcome::kCrashed) << fault.sentence;
  const LibraryProbe exit = probe_vendor_library(built("vendor_exit"));
  EXPECT_EQ(exit.outcome, Outcome::kCrashed);
  EXPECT_THAT(exit.sentence, HasSubstr("ends the process"));
}

TEST(FieldReportH02, ALibraryThatHangsIsEnded) {
  const LibraryProbe probe = probe_vendor_library(built("vendor_hang"), 0.3);
  EXPECT_EQ(probe.outcome, Outcome::kHung);
  EXPECT_THAT(probe.sentence, HasSubstr("within 0.3 s"));
}

TEST(FieldReportH02, WhatTheLoaderSaysIsPassedOn) {
  const LibraryProbe symbol = probe_vendor_library(built("vendor_unresolved"));
  EXPECT_EQ(symbol.outcome, Outcome::kRefused);
  EXPECT_THAT(symbol.sentence, HasSubstr("tandem_missing_symbol"));
  const std::string text = testing::TempDir() + "not_a_library.so";
  std::ofstream(text) << "hello";
  const LibraryProbe junk = probe_vendor_library(text);
  EXPECT_EQ(junk.outcome, Outcome::kRefused);
  EXPECT_THAT(junk.sentence, HasSubstr("does not load"));
}

}  // namespace
}  // namespace tandem

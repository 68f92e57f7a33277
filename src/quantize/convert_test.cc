// Converted files run: the high plane as the Q4_0 model that other readers see, both planes nearly
// as the original, and neither depends on threads, chunks or instruction sets.

#include "quantize/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "engine/session.h"
#include "formats/gguf_source.h"
#include "formats/gguf_test_bytes.h"
#include "formats/gguf_writer.h"
#include "synth/synthesize.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Model> load(const std::string& path) {
  auto model = Model::load(path);
  EXPECT_TRUE(model) << model.error().message;
  return *model;
}

/// A folder with a tiny model in F32 and what it was converted to.
struct Fixture {
  TestFolder folder;
  std::string original, nested;

  explicit Fixture(const std::string& shape = "qwen3",
                   const ConvertOptions& options = {.n_threads = 2})
      : original(folder.path("original.gguf")), nested(folder.path("nested.gguf")) {
    EXPECT_TRUE(synthesize(original, {.shape = tiny_shape(shape),
                                      .types = WeightTypes(DType::kF32),
                                      .n_threads = 1,
                                      .mean_top_probability = 0.5}));
    const auto source = source_of(original);
    const auto report = convert(*source, nested, source->metadata(), options);
    EXPECT_TRUE(report) << report.error().message;
  }
};

using Logits = std::vector<std::vector<float>>;

Logits logits_at(const std::shared_ptr<Engine>& engine, WeightPlanes planes, size_t chunk = 40) {
  auto session = *Session::create(engine);
  session->set_planes(planes);
  const auto tokens = some_tokens(40);
  Logits out;
  for (size_t done = 0; done < tokens.size(); done += chunk) {
    const auto part = std::span(tokens).subspan(done, std::min(chunk, tokens.size() - done));
    EXPECT_TRUE(session->append_visiting_logits(
        part, [&](size_t, std::span<const float> row) -> Result<void> {
          out.emplace_back(row.begin(), row.end());
          return {};
        }));
  }
  return out;
}

double squared_distance(const Logits& a, const Logits& b) {
  double sum = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) {
      sum += std::pow(a[i][j] - b[i][j], 2);
      norm += std::pow(b[i][j], 2);
    }
  }
  return sum / norm;
}

class Converted : public ::testing::TestWithParam<std::string> {};

TEST_P(Converted, HighPlaneIsTheQ4_0ModelAndBothPlanesAreNearlyTheOriginal) {
  const Fixture f(GetParam());
  const std::string plain = f.folder.path("plain.gguf");
  ASSERT_TRUE(strip_low_planes(*source_of(f.nested), plain, {.n_threads = 1}));
  EXPECT_FALSE(describes_low_planes(load(plain)->metadata()));
  const auto engine = make_engine(load(f.nested));
  const Logits high = logits_at(engine, WeightPlanes::kHigh);
  const Logits both = logits_at(engine, WeightPlanes::kBoth);
  EXPECT_EQ(high, logits_at(make_engine(load(plain)), WeightPlanes::kBoth));
  EXPECT_EQ(high,
            logits_at(make_engine(load(f.nested),
                                  {.context = 64, .n_threads = 1, .planes = WeightPlanes::kHigh}),
                      WeightPlanes::kBoth))
      << "an engine without low planes";
  const Logits exact = all_logits(make_engine(load(f.original)), some_tokens(40), 40);
  // INT8 activations cost these models, whose channels differ 60-fold, more than INT8 weights do:
  // what is right is what Q8_0 gives.
  const std::string q8 = f.folder.path("q8.gguf");
  ConvertOptions options;
  options.formats.matrices = {DType::kQ8_0, false};
  const auto source = source_of(f.original);
  ASSERT_TRUE(convert(*source, q8, source->metadata(), options));
  const Logits q8_0 = logits_at(make_engine(load(q8)), WeightPlanes::kBoth);
  EXPECT_LT(squared_distance(both, exact), 1.5 * squared_distance(q8_0, exact));
  EXPECT_LT(squared_distance(both, exact), 0.4 * squared_distance(high, exact));
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Converted, ::testing::Values("qwen3", "phi3", "untied", "gemma2"),
                         test_name);

TEST(Converted, ChunksThreadsAndInstructionSetsGiveTheSameBits) {
  const Fixture f;
  const auto model = load(f.nested);
  for (const WeightPlanes planes : {WeightPlanes::kHigh, WeightPlanes::kBoth}) {
    const Logits expected = logits_at(make_engine(model), planes);
    for (const size_t chunk : {1, 3, 16}) {
      EXPECT_EQ(logits_at(make_engine(model), planes, chunk), expected) << chunk;
    }
    for (int i = 0; i < kernels::kIsaCount; ++i) {
      const auto isa = static_cast<kernels::Isa>(i);
      if (!can_run(isa)) continue;
      const auto engine = make_engine(model, {.context = 64, .n_threads = 3, .isa = isa});
      EXPECT_EQ(logits_at(engine, planes), expected) << kernels::to_string(isa);
    }
  }
}

TEST(Converted, PlanesMaySwitchAtEveryStep) {
  const Fixture f;
  const auto engine = make_engine(load(f.nested));
  const auto tokens = some_tokens(12);
  // Drafts at INT4, then the same tokens again at INT8, as speculation does.
  auto session = *Session::create(engine);
  ASSERT_TRUE(session->append(std::span(tokens).first(6)));
  session->set_planes(WeightPlanes::kHigh);
  for (size_t i = 6; i < 12; ++i) ASSERT_TRUE(session->append(std::span(tokens).subspan(i, 1)));
  const std::vector<float> drafted(session->logits().begin(), session->logits().end());
  session->truncate(6);
  session->set_planes(WeightPlanes::kBoth);
  ASSERT_TRUE(session->append(std::span(tokens).subspan(6)));
  const std::vector<float> verified(session->logits().begin(), session->logits().end());
  EXPECT_EQ(verified, all_logits(engine, tokens, 12).back());
  EXPECT_NE(verified, drafted);
  EXPECT_LT(engine->weight_bytes_per_step(WeightPlanes::kHigh),
            0.54 * engine->weight_bytes_per_step(WeightPlanes::kBoth));
}

TEST(Converted, ThreadsDoNotChangeTheFile) {
  const Fixture one("qwen3", {.n_threads = 1}), three("qwen3", {.n_threads = 3});
  EXPECT_EQ(read_test_file(one.nested), read_test_file(three.nested));
}

TEST(Converted, ASidecarHoldsTheSamePlanes) {
  Fixture f;
  const std::string path = f.folder.path("two.gguf");
  const auto source = source_of(f.original);
  ConvertOptions options;
  options.sidecar = path + ".low";
  ASSERT_TRUE(convert(*source, path, source->metadata(), options));
  EXPECT_EQ(logits_at(make_engine(load(path)), WeightPlanes::kBoth),
            logits_at(make_engine(load(f.nested)), WeightPlanes::kBoth));
  std::filesystem::remove(options.sidecar);
  EXPECT_THAT(Model::load(path).error().message, HasSubstr("--add-refinement"));
  ModelOptions consent;
  consent.missing_planes = MissingPlanes::kAccept;
  const auto accepted = Model::load(path, consent);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(logits_at(make_engine(*accepted), WeightPlanes::kBoth),
            logits_at(make_engine(load(f.nested)), WeightPlanes::kHigh));
}

TEST(Converted, ADamagedPlaneIsNoticedBeforeItIsUsed) {
  Fixture f;
  std::string bytes = read_test_file(f.nested);
  bytes[bytes.size() - 100] ^= 1;
  f.folder.write("nested.gguf", bytes);
  const auto model = Model::load(f.nested);
  ASSERT_TRUE(model);
  const auto engine = Engine::create(*model, {.context = 64});
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("checksum"));
  EXPECT_TRUE(Engine::create(*model, {.context = 64, .planes = WeightPlanes::kHigh}));
}

TEST(Converted, RefinementMakesAForeignQ4_0FileInt8) {
  Fixture f;
  const std::string plain = f.folder.path("plain.gguf"), refined = f.folder.path("refined.gguf");
  const auto source = source_of(f.original);
  ConvertOptions options;
  options.formats.matrices = {DType::kQ4_0, false};
  ASSERT_TRUE(convert(*source, plain, source->metadata(), options));
  const auto report = add_refinement(*source_of(plain), *source, refined, {});
  ASSERT_TRUE(report) << report.error().message;
  const auto engine = make_engine(load(refined));
  const Logits high = logits_at(engine, WeightPlanes::kHigh);
  EXPECT_EQ(high, logits_at(make_engine(load(plain)), WeightPlanes::kBoth));
  const Logits exact = all_logits(make_engine(load(f.original)), some_tokens(40), 40);
  EXPECT_LT(squared_distance(logits_at(engine, WeightPlanes::kBoth), exact),
            0.4 * squared_distance(high, exact));
  EXPECT_THAT(add_refinement(*source, *source, refined, {}).error().message,
              HasSubstr("none of its"));
}

TEST(Converted, NestedInputIsRefused) {
  const Fixture f;
  const auto source = source_of(f.nested);
  const auto report = convert(*source, f.folder.path("again.gguf"), source->metadata(), {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("--strip"));
}

/// Field report G02: a weight that is no number stops at once, naming the place.
TEST(Converted, AWeightThatIsNoNumberIsNamedAndNothingIsWritten) {
  const TestFolder folder;
  std::vector<float> values(4 * 64, 0.5f);
  values[2 * 64 + 7] = NAN;
  Metadata metadata;
  metadata.set("general.architecture", std::string("llama"));
  const TensorToWrite tensors[] = {{"blk.0.attn_q.weight", DType::kF32, {64, 4}, [&] {
                                      return Result<std::span<const std::byte>>(
                                          std::as_bytes(std::span(values)));
                                    }}};
  ASSERT_TRUE(write_gguf(folder.path("m.gguf"), metadata, tensors));
  const auto source = source_of(folder.path("m.gguf"));
  for (const char* format : {"nested", "q8_0", "f16", "f32"}) {
    ConvertOptions options;
    options.formats.matrices = *TargetFormat::parse(format);
    const auto report = convert(*source, folder.path("out.gguf"), metadata, options);
    ASSERT_FALSE(report) << format;
    EXPECT_THAT(report.error().message, HasSubstr("tensor 'blk.0.attn_q.weight': row 2"));
    EXPECT_FALSE(std::filesystem::exists(folder.path("out.gguf")));
  }
}

/// Field report G05: importance that lacks a tensor is counted and listed.
TEST(Converted, MissingImportanceIsListed) {
  const Fixture f;
  const auto source = source_of(f.original);
  Statistics importance;
  for (const SourceTensor& t : source->tensors()) {
    if (t.dims.size() == 1 || t.name == "blk.1.ffn_down.weight") continue;
    auto entry = std::make_shared<InputStatistics>();
    entry->n_rows = 1;
    entry->sum_squares.assign(t.row_length(), 1.0);
    importance.emplace(t.name, std::move(entry));
  }
  ConvertOptions options;
  options.importance = &importance;
  const auto report = convert(*source, f.folder.path("weighted.gguf"), source->metadata(), options);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->without_importance, ::testing::ElementsAre("blk.1.ffn_down.weight"));
  for (const ConvertedTensor& t : report->tensors) {
    EXPECT_EQ(t.weighted, importance.contains(t.name)) << t.name;
  }
}

}  // namespace
}  // namespace tandem::testing

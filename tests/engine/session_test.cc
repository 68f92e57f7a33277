// Limits, cancelling, truncating, shifting, saving and loading of sessions.

#include "engine/session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "formats/gguf_source.h"
#include "quantize/convert.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

std::vector<float> last_logits(Session& session) {
  const auto logits = session.logits();
  return {logits.begin(), logits.end()};
}

class SessionTest : public ::testing::Test {
 protected:
  std::unique_ptr<Session> make_session() { return std::move(*Session::create(engine_)); }

  std::shared_ptr<Engine> engine_ = make_engine(make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0));
};

TEST_F(SessionTest, FullContextIsAnErrorThatSaysSoAndComputesNothing) {
  const auto session = make_session();
  ASSERT_TRUE(session->append(some_tokens(60)));
  const auto before = last_logits(*session);
  const auto outcome = session->append(some_tokens(5));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kContextFull);
  EXPECT_NE(outcome.error().message.find("60 tokens held and 5 more"), std::string::npos);
  EXPECT_NE(outcome.error().message.find("64"), std::string::npos);
  EXPECT_EQ(session->n_tokens(), 60u);
  EXPECT_EQ(last_logits(*session), before);
  EXPECT_TRUE(session->append(some_tokens(4))) << "exactly full is allowed";
  EXPECT_FALSE(session->append(some_tokens(1)));
}

TEST_F(SessionTest, UnknownTokenIsAnErrorThatNamesIt) {
  const auto session = make_session();
  for (TokenId bad : {-1, 512}) {
    const std::vector<TokenId> tokens{3, bad};
    const auto outcome = session->append(tokens);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(outcome.error().message.find(std::to_string(bad)), std::string::npos);
  }
  EXPECT_EQ(session->n_tokens(), 0u);
}

TEST_F(SessionTest, CancelStopsAndTheSessionGoesOnAfterwards) {
  const auto session = make_session();
  const auto tokens = some_tokens(30);
  session->cancel();
  const auto outcome = session->append(tokens);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(session->n_tokens(), 0u);
  ASSERT_TRUE(session->append(tokens));
  EXPECT_EQ(last_logits(*session), all_logits(engine_, tokens, 30).back());
}

TEST_F(SessionTest, TruncatedSessionEqualsAFreshOne) {
  const auto session = make_session();
  const auto first = some_tokens(40, 1), second = some_tokens(20, 2);
  ASSERT_TRUE(session->append(first));
  session->truncate(13);
  EXPECT_TRUE(session->logits().empty());
  ASSERT_TRUE(session->append(second));
  std::vector<TokenId> whole(first.begin(), first.begin() + 13);
  whole.insert(whole.end(), second.begin(), second.end());
  EXPECT_EQ(last_logits(*session), all_logits(engine_, whole, whole.size()).back());
}

TEST_F(SessionTest, ShiftedContextEqualsAFreshSessionOfWhatIsLeft) {
  const auto session = make_session();
  const auto tokens = some_tokens(64);
  ASSERT_TRUE(session->append(tokens));
  ASSERT_TRUE(session->shift_context(4));
  std::vector<TokenId> left(tokens.begin(), tokens.begin() + 4);
  left.insert(left.end(), tokens.begin() + 34, tokens.end());
  ASSERT_EQ(std::vector<TokenId>(session->tokens().begin(), session->tokens().end()), left);
  EXPECT_EQ(last_logits(*session), all_logits(engine_, left, left.size()).back());
  EXPECT_FALSE(session->shift_context(64));
}

class SessionFileTest : public SessionTest {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) / "tandem_세션.bin";
    saved_ = make_session();
    ASSERT_TRUE(saved_->append(some_tokens(21)));
    ASSERT_TRUE(saved_->save(path_));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
  std::unique_ptr<Session> saved_;
};

TEST_F(SessionFileTest, LoadedSessionGoesOnAsTheSavedOne) {
  const auto loaded = make_session();
  const auto outcome = loaded->load(path_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(loaded->n_tokens(), 21u);
  EXPECT_EQ(last_logits(*loaded), last_logits(*saved_));
  ASSERT_TRUE(loaded->append(some_tokens(9, 3)));
  ASSERT_TRUE(saved_->append(some_tokens(9, 3)));
  EXPECT_EQ(last_logits(*loaded), last_logits(*saved_));
}

TEST_F(SessionFileTest, EveryDamagedByteIsFoundAndTheSessionUnchanged) {
  std::ifstream in(path_, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto session = make_session();
  ASSERT_TRUE(session->append(some_tokens(5, 9)));
  const auto before = last_logits(*session);
  for (size_t at = 0; at < good.size(); at += 1 + at / 16) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    std::ofstream(path_, std::ios::binary) << bad;
    ASSERT_FALSE(session->load(path_)) << "byte " << at;
  }
  for (size_t n : {size_t{0}, size_t{10}, size_t{64}, good.size() - 1}) {
    std::ofstream(path_, std::ios::binary) << good.substr(0, n);
    ASSERT_FALSE(session->load(path_)) << "cut to " << n;
  }
  EXPECT_EQ(session->n_tokens(), 5u);
  EXPECT_EQ(last_logits(*session), before);
}

TEST_F(SessionFileTest, AnotherModelOrASmallerContextIsRefused) {
  const auto other = make_engine(make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0, 2));
  const auto other_session = std::move(*Session::create(other));
  const auto outcome = other_session->load(path_);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("another model"), std::string::npos);

  const auto small = make_engine(make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0),
                                 {.context = 16, .n_threads = 1});
  const auto too_long = std::move(*Session::create(small))->load(path_);
  ASSERT_FALSE(too_long);
  EXPECT_NE(too_long.error().message.find("21 tokens"), std::string::npos);
}

/// A nested file holds two precisions under one fingerprint; a cache of one is no cache of the
/// other.
TEST(SessionFile, AnotherPrecisionIsRefused) {
  const std::filesystem::path folder(::testing::TempDir());
  const std::string model = folder / "tandem_nested.gguf", path = folder / "tandem_int4.session";
  const auto original = make_tiny_model(tiny_shape("qwen3"));
  const auto source = make_gguf_source(original->file());
  ASSERT_TRUE(convert(*source, model, source->metadata(), {.n_threads = 1}));
  const auto engine = make_engine(*Model::load(model));
  const auto saved = std::move(*Session::create(engine));
  saved->set_planes(WeightPlanes::kHigh);
  ASSERT_TRUE(saved->append(some_tokens(7)));
  ASSERT_TRUE(saved->save(path));

  const auto loaded = std::move(*Session::create(engine));
  const auto outcome = loaded->load(path);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(outcome.error().message.find("saved at precision int4, this session computes at int8"),
            std::string::npos)
      << outcome.error().message;
  EXPECT_EQ(loaded->n_tokens(), 0u);
  loaded->set_planes(WeightPlanes::kHigh);
  EXPECT_TRUE(loaded->load(path));
  EXPECT_EQ(loaded->n_tokens(), 7u);
  std::filesystem::remove(model);
  std::filesystem::remove(path);
}

TEST(EngineOptions, OutOfRangeNamesOptionValueAndLimit) {
  const auto model = make_tiny_model(tiny_shape("llama"));
  const auto outcome = Engine::create(model, {.prefill_chunk = 0});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(outcome.error().message.find("prefill_chunk is 0"), std::string::npos);
  EXPECT_FALSE(Engine::create(model, {.n_threads = -1}));
}

TEST(CheckFinite, NamesTheLayerOfTheFirstNaN) {
  const auto model = make_tiny_model(tiny_shape("llama"));
  // The file is mapped privately and read only; a copy with a broken weight takes its place.
  const TensorView* victim = model->find_tensor("blk.1.ffn_up.weight");
  const auto whole = model->file().files[0]->bytes();
  static std::vector<std::byte> copy;
  copy.assign(whole.begin(), whole.end());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(copy.data() + (victim->bytes.data() - whole.data()), &nan, sizeof nan);
  const std::string path = std::filesystem::path(::testing::TempDir()) / "tandem_nan.gguf";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(copy.data()), static_cast<std::streamsize>(copy.size()));
  const auto engine =
      make_engine(*Model::load(path), {.context = 64, .n_threads = 1, .check_finite = true});
  const auto session = std::move(*Session::create(engine));
  const auto outcome = session->append(some_tokens(3));
  std::filesystem::remove(path);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kNumeric);
  EXPECT_NE(outcome.error().message.find("layers.1.up"), std::string::npos)
      << outcome.error().message;
}

TEST(ConcurrentSessions, TakeTurnsAndDoNotDisturbEachOther) {
  const auto engine = make_engine(make_tiny_model(tiny_shape("llama"), DType::kQ4_0));
  const auto tokens = some_tokens(50);
  const auto expected = all_logits(engine, tokens, 50).back();
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(3);
  for (auto& result : results) {
    threads.emplace_back([&] {
      const auto session = std::move(*Session::create(engine));
      for (TokenId token : tokens) EXPECT_TRUE(session->append({&token, 1}));
      result = last_logits(*session);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace tandem::testing

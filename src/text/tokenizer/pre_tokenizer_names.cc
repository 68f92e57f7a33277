#include "text/tokenizer/pre_tokenizer_names.h"

#include <initializer_list>
#include <utility>
#include <vector>

// The pre-tokenizers that GGUF files name. The regular expressions are those of the models' own
// tokenizer.json files; one row a family, since many models share a pattern.

namespace tandem {
namespace {

struct Row {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;
  bool ignore_merges = false;
  bool adds_bos = false;
  bool characters = false;
};

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kJais2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|)"
    R"(\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
    R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kUfakzeka =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kMiniCpm5 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}|)"
    R"( ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|)"
    R"(\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoe =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kYoutu =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kYoutuScripts =
    R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kKimiK2 =
    R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepSeekV3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSpark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kHanAndKana = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kAsianScripts =
    R"([一-鿿㐀-䶿\uF900-\uFAFF぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)";
constexpr std::string_view kHanAndHangul = R"([一-龥ࠀ-一가-퟿]+)";
/// DeepSeek LLM lists the cased letters of Unicode 11 one by one.
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293)"
    R"(\u0295-\u02AF\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C)"
    R"(\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5)"
    R"(\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77)"
    R"(\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59)"
    R"(\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC)"
    R"(\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107)"
    R"(\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139)"
    R"(\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE)"
    R"(\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E)"
    R"(\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\x{10400}-\x{1044F})"
    R"(\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr std::string_view kDeepSeekPunctuation = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr std::string_view kFalconPunctuation = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view kDefaultPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kPoro = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kDigitGroups = R"(\d{1,3}(?=(?:\d{3})*\b))";
constexpr std::string_view kLines = R"([^\n]+|[\n]+)";

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {{"default"}, {kDefaultPunctuation, kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
        "jina-v5-nano"},
       {kLlama3},
       true,
       true},
      {{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {kLlama3}},
      {{"minicpm5"}, {R"(\p{N}{1,3})", kMiniCpm5}, true},
      {{"jais-2"}, {kJais2}},
      {{"deepseek-llm"},
       {R"([\r\n])", kDeepSeekLetters, kDeepSeekPunctuation, R"(\s+$)", kHanAndHangul,
        R"(\p{N}+)"}},
      {{"deepseek-coder"},
       {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kHanAndHangul, R"(\p{N})"}},
      {{"deepseek-v3", "hunyuan-dense", "hy_v4", "joyai-llm"},
       {R"(\p{N}{1,3})", kHanAndKana, kDeepSeekV3}},
      {{"spark2_5"}, {R"(\p{N}{1,3})", kHanAndKana, kSpark, R"(\p{N})"}},
      {{"youtu"}, {kYoutuScripts, kYoutu}, true},
      {{"falcon"}, {kFalconPunctuation, kGpt2, "[0-9][0-9][0-9]"}},
      {{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b",
        "mellum2"},
       {R"(\p{N})", kGpt2}},
      {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "gigachat",
        "a.x-4.0", "mellum", "modern-bert", "exaone4", "jina-es", "jina-de", "jina-v2-es",
        "jina-v2-de", "jina-v1-en", "jina-v2-code", "roberta-bpe"},
       {kGpt2}},
      {{"qwen2", "stablelm2", "hunyuan", "solar-open", "deepseek-r1-qwen", "kormo", "f2llmv2",
        "megrez", "grok-2"},
       {kQwen2}},
      {{"qwen35"}, {kQwen35}},
      {{"ufakzeka"}, {kUfakzeka}},
      {{"laguna"}, {kLines, kQwen2}},
      {{"poro-chat", "bloom", "gpt3-finnish"}, {kPoro}},
      {{"viking"}, {kPoro, R"(\p{N})"}},
      {{"tekken"}, {kTekken}, true, true},
      {{"chameleon"},
       {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"(([\t\n]|    |  ))",
        R"(\p{N})", R"([\p{P}!-/:-@\[-`{-~])", kGpt2},
       false,
       true},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {kGpt4o}},
      {{"granite-embed-multi-97m"}, {kGpt4o}, true},
      {{"tiny_aya", "cohere2moe"}, {kDigitGroups, kGpt4o}},
      {{"kimi-k2"}, {kKimiK2}},
      {{"superbpe"}, {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}},
      {{"bailingmoe", "bailingmoe2", "llada-moe"}, {kBailing}},
      {{"seed-coder"}, {kSeedCoder}},
      {{"afmoe"}, {kDigitGroups, kAsianScripts, kDeepSeekV3}},
      {{"exaone-moe"}, {kExaoneMoe}},
      {{"gemma4", "granite-embed-multi-311m", "sarvam-moe"}, {kLines}, false, false, true},
  };
  return kRows;
}

constexpr std::string_view kProbe =
    "It's we'LL they'Ve I'd 'sT o'clock don't isn't can'\u017F ''s 1 12 123 1234 12345 123456 "
    "1234567 3.14 1,000,000 x86_64 v2.0-rc1 a1b2 \u00BD \u00B2 \u2167 \u0663\u0664\u0665 "
    "\uFF11\uFF12\uFF13\tTab\t\tend  two   three    four\n\n\nline \n  indent\r\nCRLF\r\n\r\n   "
    "\nHTTPServer XMLHttpRequest camelCase ABC Abc aBC \u00E9\u00C9 \u01C5 \u02B0 e\u0301a\u0308 "
    "n\u0303 \uC548\uB155\uD558\uC138\uC694 \uC138\uACC4 \uC11C\uC6B8\uC5ED3\uBC88 "
    "\u1112\u1161\u11AB \u6F22\u5B57 \u4E16\u754C\u4E16\u754C \u304B\u306A "
    "\u30AB\u30BF\u30AB\u30CA \u0E44\u0E17\u0E22 \u0E20\u0E32\u0E29\u0E32 "
    "\u0627\u0644\u0639\u0631\u0628\u064A\u0629 \u05E2\u05D1\u05E8\u05D9\u05EA "
    "\u0939\u093F\u0928\u094D\u0926\u0940 \u0BA4\u0BAE\u0BBF\u0BB4\u0BCD "
    "\u0440\u0443\u0441\u0441\u043A\u0438\u0439 \u0395\u03BB\u03BB\u03B7\u03BD "
    "\U0001F600\U0001F469\u200D\U0001F467\U0001F1F0\U0001F1F7 \u201Cquoted\u201D "
    "\u2018x\u2019 \u2014 \u2026 \u3001\u3002\uFF01\uFF1F \u00AB\u00BB \u00A3\u00A3 "
    "\u20AC5 $10 `code` #tag @user /path/to/file.txt C:\\dir http://a.b/c?d=e&f=g "
    "{\"k\": [1, 2]} <b>t</b> !!! ... --- *** === ~~~ +++ ((())) foo_bar __init__ \u00A0nbsp"
    "\u3000wide\u2028ls 'em 'Tis (a)b [c]d /e/f word";

class WordList final : public WordSink {
 public:
  void add(const Word& word) override { words.emplace_back(word.text); }
  std::vector<std::string> words;
};

Result<std::vector<std::string>> words_of_probe(const PreTokenizer& pre_tokenizer) {
  WordList list;
  TANDEM_TRY(pre_tokenizer.split({kProbe}, true, list));
  return std::move(list.words);
}

}  // namespace

std::string_view pre_tokenizer_probe() { return kProbe; }

Result<std::string> pre_tokenizer_name_of(const PreTokenizer& wanted, bool ignore_merges) {
  TANDEM_TRY(const auto words, words_of_probe(wanted));
  std::string alike;
  for (const Row& row : rows()) {
    if (row.characters) continue;
    TANDEM_TRY(const NamedPreTokenizer named, pre_tokenizer_by_name(row.names.front()));
    TANDEM_TRY(const auto row_words, words_of_probe(named.pre_tokenizer));
    if (row_words != words) continue;
    if (row.ignore_merges == ignore_merges) return std::string(row.names.front());
    if (alike.empty()) alike = row.names.front();
  }
  return alike;
}

Result<NamedPreTokenizer> pre_tokenizer_by_name(std::string_view name) {
  for (const Row& row : rows()) {
    for (const std::string_view known : row.names) {
      if (known != name) continue;
      NamedPreTokenizer named;
      for (const std::string_view pattern : row.patterns) {
        TANDEM_TRY(named.pre_tokenizer.add_pattern(pattern));
      }
      named.ignore_merges = row.ignore_merges;
      named.adds_bos = row.adds_bos;
      named.characters = row.characters;
      return named;
    }
  }
  return failure(ErrorCode::kUnsupported, "pre-tokenizer \"{}\" is not known; known are: {}", name,
                 pre_tokenizer_names());
}

std::string pre_tokenizer_names() {
  std::string out;
  for (const Row& row : rows()) {
    for (const std::string_view name : row.names) {
      if (!out.empty()) out += ", ";
      out += name;
    }
  }
  return out;
}

}  // namespace tandem

// Strings for the differential test: every script and accident a tokenizer meets, from a seed.

/// xorshift32: the same strings on every machine.
export function random_source(seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  const below = (n) => next() % n;
  return {below, pick: (list) => list[below(list.length)], chance: (n) => below(n) === 0};
}

const words = `the of and to in a is that for it as was with be by on not he his but at are this
have from or had an they which one you were her all she there would their we him been has when who
will more no if out so said what up its about into than them can only other new some could time
these two may then do first any my now such like our over man me even most made after also did many
must before back see through way where get much go well your know should down work year because come
people just say each those take day good how long Mr use three own still government tokenization
internationalization counterrevolutionary Pneumonoultramicroscopicsilicovolcanoconiosis McDonald's
I'll we've DON'T they're it's 'tis O'Neill's IPv6 x86_64 C++20 GPT-4o iPhone eBay`.split(/\s+/);
const korean = `안녕하세요 오늘 날씨가 정말 좋네요 서울역 3번 출구 대한민국 온도를 낮춰 주세요 기계
진단 결과는 다음과 같습니다 뷁 쀍 꿟 학교에서 친구들과 함께 공부했다`.split(/\s+/);
const chinese = `你好 世界 人工智能 机器学习 中华人民共和国 龘 𠮷 㐀 繁體中文 漢字 測試 温度是二十度`.split(' ');
const japanese = `こんにちは 世界 カタカナ ﾊﾝｶｸ ひらがな 東京都 ありがとうございます ー 々 〆 がぎぐげご`.split(' ');
const others = `مرحبا بالعالم العربية السَّلَامُ עברית Привет мир Ελληνικά ไทยแลนด์ हिन्दी भाषा বাংলা தமிழ்
ქართული Հայերեն አማርኛ ខ្មែរ မြန်မာ ཨོཾ Tiếng Việt ñandú Straße ÅÄÖ ﬁﬂ Ǆ ǅ ŉ İıſK ΐΰ`.split(/\s+/);
const emoji = `😀 🦜 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇰🇷 🇺🇸 ❤️ ☃ ✈️ 1️⃣ 🧑🏿‍🚀 ㊗️ 🀄 🫠 🪿 ‼️ ©️`.split(' ');
const code = [
  'int main() {\n\treturn 0;\n}\n', 'def f(x):\n    return x**2  # square\n', 'a[i]->b.c(&d, *e)',
  '#include <vector>\r\n', 'SELECT * FROM t WHERE a<>1;', '<div class="x">&nbsp;</div>', '"\\n\\t\\u00e9"',
  'https://example.org/a?b=c&d=%20#e', '0xDEADBEEF', '1e-10', '3.14159', '$x ??= {...y};', '//!!??((([[[{{{',
  '----====____++++', 'foo_bar.baz-qux', '\\\\server\\share', '~/.config/*', '@user #tag $9.99 50% ^_^', '```py\n```'
];
const spaces = [' ', '  ', '   ', '\t', '\n', '\r\n', '\r', '\n\n', ' \n', '\n ', '\t\t', '\u00a0', '\u3000',
                '\u2003', '\u2028', '\u0085', '\u200b', '\u1680', '\v', '\f', '        ', '\n\n\n\n', ' \t \n \r '];
const numbers = ['0', '7', '42', '123', '2024', '20481024', '1234567890', '①②', '٣٤٥', '½', 'Ⅷ', '１２３', '²³', '৪'];
const marks = ['\u0301', '\u0308', '\u0327', '\u093c', '\u0e47', '\u20dd', '\ufe0f', '\u200d', '\u200c', '\ufeff', '\u00ad',
               '\u202e', '\u0344', '\u0f71\u0f72', '\u2581', '\u2581\u2581'];
const quotes = ['“Hi,”', '‘a’', '’s', "'S", "'ſ", "'LL", '…', '—', '–', '·', '、', '。', '！', '？', '《》', '「」', '（）', '¡', '¿', '§', '€', '№'];
const control = ['<s>', '</s>', '<bos>', '<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|eot_id|>', '<unk>', '<pad>',
                 '<|begin_of_text|>', '<start_of_turn>', '<｜end▁of▁sentence｜>', '<tool_call>', '<mask>', '<unused7>', '<0x41>'];

function code_point(random) {
  const kind = random.below(10);
  if (kind < 3) return random.below(0x80);
  if (kind < 5) return random.below(0x800);
  let c = kind < 9 ? random.below(0x10000) : random.below(0x110000);
  if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
  return c;
}

function jamo(random) {
  let out = '';
  for (let i = random.below(6) + 1; i > 0; --i) {
    out += String.fromCodePoint(0x1100 + random.below(19));
    if (!random.chance(8)) out += String.fromCodePoint(0x1161 + random.below(21));
    if (random.chance(2)) out += String.fromCodePoint(0x11a8 + random.below(27));
    if (random.chance(6)) out += String.fromCodePoint(0xac00 + 28 * random.below(399)) + '\u11ab';
  }
  return out;
}

function piece(random) {
  switch (random.below(17)) {
    case 0: case 1: case 2: return random.pick(words);
    case 3: return random.pick(korean);
    case 4: return jamo(random);
    case 5: return random.pick(korean).normalize('NFD');
    case 6: return random.pick(chinese);
    case 7: return random.pick(japanese);
    case 8: return random.pick(others);
    case 9: return random.pick(emoji);
    case 10: return random.pick(code);
    case 11: return random.pick(numbers);
    case 12: return random.pick(marks);
    case 13: return random.pick(quotes);
    case 14: return String.fromCodePoint(random.below(32));
    case 15: return random.chance(3) ? random.pick(control) : random.pick(words).toUpperCase();
    default: {
      let out = '';
      for (let i = random.below(4) + 1; i > 0; --i) out += String.fromCodePoint(code_point(random));
      return out;
    }
  }
}

function string(random) {
  let out = '';
  const joint = random.below(4);
  for (let i = random.below(14) + 1; i > 0; --i) {
    out += piece(random);
    if (joint === 0) out += ' ';
    if (joint === 1) out += random.pick(spaces);
    if (joint === 2 && random.chance(2)) out += random.pick([' ', ' ', random.pick(spaces)]);
  }
  return out;
}

/// `n` strings; the first ones are single pieces and runs, so that none is left out.
export function corpus(n, seed) {
  const random = random_source(seed);
  const out = ['', ' ', '  ', 'a', '\n', 'a'.repeat(3000), ' '.repeat(2000), '😀'.repeat(800), '\n'.repeat(500),
               '1'.repeat(1000), '가'.repeat(1000), '!'.repeat(700), '\u0301'.repeat(300), 'aA'.repeat(500), ' a'.repeat(500)];
  for (const list of [words, korean, chinese, japanese, others, emoji, code, spaces, numbers, marks, quotes, control]) {
    for (const item of list) out.push(item, ' ' + item, item + ' ', item + item, '\n' + item + '\n');
  }
  while (out.length < n) out.push(string(random));
  return out;
}

/// Byte strings that are not UTF-8; no reference is defined for them, they must round-trip.
export function invalid_corpus(n, seed) {
  const random = random_source(seed);
  const out = [Buffer.from([0xe6, 0xad]), Buffer.from([0x61, 0xff, 0x62]), Buffer.from([0xc0, 0x80]),
               Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xf4, 0x90, 0x80, 0x80]), Buffer.from([0x80])];
  while (out.length < n) {
    const bytes = Buffer.from(string(random));
    for (let i = random.below(4) + 1; i > 0 && bytes.length > 0; --i) bytes[random.below(bytes.length)] = 0x80 + random.below(128);
    out.push(bytes.subarray(0, bytes.length - random.below(2)));
  }
  return out;
}

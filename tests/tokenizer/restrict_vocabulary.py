"""Cuts a GGUF vocabulary down to what the texts of a reference file can touch.

  restrict_vocabulary.py VOCAB.gguf TEXTS.inp OUT.json

Encoding only ever looks up substrings of the text, so tokens that are no substring of any text, and
merges that make one, cannot change an id. Ids stay as they are; the tests fill the gaps with empty
tokens. Control, byte and user-defined tokens are all kept. The vocabularies and texts are llama.cpp's
own tokenizer tests (MIT licence, see tests/data/vocab/LICENSE).
"""
import json, struct, sys

SEPARATOR = b"\n__ggml_vocab_test__\n"
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_metadata(path):
    data = open(path, "rb").read()
    pos = 0

    def scalar(code):
        nonlocal pos
        value = struct.unpack_from("<" + code, data, pos)[0]
        pos += struct.calcsize(code)
        return value

    def string():
        nonlocal pos
        n = scalar("Q")
        pos += n
        return data[pos - n:pos].decode()

    def value(kind):
        if kind == 8:
            return string()
        if kind == 9:
            inner, n = scalar("I"), scalar("Q")
            return [value(inner) for _ in range(n)]
        return scalar(SCALARS[kind])

    assert data[:4] == b"GGUF"
    pos = 4
    scalar("I"), scalar("Q")
    metadata = {}
    for _ in range(scalar("Q")):
        key = string()
        metadata[key] = value(scalar("I"))
    return metadata


def byte_alphabet():
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in keep]
    return {**{chr(b): b for b in keep}, **{chr(256 + i): b for i, b in enumerate(rest)}}


def main(vocab, texts, out):
    m = read_metadata(vocab)
    parts = open(texts, "rb").read().split(SEPARATOR)
    haystack = b"\0".join(b" " + p for p in parts)
    alphabet = byte_alphabet()
    byte_level = m["tokenizer.ggml.model"] == "gpt2"

    def spelled(token):
        if byte_level:
            if any(c not in alphabet for c in token):
                return token.encode()
            return bytes(alphabet[c] for c in token)
        return token.replace("\u2581", " ").encode()

    tokens = m["tokenizer.ggml.tokens"]
    types = m.get("tokenizer.ggml.token_type", [1] * len(tokens))
    scores = m.get("tokenizer.ggml.scores", [0.0] * len(tokens))
    kept = [[i, t, types[i], scores[i]] for i, t in enumerate(tokens)
            if types[i] != 1 and types[i] != 5 or spelled(t) in haystack]
    merges = [x for x in m.get("tokenizer.ggml.merges", [])
              if spelled(x.replace(" ", "") if byte_level else "".join(x.split(" ", 1))) in haystack]
    small = {k: v for k, v in m.items() if not isinstance(v, list) and k.startswith(("tokenizer.ggml.", "general.name"))}
    with open(out, "w") as f:
        f.write('{"n_tokens": %d,\n "metadata": %s,\n "tokens": [\n' % (len(tokens), json.dumps(small)))
        f.write(",\n".join(json.dumps(k, ensure_ascii=False) for k in kept))
        f.write('\n],\n "merges": [\n')
        f.write(",\n".join(json.dumps(x, ensure_ascii=False) for x in merges))
        f.write("\n]}\n")
    print(out, len(kept), "tokens", len(merges), "merges")


if __name__ == "__main__":
    main(*sys.argv[1:])

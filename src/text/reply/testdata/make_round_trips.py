#!/usr/bin/env python3
"""Writes round_trips.json: what real chat templates print for assistant messages, and the message.

Needs Debian's python3-jinja2, a folder of chat templates, and the demo model's:
  /usr/bin/python3 make_round_trips.py FOLDER models/demo/chat_template.jinja > round_trips.json
The environment is the one of Hugging Face transformers (sandbox, trim and lstrip, loop controls, the
generation tag, tojson without ASCII escapes). A template that refuses a message is left out for it.
"""

import json
import os
import re
import sys

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

# What ends a turn; the engine stops at these tokens and never prints them.
TURN_ENDS = ["<|im_end|>", "<EOS>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>",
             "<|call|>", "<end_of_turn>", "<turn|>", "<seed:eos>", "<|END_OF_TURN_TOKEN|>",
             "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "<|message_sep|>", "<SPECIAL_12>", "<sep>",
             "<｜end▁of▁sentence｜>", "<|end_of_text|>", "<|assistant_end|>", "<end_of_sentence>",
             "<|end_of_msg|>", "<|eot|>", "</assistant>", "<｜hy_eos:opensource｜>"]
FIRST_ENDS = ["<EOS>", "<|eot_id|>", "<SPECIAL_12>", "<｜end▁of▁sentence｜>", "<|im_end|>"]

TOOLS = [{"type": "function", "function": {
    "name": name, "description": "d",
    "parameters": {"type": "object", "required": ["city"], "additionalProperties": False,
                   "properties": {"city": {"type": "string", "description": "c"},
                                  "days": {"type": "integer", "description": "n"},
                                  "options": {"type": "object", "description": "o",
                                              "additionalProperties": {"type": "string"}}}}}}
    for name in ("get_weather", "find_place", "stop")]

NESTED = {"city": "서울 \"강남\"", "days": 3,
          "options": {"list": [1, 2.5, None, True], "text": "first\nsecond", "empty": {}}}
CALLS = {
    "one": [("get_weather", {"city": "Paris", "days": -2})],
    "nested": [("get_weather", NESTED)],
    "two": [("get_weather", NESTED), ("find_place", {"city": "대전광역시 유성구"})],
    "numeric_string": [("find_place", {"city": "305"})],
    "no_arguments": [("stop", {})],
    "none": [],
}


PARTS = [("Sure.", "I should look."), ("", "I should look."), ("Sure.", ""), ("", "")]


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])

    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = lambda x, ensure_ascii=False, indent=None, separators=None, \
        sort_keys=False: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent,
                                    separators=separators, sort_keys=sort_keys)
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = lambda form: "2025-01-02"
    return env


def message(calls, content, reasoning, as_text):
    def arguments(a):
        return json.dumps(a, ensure_ascii=False) if as_text else a
    out = {"role": "assistant", "content": content}
    if calls:
        out["tool_calls"] = [{"id": f"callid{i:03d}", "type": "function",
                              "function": {"name": name, "arguments": arguments(a)}}
                             for i, (name, a) in enumerate(calls)]
    if reasoning:
        out.update(reasoning_content=reasoning, thinking=reasoning, reasoning=reasoning)
    return out


def strip_end(text):
    for end in FIRST_ENDS:
        text = text.split(end)[0]
    if "<|SYSTEM_TOKEN|>Write 'Action:'" in text:  # Command R+ repeats its instructions last
        text = text.split("<|CHATBOT_TOKEN|>")[1].split("<|START_OF_TURN_TOKEN|>")[0]
    text = text.rstrip()
    while any(text.endswith(end) for end in TURN_ENDS):
        end = max((e for e in TURN_ENDS if text.endswith(e)), key=len)
        text = text[:len(text) - len(end)].rstrip()
    return text


def render(template, calls, content, reasoning):
    user = {"role": "user", "content": "Weather?"}
    settings = dict(functions=json.dumps(TOOLS), datetime="2025-01-02",
                    bos_token="<BOS>", eos_token="<EOS>", enable_thinking=True)
    error = None
    for as_text, tools in ((False, TOOLS), (True, TOOLS), (False, None), (True, None)):
        try:
            settings["tools"] = tools
            reply = message(calls, content, reasoning, as_text)
            full = template.render(messages=[user, reply], add_generation_prompt=False, **settings)
            prompt = template.render(messages=[user], add_generation_prompt=True, **settings)
            break
        except Exception as e:  # refused: another form, or not at all
            error = error or e
    else:
        raise error
    if full.startswith(prompt):
        return prompt[-60:], strip_end(full[len(prompt):])
    # The template prints no reasoning where its prompt opens some: the reply closes it at once, or
    # the prompt without that opening is taken.
    common = os.path.commonprefix([full, prompt])
    if ">" not in common[common.rfind("<"):]:  # not in the middle of a marker
        common = common[:common.rfind("<")]
    text = strip_end(full[len(common):])
    opens = text.startswith("</think>") or "[BEGIN FINAL RESPONSE]" in text
    return (prompt if opens else common)[-60:], text


def expected(template, kind, prompt, text, calls, content, reasoning):
    """A part that the template does not print cannot come back."""
    printed = [dict(name=n, arguments=a) for n, a in calls if n in text]
    if "gpt-oss" in template and calls and content:  # printed in the analysis channel
        content, reasoning = "", content
    return dict(template=template, kind=kind, prompt=prompt, text=text,
                content=content if content in text else "",
                reasoning=reasoning if reasoning in text else "", calls=printed)


def excerpt(source):
    """The words of a template that look like markers or could be taken for one, in their order."""
    words = re.findall(r"<[^<>\s'\"]{1,40}>|\[/?[A-Z_ ]{3,24}\]|｜[A-Z]+｜|<[a-z]+=|atem:|call:|>>>"
                       r"|functools\[?|SmolLM|:opensource|<tool_sep|function call",
                       source)
    return " ".join(dict.fromkeys(words))


def main():
    cases, refused, templates = [], [], []
    folder, demo = sys.argv[1:]
    files = [(f.removesuffix(".jinja"), os.path.join(folder, f)) for f in os.listdir(folder)]
    for name, path in sorted(files) + [("demo", demo)]:
        if name == "MiniMax-M3":
            continue  # prints neither nulls nor empty objects
        try:
            with open(path, encoding="utf-8") as f:
                source = f.read()
            templates.append(dict(name=name, excerpt=excerpt(source)))
            template = environment().from_string(source)
        except jinja2.TemplateError as e:
            refused.append((name, "all", str(e)))
            continue
        for kind, calls in CALLS.items():
            for content, reasoning in PARTS if kind in ("one", "none") else PARTS[1:2]:
                if not calls and not content:
                    continue
                if name == "NVIDIA-Nemotron-Nano-v2" and content:
                    continue  # prints content inside the reasoning block that it leaves open
                try:
                    prompt, text = render(template, calls, content, reasoning)
                except Exception as e:
                    refused.append((name, kind, str(e)[:60]))
                    continue
                cases.append(expected(name, kind, prompt, text, calls, content, reasoning))
    for row in refused:
        print("refused:", *row, file=sys.stderr)
    lists = dict(templates=templates, cases=cases)
    for key, rows in lists.items():
        lists[key] = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    print('{"templates": [\n%(templates)s\n],\n"cases": [\n%(cases)s\n]}' % lists)


main()

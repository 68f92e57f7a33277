"""The reference renderer: Jinja2 set up as Hugging Face transformers sets it up.

Run with /usr/bin/python3 (Debian's python3-jinja2).
"""

import copy
import functools
import json

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment


class GenerationTag(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %}: what the assistant wrote, printed as it is."""

    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_print_body")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(lineno)

    def _print_body(self, caller):
        return caller()


class Refusal(jinja2.exceptions.TemplateError):
    """Raised by raise_exception, so that refusals can be told from errors in the template."""


def raise_exception(message):
    raise Refusal(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def make_environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True,
        extensions=[GenerationTag, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    return env


@functools.lru_cache(maxsize=8)
def compiled(source):
    return make_environment().from_string(source)


def render(source, variables):
    """{"text": ...}, or {"error": ..., "refused": ...} with the exception's text."""
    variables = copy.deepcopy(variables)  # Jinja2's own filters can change lists (indent)
    now = variables.pop("strftime_now", None)
    try:
        return {"text": compiled(source).render(**variables, strftime_now=lambda format: now)}
    except Refusal as e:
        return {"error": str(e), "refused": True}
    except jinja2.exceptions.TemplateSyntaxError as e:
        return {"error": e.message, "refused": False, "type": type(e).__name__}
    except Exception as e:  # whatever Python raises is what a template author would see
        return {"error": str(e), "refused": False, "type": type(e).__name__}

"""Writes unicode_tables.inc: what Python's str knows of each code point.

Command: /usr/bin/python3 make_unicode_tables.py > unicode_tables.inc
The engine follows Jinja2 on Python, so the tables are read out of Python itself (Unicode version
in the first line of the output) instead of out of the Unicode data files.
"""

import sys
import unicodedata

FLAGS = ["alpha", "decimal", "digit", "numeric", "space", "upper", "lower", "title", "printable",
         "cased", "ignorable", "id_start", "id_continue"]


def flags(c):
    final_after = (c + "\u03a3").lower()[-1] == "\u03c2"
    final_through = ("A" + c + "\u03a3").lower()[-1] == "\u03c2"
    known = [c.isalpha(), c.isdecimal(), c.isdigit(), c.isnumeric(), c.isspace(), c.isupper(),
             c.islower(), unicodedata.category(c) == "Lt", c.isprintable(), final_after,
             final_through and not final_after, c.isidentifier(), ("a" + c).isidentifier()]
    return sum(1 << i for i, on in enumerate(known) if on)


def mapping(name, pairs):
    print(f"constexpr CaseMapping k{name}[] = {{")
    for source, target in pairs:
        codes = [ord(x) for x in target] + [0, 0]
        print("    {0x%X, {0x%X, 0x%X, 0x%X}}," % (ord(source), *codes[:3]))
    print("};")


def main():
    code_points = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i <= 0xDFFF]
    print(f"// Unicode {unicodedata.unidata_version}, from Python {sys.version.split()[0]} by"
          " make_unicode_tables.py. Do not edit.")
    for i, name in enumerate(FLAGS):
        camel = "".join(word.capitalize() for word in name.split("_"))
        print(f"constexpr uint16_t kIs{camel} = {1 << i};")
    print("constexpr FlagRun kFlagRuns[] = {")
    previous = None
    for c in code_points:
        if (now := flags(c)) != previous:
            print("    {0x%X, %d}," % (ord(c), now))
            previous = now
    print("};")
    mapping("Upper", [(c, c.upper()) for c in code_points if c.upper() != c])
    mapping("Lower", [(c, c.lower()) for c in code_points if c.lower() != c])
    mapping("TitleNotUpper", [(c, c.title()) for c in code_points if c.title() != c.upper()])
    mapping("FoldNotLower", [(c, c.casefold()) for c in code_points if c.casefold() != c.lower()])


main()

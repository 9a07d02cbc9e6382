#!/usr/bin/env python3
"""No two random draws stand in one expression without a sequence point between them.

C leaves open in which order the arguments of a call, the elements of an initialiser and the
operands of most operators are evaluated. Where two of them draw, one seed is another case with
another compiler. Compilers do not warn, so this looks at the source.

A draw is a call of leat_random_* or of a function that draws from a state that it does not own:
one that came in as a parameter, or lies outside of the function. Such functions are found by
scanning, the static ones of a file for that file and those who include it.

usage: random_order.py [FILE...]    without files: all of git, and a test of itself first
"""
import os
import re
import subprocess
import sys

ROOTS = {"leat_random_splitmix", "leat_random_next", "leat_random_below", "leat_random_fill"}
# Generators that a specification gives, by the file that has them (spec/atm.md, 8).
OTHER_ROOTS = {"sim/atm/load/sim_atm_check_load.c": {"draw"}}
# Macros of test/tap.h that evaluate each argument in a full expression of its own.
SEQUENCED_MACROS = {"EQ", "OK"}
CONTROL = {"if", "while", "switch", "for"}
UNEVALUATED = {"sizeof", "_Alignof", "typeof", "__typeof__", "offsetof"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
CLOSING = {"(": ")", "[": "]", "{": "}"}

TOKEN = re.compile(r"""
      (?P<skip>\s+|//[^\n]*|/\*.*?\*/|\\\n)
    | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
    | (?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<word>[A-Za-z_]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)
    """, re.X | re.S | re.M)


class Token:
    """A word, a number, a literal or a sign; a bracket holds what it encloses in `inner`."""

    def __init__(self, kind, text, line):
        self.kind, self.text, self.line, self.inner = kind, text, line, None

    def is_word(self):
        return self.kind == "word"


def scan(text, first_line=1):
    """The tokens of a source, brackets nested, and its directives as (line, text)."""
    directives = []
    stack = [("", [])]
    line = first_line
    for match in TOKEN.finditer(text):
        kind, piece = match.lastgroup, match.group()
        if kind == "directive":
            directives.append((line, piece))
        elif piece in CLOSING:
            token = Token("sign", piece, line)
            token.inner = []
            stack[-1][1].append(token)
            stack.append((CLOSING[piece], token.inner))
        elif kind == "sign" and piece in ")]}":
            if len(stack) > 1 and stack[-1][0] == piece:
                stack.pop()
        elif kind != "skip":
            stack[-1][1].append(Token(kind, piece, line))
        line += piece.count("\n")
    return stack[0][1], directives


def split(tokens, signs):
    parts = [[]]
    for token in tokens:
        if token.kind == "sign" and token.inner is None and token.text in signs:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


class Function:
    def __init__(self, name, parameters, body, is_static):
        self.name, self.parameters, self.body, self.is_static = name, parameters, body, is_static


class Source:
    def __init__(self, path, text):
        self.path = path
        self.tokens, directives = scan(text)
        self.includes = []
        self.macros = []    # (name, tokens of the body)
        self.functions = []
        for line, directive in directives:
            include = re.match(r'\s*#\s*include\s+"([^"]+)"', directive)
            define = re.match(r"\s*#\s*define\s+(\w+)\(([^)]*)\)", directive)
            if include:
                self.includes.append(os.path.basename(include.group(1)))
            elif define:
                body, _ = scan(directive[define.end():], line)
                self.macros.append((define.group(1), body))
        self.find_functions()

    def find_functions(self):
        start = 0
        tokens = self.tokens
        for i, token in enumerate(tokens):
            if token.text == ";" and token.kind == "sign":
                start = i + 1
            elif token.text == "{" and token.inner is not None:
                if i >= 2 and tokens[i - 1].text == "(" and tokens[i - 2].is_word():
                    head = tokens[start:i - 2]
                    self.functions.append(Function(
                        tokens[i - 2].text, tokens[i - 1].inner, token.inner,
                        any(t.text == "static" for t in head)))
                    start = i + 1


def calls(tokens):
    """Every (name, arguments) in a nest of tokens."""
    for i, token in enumerate(tokens):
        if token.inner is None:
            continue
        if token.text == "(" and i and tokens[i - 1].is_word():
            yield tokens[i - 1].text, token.inner
        yield from calls(token.inner)


def declared_objects(tokens, found):
    """Names of a body that are declared as objects, not as pointers: such a state is its own."""
    for statement in split(tokens, {";"}):
        for token in statement:
            if token.inner is not None:
                declared_objects(token.inner, found)
        while statement and statement[0].inner is not None:     # behind a block or a condition
            statement = statement[1:]
        for declarator in split(statement, {","}) if is_declaration(statement) else []:
            names = []
            for token in declarator:
                if token.text == "=" or token.inner is not None:
                    break
                names.append(token)
            if names and names[-1].is_word() and (len(names) == 1 or names[-2].text != "*"):
                found.add(names[-1].text)
    return found


def is_declaration(statement):
    return len(statement) > 1 and statement[0].is_word() and statement[1].is_word() and (
        statement[0].text not in ("return", "else", "goto", "case", "do"))


def by_value(parameters):
    return {p[-1].text for p in split(parameters, {","})
            if p and p[-1].is_word() and not any(t.text == "*" for t in p)}


def draws_from_elsewhere(function, drawing):
    own = None
    for name, arguments in calls(function.body):
        if name not in drawing or name == function.name:
            continue
        if own is None:
            own = declared_objects(function.body, by_value(function.parameters))
        first = split(arguments, {","})[0]
        words = [t.text for t in first if t.is_word()]
        is_own = bool(words) and words[0] in own and not any(t.text == "->" for t in first)
        if not is_own:
            return True
    return False


class Tree:
    """All sources: what draws where, and the places that leave an order open."""

    def __init__(self, sources):
        self.sources = sources
        self.by_name = {}
        for source in sources:
            self.by_name.setdefault(os.path.basename(source.path), []).append(source)
        self.public = set(ROOTS)
        self.local = {source.path: set(OTHER_ROOTS.get(source.path, ())) for source in sources}
        self.visible = {source.path: self.seen_from(source) for source in sources}
        while self.grow():
            pass

    def seen_from(self, source):
        seen, todo = [], [source]
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.append(at)
            for name in at.includes:
                # A name that several folders hold: the own folder's, as the compiler takes it.
                near = [s for s in self.by_name.get(name, []) if
                        os.path.dirname(s.path) == os.path.dirname(at.path)]
                todo += near or self.by_name.get(name, [])
        return seen

    def drawing(self, source):
        names = set(self.public)
        for seen in self.visible[source.path]:
            names |= self.local[seen.path]
        # A function of the file's own hides a public one of the same name.
        for function in source.functions:
            if function.name not in self.local[source.path] and function.is_static:
                names.discard(function.name)
        return names

    def grow(self):
        grown = False
        for source in self.sources:
            drawing = self.drawing(source)
            for function in source.functions:
                where = self.local[source.path] if function.is_static else self.public
                if function.name not in where and draws_from_elsewhere(function, drawing):
                    where.add(function.name)
                    grown = True
            for name, body in self.macros_of(source):
                if name not in drawing and any(n in drawing for n, _ in calls(body)):
                    self.local[source.path].add(name)
                    grown = True
        return grown

    @staticmethod
    def macros_of(source):
        return [m for m in source.macros if m[0] not in SEQUENCED_MACROS]

    def findings(self, source):
        checker = Checker(self.drawing(source))
        for function in source.functions:
            checker.block(function.body)
        for _, body in self.macros_of(source):
            checker.block(body)
        return checker.found


class Checker:
    """Walks full expressions; every method returns the draws that its tokens make."""

    def __init__(self, drawing):
        self.drawing, self.found = drawing, []

    def together(self, parts):
        """Parts in no order: at most one may draw."""
        parts = [p for p in parts if p]
        if len(parts) > 1:
            self.found.append(sorted({d for p in parts for d in p}))
        return [d for p in parts for d in p]

    @staticmethod
    def in_order(parts):
        return [d for p in parts for d in p]

    def block(self, tokens):
        statement = []
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if token.is_word() and token.text in CONTROL and not statement:
                if i + 1 < len(tokens) and tokens[i + 1].text == "(":
                    for part in split(tokens[i + 1].inner, {";"}):
                        self.commas(part)
                    i += 1
            elif token.is_word() and token.text in ("else", "do") and not statement:
                pass
            elif token.text == "{" and token.inner is not None and not statement:
                self.block(token.inner)
            elif token.text == ";" and token.kind == "sign":
                self.commas(statement)
                statement = []
            elif token.text == ":" and token.kind == "sign" and self.is_label(statement):
                statement = []
            else:
                statement.append(token)
            i += 1
        self.commas(statement)

    @staticmethod
    def is_label(statement):
        return bool(statement) and (statement[0].text in ("case", "default") or
                                    len(statement) == 1 and statement[0].is_word())

    def commas(self, tokens):
        """Operands of the comma operator, or declarators: in order."""
        return self.in_order([self.assignment(p) for p in split(tokens, {","})])

    def assignment(self, tokens):
        return self.together([self.choice(p) for p in split(tokens, ASSIGNMENTS)])

    def choice(self, tokens):
        return self.in_order([self.operands(p) for p in split(tokens, {"?", ":", "&&", "||"})])

    def operands(self, tokens):
        parts = []
        for i, token in enumerate(tokens):
            if token.inner is None:
                continue
            before = tokens[i - 1] if i else None
            if token.text == "{":
                parts.append(self.together([self.assignment(p) for p in split(token.inner, {","})]))
            elif token.text == "[":
                parts.append(self.commas(token.inner))
            elif token.inner and token.inner[0].text == "{" and token.inner[0].inner is not None:
                self.block(token.inner[0].inner)    # ({ ... })
            elif before is not None and before.is_word() and before.text != "return":
                parts.append(self.call(before, token.inner))
            elif before is not None and before.inner is not None:   # by a pointer: (*f)(a, b)
                parts.append(self.together([self.assignment(p) for p in split(token.inner, {","})]))
            else:
                parts.append(self.commas(token.inner))
        return self.together(parts)

    def call(self, name, arguments):
        if name.text in UNEVALUATED:
            return []
        each = [self.assignment(p) for p in split(arguments, {","})]
        inner = self.in_order(each) if name.text in SEQUENCED_MACROS else self.together(each)
        if name.text not in self.drawing:
            return inner
        return [(name.line, name.text)]     # what draws for an argument has drawn before


def check(texts):
    """The findings of sources given as {path: text}: a list of (path, [(line, name)...])."""
    tree = Tree([Source(path, text) for path, text in texts.items()])
    return [(s.path, draws) for s in tree.sources for draws in tree.findings(s)]


HEAD = """
static unsigned pick(struct leat_random *r) { return (unsigned)leat_random_below(r, 5); }
static uint64_t spread(uint64_t word) { return leat_random_splitmix(&word); }
struct world { struct leat_random random; };
static unsigned turn(struct world *w) { return pick(&w->random) + 1; }
static unsigned whole(uint64_t seed)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    const unsigned once = pick(&r);
    return once;
}
#define SPOT(r) (pick(r) + 1)
static void f(struct world *w)
{
    struct leat_random *r = &w->random;
"""
BAD = [
    "g(leat_random_next(r), leat_random_next(r));",
    "g(turn(w), pick(r));",
    "const struct point p = { .x = pick(r), .y = pick(r) };",
    "const struct point p[2] = { { pick(r) }, { pick(r) } };",
    "*p = (struct point){ pick(r), pick(r) };",
    "x = pick(r) + pick(r);",
    "x[pick(r)] = pick(r);",
    "x[pick(r)] = y && pick(r);",
    "if (pick(r) == pick(r)) g();",
    "for (i = pick(r); i < pick(r) * pick(r); i++) g();",
    "return g((pick(r), 1), 2 * pick(r));",
    "g(y ? pick(r) : 0, pick(r));",
    "x = SPOT(r) - SPOT(r);",
    "(*g)(pick(r), pick(r));",
    "s->g[1](pick(r), pick(r));",
    "case 3: x = pick(r) << pick(r);",
    "pick(r) ? g(pick(r), pick(r)) : 0;",
    "OK(pick(r) != pick(r));",
]
GOOD = [
    "const unsigned x = pick(r), y = pick(r);",
    "x = pick(r); y = pick(r);",
    "if (pick(r) && pick(r)) x = pick(r) ? pick(r) : pick(r);",
    "x = leat_random_below(r, 1 + pick(r));",
    "for (i = pick(r); i < pick(r); i += pick(r)) x = pick(r);",
    "x = whole(1) + whole(2);",
    "x = (pick(r), pick(r));",
    "x = spread(1) + spread(2);",
    "EQ(pick(r), pick(r));",
    "g(pick(r), sizeof(pick(r)));",
    "g(pick(r), \"pick(r)\" /* pick(r) */, 'p');",
    "if (x) pick(r); else pick(r);",
]


def test_of_itself():
    for snippets, wanted in (BAD, True), (GOOD, False):
        for snippet in snippets:
            found = check({"snippet_test.c": HEAD + snippet + "\n}\n"})
            if bool(found) != wanted:
                sys.exit("random_order.py: %s: %s" % ("not found" if wanted else found, snippet))
    # A static wrapper of a header draws for those who include it, and for no one else.
    header = "static inline unsigned own(struct leat_random *r) { return leat_random_next(r); }"
    use = "static void f(struct leat_random *r) { g(own(r), own(r)); }"
    for include, wanted in ('#include "h_test.h"\n', 1), ("", 0):
        if len(check({"a/h_test.h": header, "a/c_test.c": include + use})) != wanted:
            sys.exit("random_order.py: wrappers of headers")


def main(paths):
    if not paths:
        test_of_itself()
        paths = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
                               check=True, capture_output=True, text=True).stdout.split()
    texts = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    found = check(texts)
    for path, draws in found:
        print("%s:%d: draws in no order: %s; give each a statement of its own" %
              (path, draws[0][0], ", ".join("%s (line %d)" % (n, l) for l, n in draws)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

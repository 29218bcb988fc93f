"""Inputs made from a corpus by mutation, and from grammars that try to get out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

CORPUS = Path(__file__).parent / "corpus"
WORDS = (
    b"\0", b"\x1b[2J", b"'", b'"', b"`", b"\\", b"\n", b"\r\n", b"\xff", b"\xef\xbb\xbf", b",",
    b"\t", b"=", b"-1", b"1e999", b"nan", b"9" * 50, b"(", b")" * 30, b"[" * 30, b"{", b"}", b"~",
    b";", b"not ", b"->", b"NaN", b"true", b"1979-05-27", b"\xe2\x80\xae", b"\xed\xa0\x80", b"",
)  # fmt: skip


def lines(name: str) -> list[str]:
    """Return the lines of a file of the corpus."""
    return (CORPUS / name).read_text(encoding="utf-8").splitlines()


def mutated(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """Change a few places of some bytes."""
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((0, 1, 2, 10, 100)))
        match rng.randrange(6):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:at] + rng.choice(WORDS) + data[to:]
            case 3:
                data = data[:to] + data[at:to] * rng.choice((1, 2, 30)) + data[to:]
            case 4:
                data = data[:at] if rng.random() < 0.3 else data[at:]
            case _:
                other = rng.choice(others) if others else data
                cut = rng.randrange(len(other) + 1)
                data = data[:at] + other[cut : cut + 50] + data[at:]
    return data


def texts(corpus: Sequence[str], rng: Random, made: "Iterator[str]") -> Iterator[str]:
    """Yield the corpus, then mutations of it and what a grammar makes, without end."""
    yield from corpus
    encoded = [text.encode() for text in corpus]
    while True:
        text = next(made)
        if rng.random() < 0.5:
            text = mutated(rng.choice(encoded), rng, encoded).decode("utf-8", "replace")
        elif rng.random() < 0.3:
            text = mutated(text.encode(), rng, encoded).decode("utf-8", "replace")
        yield text


CHAINS = (
    "pd.io.common.os.system", "np.lib.npyio.os.system", "os.system", "exec", "eval", "open",
    "__import__", "getattr", "length.__class__.__mro__", "pd.read_pickle", "np.load", "pd.eval",
    "Treatment", "Sum", "log.__self__", "builtins.exec", "self", "table", "formula", "items",
)  # fmt: skip
QUOTES = ("'", '"')
COMMAND = "touch made_by_a_formula"


def formulas(rng: Random) -> Iterator[str]:
    """Formulas that are nearly right, with ways out wherever something may stand."""
    calls = ("log", "I", "C", "S", "T", "bs", "poly", "center", "np.log", "exp", "offset", "hsgp")
    operators = (" + ", " * ", ":", "**", " - ", "/", " | ", "==", " < ", "~", "%", "//", ".", "=")

    def quoted() -> str:
        inside = rng.choice(("en", COMMAND, "", "x) + pd.io.common.os.system(", "`", "\\"))
        return rng.choice(QUOTES) + inside + rng.choice(QUOTES)

    def expression(depth: int) -> str:
        if depth <= 0 or rng.random() < 0.2:
            leaf = rng.choice(
                ("length", "language", "`length`", "1", "0", "2.5", "x", "`'`", '`"`')
            )
            return rng.choice((leaf, leaf, quoted(), rng.choice(CHAINS)))
        first = expression(depth - 1)
        match rng.randrange(8):
            case 0 | 1:
                return f"{first}{rng.choice(operators)}{expression(depth - 1)}"
            case 2 | 3:
                called = rng.choice(calls if rng.random() < 0.7 else CHAINS)
                more = rng.choice(("", f", {quoted()}", ", df=3", f", levels={first}", ", 3"))
                return f"{called}({first}{more})"
            case 4:
                return f"{rng.choice(CHAINS)}({rng.choice(QUOTES)}{COMMAND}{rng.choice(QUOTES)})"
            case 5:
                return rng.choice(("({})", "{{{}}}", "[{}]", "(1 | {})", "-{}", "`{}`")).format(
                    first
                )
            case 6:
                return f"{quoted()}{rng.choice(operators)}{first}{quoted()}"
        return f"I({quoted()}) + {rng.choice(CHAINS)}({quoted()})"

    while True:
        yield rng.choice(("~ ", "", "label ~ ")) + expression(rng.randrange(1, 6))


def python_values(rng: Random) -> Iterator[str]:
    """What might stand for a number in a prior: numbers, tables, and Python that acts."""

    def value(depth: int) -> str:
        if depth <= 0 or rng.random() < 0.3:
            return rng.choice(
                ("0", "1", "0.5", "-2", "1e999", "9" * 30, "'a'", "True", "None", "1j", "x", "...",
                 f"__import__('os').system('{COMMAND}')", f"exec('{COMMAND}')", "b''", "{}", "[]")
            )  # fmt: skip
        parts = [value(depth - 1) for _ in range(rng.randrange(1, 4))]
        return rng.choice(
            ("[{}]", "({})", "{{'a': {}}}", "[[{}], [1, 2]]", "lambda: {}", "f'{{{}}}'", "*{}",
             "{} if 1 else 2", "[{} for x in y]", "(x := {})", "-{}", "not {}", "{}.real", "{}()")
        ).format(", ".join(parts))  # fmt: skip

    names = ("Normal", "Beta", "HalfNormal", "Gamma", "Confusion", "Counts", "exec", "About", "x.y")
    while True:
        if rng.random() < 0.2:
            numbers = [rng.choice(("0", "1", "50", "99.9", "0.5", "1e9", "-1")) for _ in range(4)]
            yield "about {} %, {} % between {} and {}".format(*numbers)
            continue
        given = [value(rng.randrange(4)) for _ in range(rng.randrange(4))]
        named = [f"{rng.choice(('mu', 'sigma', 'counts', '**x'))}={v}" for v in given[:1]]
        yield f"{rng.choice(names)}({', '.join(given if rng.random() < 0.8 else named)})"


def rules(rng: Random) -> Iterator[str]:
    """Rules over the labels a, b and c, and what is none."""

    def rule(depth: int) -> str:
        if depth <= 0 or rng.random() < 0.25:
            return rng.choice(
                ("a", "b", "c == low", "c != 'mid'", '"a"', "d", "c", "a == yes", "a.b", "1", "''")
            )
        one, two = rule(depth - 1), rule(depth - 1)
        return rng.choice(
            ("{} -> {}", "{} and {}", "{} or {}", "not {}", "({})", "exactly_one({}, {})",
             "at_most_one({})", "exec({})", "{}({})", "{} == {}", "not not not {}")
        ).format(one, two)  # fmt: skip

    while True:
        yield rule(rng.randrange(1, 12))


def claims(rng: Random) -> Iterator[str]:
    """Claims, and what is none."""
    words = (
        "A", "B", '"system B"', "on", "of", "by", "within", ">", "<", ">=", "=", "0.03", "1e999",
        "ndcg_at_k", "prevalence[label=yes]", "*", "-1", "%", "(", "'", "\u2212.5", "\u0663", "[",
    )  # fmt: skip
    forms = ("{} > {} on {}", "{} > {} by {} on {}", "{} of {} < {}", "{} = {} within {} on {}")
    while True:
        if rng.random() < 0.5:
            yield rng.choice(forms).format(*(rng.choice(words) for _ in range(4)))
        else:
            yield " ".join(rng.choice(words) for _ in range(rng.randrange(1, 9)))


def tomls(rng: Random, keys: Sequence[str], tables: Sequence[str]) -> Iterator[str]:
    """TOML files with known keys and values of any type."""
    values = (
        "3", "-1", "1.5", "true", "'a'", "''", "['a', 'b']", "[]", "[3]", "[['a']]", "1979-05-27",
        "{a = 1}", "'a -> b'", "'not a'", "'hard'", "'block'", '"\\u0000"', '"\\u001b[2J"', "inf",
        "'Normal(0, 1)'", "[[8, 2], [1, 9]]", "9" * 30, "'" + "x" * 600 + "'", "'c == low'", "nan",
        f"'exec(\"{COMMAND}\")'",
    )  # fmt: skip
    while True:
        found = [f"{rng.choice(keys)} = {rng.choice(values)}" for _ in range(rng.randrange(3))]
        for _ in range(rng.randrange(1, 5)):
            found.append(rng.choice(tables))
            chosen = rng.sample(keys, rng.randrange(1, min(5, len(keys))))
            found += [f"{key} = {rng.choice(values)}" for key in chosen]
        yield "\n".join(dict.fromkeys(found) if rng.random() < 0.5 else found)

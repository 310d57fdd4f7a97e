"""The text form of filters.

    filter     = term { "or" term }
    term       = factor { "and" factor }
    factor     = [ "not" ] ( "(" filter ")" | comparison )
    comparison = property operator value
               | property [ "not" ] "in" "(" value { "," value } ")"
    operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "contains" | "like"
    value      = a word, or a text in quotes ('it''s' and "it's"), or null

Words are case-insensitive, values are not.
"""

import re
from typing import Final, NamedTuple

from .conditions import MAX_DEPTH, MAX_TERMS, OPERATORS, And, Comparison, Condition, Not, Or
from .errors import FilterError
from .properties import PROPERTIES
from .values import Value, read_value

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<symbol><=|>=|!=|==|[()=<>~,])
      | (?P<word>[^\s()=<>~,'"!]+)
    )""",
    re.VERBOSE,
)
_WORDS: Final = ("contains", "like")


class Token(NamedTuple):
    """A token of the text and its position."""

    text: str
    at: int
    quoted: bool = False

    @property
    def lower(self) -> str:
        """The word; empty for a text in quotes."""
        return "" if self.quoted else self.text.lower()


def parse_filter(text: str) -> Condition:
    """The condition in a text.

    Raises:
        FilterError: it is invalid; the error names the place.
    """
    parser = _Parser(_tokens(text), text)
    condition = parser.any_of(0)
    parser.end()
    return condition


class Term(NamedTuple):
    """A part of a filter that must hold, as it was written.

    property, operator, value: those of a single comparison; empty otherwise.
        property, operator, value: of a single comparison; empty otherwise.
    """

    text: str
    property: str = ""
    operator: str = ""
    value: str = ""


def filter_terms(text: str) -> list[Term]:
    """The parts of a filter that `and` joins; one with `or` between them is a single part.

    Raises:
        FilterError: it is not a valid filter.
    """
    parse_filter(text)
    return _Parser(_tokens(text), text).factors()


def _unreadable(text: str, at: int) -> FilterError:
    """The error at a place, after blanks."""
    rest = text[at:].lstrip()
    character = len(text) - len(rest) + 1
    if rest[0] in "'\"":
        return FilterError(
            f"the quotation mark {rest[0]} at character {character} is not closed",
            f"End the text with {rest[0]}; a mark inside it is written twice.",
        )
    return FilterError(f"{rest[:20]!r} at character {character} cannot be read")


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise _unreadable(stripped, at)
        quoted = match["quoted"]
        if quoted:
            mark = quoted[0]
            found.append(Token(quoted[1:-1].replace(mark * 2, mark), match.start("quoted"), True))
        else:
            piece = match["symbol"] or match["word"]
            found.append(Token("=" if piece == "==" else piece, match.end() - len(piece)))
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[Token], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._at = 0
        self._terms = 0

    def _peek(self) -> str:
        return self._tokens[self._at].lower if self._at < len(self._tokens) else ""

    def _next(self, wanted: str) -> Token:
        if self._at >= len(self._tokens):
            raise FilterError(f"the filter ends where {wanted} is missing: {self._text!r}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, symbol: str) -> None:
        token = self._next(repr(symbol))
        if token.lower != symbol:
            raise FilterError(f"{token.text!r} at character {token.at + 1} must be {symbol!r}")

    def end(self) -> None:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            raise FilterError(
                f"{token.text!r} at character {token.at + 1} must be and, or, or the end",
                "Put a text with blanks into quotes.",
            )

    def any_of(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise FilterError(f"a filter is up to {MAX_DEPTH} deep")
        terms = [self._all_of(depth)]
        while self._peek() == "or":
            self._at += 1
            terms.append(self._all_of(depth))
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def _all_of(self, depth: int) -> Condition:
        terms = [self._factor(depth)]
        while self._peek() == "and":
            self._at += 1
            terms.append(self._factor(depth))
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def factors(self) -> list[Term]:
        """The factors of a filter without `or`, else the whole filter; it was parsed before."""
        terms: list[Term] = []
        while True:
            first = self._at
            self._factor(0)
            terms.append(self._term(first))
            if self._peek() != "and":
                break
            self._at += 1
        return terms if not self._peek() else [Term(self._text.strip())]

    def _term(self, first: int) -> Term:
        """The text from a token to here."""
        tokens = self._tokens[first : self._at]
        end = len(self._text)
        if self._at < len(self._tokens):
            end = self._tokens[self._at].at
        text = self._text[tokens[0].at : end].strip()
        if len(tokens) == 3:
            name, operator, value = tokens
            return Term(text, name.lower, operator.lower, value.text)
        return Term(text)

    def _factor(self, depth: int) -> Condition:
        if self._peek() == "not":
            self._at += 1
            if depth > MAX_DEPTH:
                raise FilterError(f"a filter is up to {MAX_DEPTH} deep")
            return Not(self._factor(depth + 1))
        if self._peek() == "(":
            self._at += 1
            condition = self.any_of(depth + 1)
            self._expect(")")
            return condition
        return self._comparison()

    def _comparison(self) -> Condition:
        self._terms += 1
        if self._terms > MAX_TERMS:
            raise FilterError(f"a filter has up to {MAX_TERMS} terms")
        name = self._next("a property").text.lower()
        if name not in PROPERTIES:
            # Raises with the list of properties.
            Comparison(name, "=", None)
        token = self._next("an operator")
        if token.lower in ("in", "not"):
            return self._membership(name, token)
        operator = token.lower
        if operator not in OPERATORS:
            raise FilterError(
                f"{token.text!r} at character {token.at + 1} must be one of "
                f"{', '.join(OPERATORS)}, in"
            )
        return Comparison(name, operator, self._value(name))

    def _membership(self, name: str, token: Token) -> Condition:
        negated = token.lower == "not"
        if negated:
            self._expect("in")
        self._expect("(")
        values = [self._value(name)]
        while self._peek() == ",":
            self._at += 1
            values.append(self._value(name))
        self._expect(")")
        condition: Condition = Or(tuple(Comparison(name, "=", value) for value in values))
        return Not(condition) if negated else condition

    def _value(self, name: str) -> Value:
        token = self._next(f"the value of {name}")
        if token.lower == "null":
            return None
        if not token.quoted and token.text in ("(", ")", "=", "<", ">", "~", ","):
            raise FilterError(f"{token.text!r} at character {token.at + 1} must be a value")
        return read_value(name, PROPERTIES[name].kind, token.text)

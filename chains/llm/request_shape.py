"""The shape of a server's requests, and the table that finds it from what the server refuses.

OpenAI-compatible servers differ: one takes `max_tokens`, another `max_completion_tokens`; one knows
no system role, another no field that it has not heard of. What a server takes is in no list, but
its refusal says it. `propose_shape` reads a refusal and returns the shape to try next.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self, get_args

__all__ = [
    "USUAL_SHAPE",
    "Form",
    "RequestShape",
    "find_refused_fields",
    "propose_shape",
    "read_refusal",
]

Form = Literal[
    "max_completion_tokens",
    "system_in_user",
    "text_only",
    "note_in_result",
    "calls_as_text",
    "thinking_returned",
    "all_thinking_returned",
]
# What the user reads about each form.
_FORM_TEXTS: Final[Mapping[str, str]] = {
    "max_completion_tokens": "max_completion_tokens in place of max_tokens",
    "system_in_user": "instructions in the user message",
    "text_only": "messages as plain text",
    "note_in_result": "roles that alternate",
    "calls_as_text": "earlier tool calls as text",
    "thinking_returned": "thinking sent back with tool calls",
    "all_thinking_returned": "thinking sent back with every answer",
}
# The fields that a request can do without, each with the names that refusals give it.
_FIELD_NAMES: Final[Mapping[str, str]] = {
    "temperature": r"temperature",
    "max_tokens": r"max_tokens",
    "max_completion_tokens": r"max_completion_tokens",
    "stream_options": r"stream_options|include_usage",
    "cache_control": r"cache_control",
    "parallel_tool_calls": r"parallel_tool_calls",
    "tools": r"tools|functions|(?:tool|function)_(?:calling|usage)",
    "reasoning_effort": r"reasoning_effort|reasoning|thinking",
    "reasoning_content": r"reasoning_content",
    "thinking_blocks": r"thinking_blocks",
    "num_ctx": r"num_ctx",
}
OMITTABLE: Final = frozenset(_FIELD_NAMES)
MOST_REFUSAL_CHARS: Final = 2_000
# No model has an output limit outside of these: a smaller number in a refusal means something else.
LEAST_OUTPUT_TOKENS: Final = 128
MOST_OUTPUT_TOKENS: Final = 10_000_000
MOST_LIMIT_DIGITS: Final = 10  # Python refuses to read a number of some thousand digits
MOST_LIMITS_TRIED: Final = 3


@dataclass(frozen=True)
class RequestShape:
    """How the requests to a model differ from the usual ones.

    Attributes:
        omitted: the fields that are left out.
        forms: what is written in another form.
        output_limit: the most tokens that an answer may be allowed, or None if no limit is known.
    """

    omitted: frozenset[str] = frozenset()
    forms: frozenset[Form] = frozenset()
    output_limit: int | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """What differs, in words for the user, such as "no temperature"."""
        named = (text for form, text in _FORM_TEXTS.items() if form in self.forms)
        limit = () if self.output_limit is None else (f"at most {self.output_limit:,} tokens out",)
        return (*(f"no {name}" for name in sorted(self.omitted)), *named, *limit)

    @property
    def splits_calls(self) -> bool:
        """Whether each message may have one tool call only."""
        return "parallel_tool_calls" in self.omitted

    @property
    def offers_tools(self) -> bool:
        """Whether requests may offer tools."""
        return "tools" not in self.omitted

    def omits(self, field: str) -> bool:
        """Return whether requests leave out a field."""
        return field in self.omitted

    def has(self, form: Form) -> bool:
        """Return whether requests use a form."""
        return form in self.forms

    def without_fields(self, fields: Collection[str]) -> "RequestShape":
        """Return a copy that leaves out more fields."""
        return replace(self, omitted=self.omitted | set(fields))

    def with_form(self, form: Form) -> "RequestShape":
        """Return a copy with one more form."""
        return replace(self, forms=self.forms | {form})

    def with_output_limit(self, tokens: int) -> "RequestShape":
        """Return a copy that allows an answer no more tokens than this."""
        return replace(self, output_limit=tokens)

    def limit_output(self, max_tokens: int) -> int:
        """Return the tokens to allow an answer, of those that the settings allow."""
        return max_tokens if self.output_limit is None else min(max_tokens, self.output_limit)

    def describe_change(self, earlier: "RequestShape") -> str:
        """Return what differs from an earlier shape, in words for the user."""
        return ", ".join(text for text in self.texts if text not in earlier.texts)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the shape as a JSON object."""
        limits = [] if self.output_limit is None else [str(self.output_limit)]
        return {"omitted": sorted(self.omitted), "forms": sorted(self.forms), "limits": limits}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a shape from its JSON object. What this version does not know is ignored.

        Of several output limits the lowest counts: the others were learned earlier.
        """
        found = data if isinstance(data, Mapping) else {}
        omitted, forms, limits = (
            _list_texts(found.get(name)) for name in ("omitted", "forms", "limits")
        )
        return cls(
            frozenset(omitted & OMITTABLE),
            frozenset(form for form in get_args(Form) if form in forms),
            min(filter(None, map(_read_limit, limits)), default=None),
        )


USUAL_SHAPE: Final = RequestShape()


def _list_texts(value: object) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _read_limit(text: str) -> int | None:
    """Return an output limit that is possible, or None."""
    digits = text.replace(",", "")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < MOST_LIMIT_DIGITS
    limit = int(digits) if is_number else 0
    return limit if LEAST_OUTPUT_TOKENS <= limit < MOST_OUTPUT_TOKENS else None


# A field that is named in a refusal, with its path, such as `messages.0.content.0.cache_control`.
# All repetitions are bounded, because a server may send any text.
_FIELD: Final = r"[`'\"(\[]{0,3}(?<![\w.])(?P<field>[A-Za-z_][\w.\[\]]{0,150}+)[`'\")\]]{0,3}"
_THING: Final = (
    r"(?:parameter|(?:keyword )?argument|field|name|propert(?:y|ie)|key|option|input)s?\b"
)
# The ways to say that a field is not known. The other rules are about values.
_REFUSED_FIELD: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:unsupported|unrecogni[sz]ed|unknown|unexpected|undefined|unallowed|invalid|extra)"
        rf" (?:request |json |body |model )?{_THING}(?: (?:supplied|provided|received|found|name))*"
        rf"\s*:?\s*{_FIELD}(?![`'\")\]]*\s+(?:names?|must|should|schemas?|ha[sv]e?)\b)",
        rf"{_FIELD}\s*:?\s*(?:{_THING} )?(?:(?:is|are|was|were|has been) )?(?:currently )?"
        r"(?:not (?:yet )?(?:supported|permitted|allowed|recogni[sz]ed|implemented|accepted)"
        r"|unsupported|unknown|deprecated|unexpected|forbidden|disallowed"
        r"|extra (?:inputs|fields|values) (?:are )?not (?:permitted|allowed)"
        r"|(?:additional|extra) propert(?:y|ies)|cannot find field|no such field)",
        rf"(?:does not|doesn'?t|do not|don'?t|cannot|can'?t) (?:currently |yet )?"
        rf"(?:support|accept|allow|take|recogni[sz]e|have) (?:the |an? )?(?:{_THING} )?"
        rf"(?!(?:tools|functions)\b){_FIELD}",  # what of them is in `_TOOLS_REFUSED`
        rf"(?:{_THING}|values) (?:are |is )?not (?:permitted|allowed|supported)"
        rf"(?: (?:on|for|by|with|in) [\w ]{{1,30}})?\s*:\s*{_FIELD}",
        rf"no (?:{_THING}|attribute)\s*:?\s*{_FIELD}",
        rf"param: {_FIELD}; code: unsupported_parameter",
    )
)
# A sentence with one of these refuses each field whose name no other word can be mistaken for.
_REFUSES: Final = re.compile(
    r"\bnot (?:an? |\w+ )?(?:supported|permitted|allowed|recogni[sz]ed|expected|accepted|known"
    r"|valid|implemented|available|enabled)"
    r"|(?:cannot|can't|must not|may not) be (?:set|used|specified|sent)"
    r"|unsupported|unrecogni[sz]ed|unknown|unexpected|\bextra|deprecated|forbidden|disallowed"
    r"|(?:does not|doesn'?t) (?:support|accept|allow|take)|must be (?:unset|omitted|removed)",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^\n]+?(?:[.;](?=\s+[A-Z\"'`])|\n|$)")
_WORD: Final = re.compile(r"(?<![\w.])[A-Za-z_][\w.\[\]]{0,150}+")
# All tools. One tool, or something of a tool, such as its name or result, is not these words.
_TOOLS: Final = (
    r"(?<!parallel )(?<!multiple )(?<!concurrent )(?<!simultaneous )"
    r"(?:tools|functions|(?:tool|function)s?[ -](?:use|usage|calls?|calling))"
)
# More than one call at once.
_PARALLEL: Final = (
    r"(?:parallel|multiple|concurrent|simultaneous|more than one)"
    r"[ _-](?:tool|function)s?[ _-]?(?:calls?|calling|use)\b"
)
_PHRASE_END: Final = (
    r"(?=\s*(?:$|[,;:!)\n]|\.(?!\w))|[`'\"]"
    r"| (?:yet|and|or|nor|but|so|when|while|if|because|currently|for|on|by)\b"
    r"| (?:with|in|at) (?:this|the|your|stream\w*)\b)"
)
_TOOLS_REFUSED: Final = (
    r"(?:does not|doesn'?t|do not|not) (?:currently )?(?:support|supporting|accept|allow)"
    rf" (?:the use of |the )?(?:{_THING} )?[`'\"]?{_TOOLS}(?: param\w*)?[`'\"]?{_PHRASE_END}"
    rf"|\b{_TOOLS}(?: param\w*)?"
    r"[`'\"]? (?:is|are|requires?)(?: currently)?"
    r" (?:not (?:supported|enabled|available|allowed|implemented)|unsupported|disabled|--)"
    r"|tool choice requires --|requires?.{0,40}--(?:jinja|enable-auto-tool-choice)"
    r"|no endpoints found that support tool"
)


@dataclass(frozen=True)
class _Rule:
    """What a refusal says, and the changes to try, in order.

    Attributes:
        pattern: matches the text of the refusal.
        omitted: a field to leave out, or an empty string.
        forms: the forms to use, one after the other.
    """

    pattern: re.Pattern[str]
    omitted: str = ""
    forms: tuple[Form, ...] = ()


def _rule(pattern: str, *forms: Form, omitted: str = "") -> _Rule:
    return _Rule(re.compile(pattern, re.IGNORECASE | re.DOTALL), omitted, forms)


_ROLE: Final = r"(?:role|message)s?"
# A refusal that is about the length of the answer, and the upper bounds that it names.
_OUTPUT_LIMIT: Final = re.compile(
    r"max(?:imum)?[ _]?(?:completion[ _]?|output[ _]?|new[ _]?)?tokens"
    r"|(?:output|completion) tokens",
    re.IGNORECASE,
)
_UPPER_BOUND: Final = re.compile(
    r"(?:(?P<below>(?:less|lower|smaller|fewer) than)(?! or equal)"
    r"|(?:at most|up to|or equal to|exceed\w*|<=?|>|(?:greater|larger|higher|more) than"
    r"|(?:limit|maximum)(?: allowed)?(?: value)?(?: (?:is|of|to))?|\[ ?[01] ?,"
    r"|(?:between|from) [01](?: \(inclusive\))? (?:and|to)))"
    r"\W{0,4}(?P<tokens>\d{1,3}(?:,\d{3}){1,3}|\d{3,10})(?![,.]?\d)(?P<outside> \(exclusive)?",
    re.IGNORECASE,
)
_RULES: Final = (
    _rule(
        r"\A(?=.*\bmax_tokens\b)(?=.*\bmax_completion_tokens\b)"
        r".*(?:\buse\b|instead|deprecated|unsupported|not supported|same time|\bboth\b)",
        "max_completion_tokens",
    ),
    _rule(
        r"system[`'\"]?(?: and tool)? (?:role|message|prompt|instruction)s?"
        r"[^.]{0,40}(?:not|n't|unsupported|invalid|only)"
        r"|(?:not|n't|unsupported|invalid|unknown|unexpected|only)\b[^.]{0,60}\b(?:role|message)s?"
        r"[^.]{0,20}[`'\"]?system\b"
        r"|(?:not|n't) (?:support|accept|allow)\w* (?:the |a )?[`'\"]?(?:system|developer)\b"
        r"|(?:start|begin) with an? user.{0,40}system"
        r"|developer (?:instruction|message|role)s? (?:is|are) not"
        r"|\brole\b.{0,60}(?:should|must) be (?:one of )?[\[(]?[`'\"]?"
        r"(?:user[`'\"]?(?:,| or| and) [`'\"]?(?:assistant|model)"
        r"|(?:assistant|model)[`'\"]?(?:,| or| and) [`'\"]?user)",
        "system_in_user",
    ),
    _rule(
        r"roles? must alternate|alternating (?:roles|user)|alternate between|roles? .{0,30}alternat"
        r"|(?:unexpected|invalid|expected).{0,20}\brole [`'\"]?user[`'\"]? after role [`'\"]?tool"
        r"|after role [`'\"]?tool|consecutive (?:user|messages)",
        "note_in_result",
        "calls_as_text",
    ),
    _rule(
        r"unexpected role [`'\"]?tool|(?:unknown|invalid|unsupported) role:? [`'\"]?tool"
        r"|role [`'\"]?tool[`'\"]? (?:is )?not",
        "calls_as_text",
    ),
    _rule(
        r"content\b.{0,80}(?:must|should|has to|needs to|expected to) be (?:an? |of type )?"
        r"(?:valid |non-empty |plain )?(?:str|string|text)\b"
        r"|invalid type: sequence, expected a string|expected (?:a |type )?string,? (?:but )?"
        r"(?:got|received|found) (?:an? )?(?:array|list|object)"
        r"|cannot unmarshal array into .{0,80}content|str type expected"
        r"|only (?:string|text) content|list'? object has no attribute"
        r"|concatenate str \(not [\\\"']*list|content[^.]{0,40}(?:array|list|parts?)[^.]{0,20}not"
        r"|not (?:support|accept|allow)\w*[^.]{0,30}content (?:array|list|part)",
        "text_only",
    ),
    _rule(
        r"temperature\b[^\n]{0,80}(?:does not support|only|must be (?:unset|omitted|equal to 1\b)"
        r"|the default|fixed)"
        r"|only[^\n]{0,40}temperature[^\n]{0,20}\b1\b"
        r"|param: temperature; code: unsupported_value",
        omitted="temperature",
    ),
    _rule(
        rf"{_PARALLEL}[^.\n]{{0,60}}(?:\bnot\b|n't|unsupported|disabled|unavailable)"
        rf"|(?:\b(?:not|cannot|only|disallow\w*)\b|n't|unsupported|single)[^.\n]{{0,60}}{_PARALLEL}"
        r"|(?:only|single|one)\b[^.\n]{0,20} (?:single|one) (?:tool|function)[ _-]?calls?"
        r"|single (?:tool|function)[ _-]?calls? at once",
        omitted="parallel_tool_calls",
    ),
    _rule(_TOOLS_REFUSED, omitted="tools"),
    _rule(
        r"(?:missing|without)\b[^.]{0,30}reasoning_content"
        r"|reasoning_content\b[^.]{0,60}(?:must be (?:passed|sent|provided)|missing|required)",
        "thinking_returned",
        "all_thinking_returned",
    ),
)


def read_refusal(reason: str, body: bytes) -> str:
    """Return what a server says about a refused request, without what it repeats of the request.

    Args:
        reason: the reason as the user would read it.
        body: the body of the response.
    """
    try:
        lines = list(_read_lines(json.loads(body)))
    except (ValueError, RecursionError):
        lines = [body.decode("utf-8", "replace")]
    return "\n".join((*lines, reason))[:MOST_REFUSAL_CHARS]


def _read_lines(data: Any, depth: int = 0) -> Iterator[str]:
    """Yield the messages in the JSON of an error, each with the place that it is about."""
    if isinstance(data, str) and data.lstrip().startswith("{") and depth < 6:
        try:  # a gateway quotes the error of the server behind it
            yield from _read_lines(json.loads(data), depth + 1)
        except (ValueError, RecursionError):
            yield data
    elif isinstance(data, str):
        yield data
    elif isinstance(data, list) and depth < 6:
        for item in data:
            yield from _read_lines(item, depth + 1)
    elif isinstance(data, Mapping) and depth < 6:
        place = data.get("loc")
        if isinstance(place, list):
            yield f"{'.'.join(map(str, place))}: {data.get('msg')}"
        if data.get("param"):
            yield f"param: {data['param']}; code: {data.get('code')}"
        for key in ("error", "errors", "message", "detail", "details", "msg", "raw", "metadata"):
            yield from _read_lines(data.get(key), depth + 1)


def find_refused_fields(refusal: str) -> tuple[str, ...]:
    """Return the fields that a refusal says the server does not take, of those that can go."""
    found: dict[str, None] = {}
    for pattern in _REFUSED_FIELD:
        for match in pattern.finditer(refusal):
            found.update(dict.fromkeys(_name_fields(match["field"])))
    for sentence in _SENTENCE.findall(refusal):
        if _REFUSES.search(sentence):
            words = _WORD.findall(sentence)
            sure = (word for word in words if "_" in word or word.lower() == "temperature")
            found.update((name, None) for word in sure for name in _name_fields(word))
    return tuple(found)


def _name_fields(path: str) -> Iterator[str]:
    """Yield the field that a path in a refusal means, if requests can do without it."""
    named = re.sub(r"\[\d+\]", "", path).strip(".[]").rpartition(".")[2]
    # A tool or message that is refused is not a reason to leave out all tools.
    is_part = re.sub(r"^(?:body|request)\.", "", path).strip(".") != named
    for field, names in _FIELD_NAMES.items():
        if re.fullmatch(names, named, re.IGNORECASE) and not (is_part and field == "tools"):
            yield field


def propose_shape(shape: RequestShape, refusal: str) -> Iterator[RequestShape]:
    """Yield the shapes to try after a refusal, the likeliest first.

    Each differs from `shape`, but may make no difference for the request that was refused.

    Args:
        shape: the shape of the refused request.
        refusal: the text from `read_refusal`.
    """
    for rule in _RULES:
        if rule.pattern.search(refusal):
            if rule.omitted and not shape.omits(rule.omitted):
                yield shape.without_fields([rule.omitted])
            for form in rule.forms:
                if not shape.has(form):
                    yield shape.with_form(form)
    for limit in _find_output_limits(refusal):
        yield shape.with_output_limit(limit)
    fields = set(find_refused_fields(refusal)) - shape.omitted
    if "max_tokens" in fields and not shape.has("max_completion_tokens"):
        yield shape.with_form("max_completion_tokens").without_fields(fields - {"max_tokens"})
    if fields:
        yield shape.without_fields(fields)


def _find_output_limits(refusal: str) -> list[int]:
    """Return the numbers that may be the most tokens of an answer, the highest first.

    A refusal also repeats what was asked for. That makes no difference for the request, so that the
    next number is tried.
    """
    if not _OUTPUT_LIMIT.search(refusal):
        return []
    limits = set()
    for match in _UPPER_BOUND.finditer(refusal):
        limit = _read_limit(match["tokens"])
        if limit is not None:
            limits.add(limit - 1 if match["below"] or match["outside"] else limit)
    return sorted(limits, reverse=True)[:MOST_LIMITS_TRIED]

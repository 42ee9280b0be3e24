"""What a secret looks like: the table of rules and the checks that tell a secret from a placeholder, a hash or code.

Formats: the providers' own documentation of their token prefixes; bench/redact.md has recall and precision by kind.
"""

from __future__ import annotations

from gitmem import patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    Span = tuple[int, int]
    Match = re.Match[str]
    Rule = tuple[str, str, str, str, Callable[[str, int, Match], Span | None]]

_cache: dict[str, re.Pattern[str]] = {}


def compiled(source: str) -> re.Pattern[str]:
    pattern = _cache.get(source)
    if pattern is None:
        pattern = _cache[source] = patterns.compiled(source, patterns.ASCII)
    return pattern


# A long value is judged by its first characters: the checks cost about 0.5 us a character.
_JUDGED_CHARS = 128


def _whole(text: str, at: int, match: Match) -> Span | None:
    """The group of the match, or all from the literal on, whatever it says."""
    return match.span(match.lastindex) if match.lastindex else (at, match.end())


def _pem(text: str, at: int, match: Match) -> Span | None:
    """A block with a body: a header alone is documentation."""
    return (at, match.end()) if compiled(r"[A-Za-z0-9+/=]{24}").search(match[0]) else None


def _token(text: str, at: int, match: Match) -> Span | None:
    """A provider's format, unless it is an obvious placeholder."""
    start, end = match.span(match.lastindex) if match.lastindex else (at, match.end())
    value = text[start : min(end, start + _JUDGED_CHARS)]
    return None if len(set(value)) < 8 or _is_placeholder(value) else (start, end)


def _random_token(text: str, at: int, match: Match) -> Span | None:
    """A format that ordinary words share: what follows the literal must look generated."""
    value = match[match.lastindex or 0][:_JUDGED_CHARS]
    return _token(text, at, match) if _is_random(value, 10) or _is_hex(value, 24) else None


def _basic(text: str, at: int, match: Match) -> Span | None:
    """Base64 of `user:password`, not the next word of a sentence."""
    value = match[1]
    mixed = len(compiled(r"[A-Z]").findall(value)) > 1 and value.upper() != value
    return (
        match.span(1) if mixed and len(value) % 4 == 0 and not _is_placeholder(value) and not _is_wordy(value) else None
    )


def _url(text: str, at: int, match: Match) -> Span | None:
    """The password of `://user:password@`, or a long random user without one."""
    user, password = match[1], match[2]
    if password is None:
        return match.span(1) if _is_random(user, 20) and not _is_placeholder(user) else None
    if len(password) < 3 or password == user or _is_placeholder(password) or _is_template(password):
        return None
    return match.span(2) if _plain(password) else None


def _command(text: str, at: int, match: Match) -> Span | None:
    """The password of `curl -u user:password`."""
    value, plain = match[1], text[at] == "s" or ":" in match[0]
    letters = compiled(r"[A-Za-z]").search(value) and compiled(r"[0-9!@#%^*]").search(value)
    return (
        match.span(1) if plain and letters and _plain(value) and not _is_template(value) and "/" not in value else None
    )


def _password(text: str, at: int, match: Match) -> Span | None:
    """A value a person may have chosen, assigned to a name that says password."""
    value = _assigned(text, at, match, 6)
    if not value or value[0] in "/~." or not _plain(value):
        return None
    span = match.span(match.lastindex or 0)
    if _is_env_line(text, at, match):
        return span
    if not match[2].strip(" \t") and text[max(0, at - 40) : at].rpartition(" ")[2][:2] != "--":
        return span if _is_random(value, 10) else None
    if match.lastindex == 5 and _is_code(text, match):
        return None
    letters = compiled(r"[A-Za-z]").search(value)
    return span if letters and compiled(r"[0-9!@#$%^&*+~?]").search(value) else None


def _secret(text: str, at: int, match: Match) -> Span | None:
    """A generated value assigned to a name that says secret or token."""
    value = _assigned(text, at, match, 8)
    least = 8 if value and _is_env_line(text, at, match) else 12
    if (
        not value
        or value[0] in "/~"
        or _is_attribute(match[5])
        or not ((_is_random(value, least) and _plain(value)) or _is_hex(value, 32))
    ):
        return None
    return match.span(match.lastindex or 0)


def _key(text: str, at: int, match: Match) -> Span | None:
    """A generated value beside a weak word: object ids, UUIDs and checksums are keys of other kinds."""
    value = _assigned(text, at, match, 20)
    if (
        not value
        or value[0] in "/~"
        or _is_attribute(match[5])
        or _is_hex(value.rpartition("-")[2], 8)
        or not _is_random(value, 20)
    ):
        return None
    before = text[at - 1 : at]
    joined = before.isalpha() and (before.isupper() or text[at : at + 1].islower())
    return None if joined else match.span(match.lastindex or 0)


_HARMLESS_SUFFIXES = (
    "file path dir url uri ttl length len name id ids type count expiry expires expiration field label policy regex header "
    "prompt hint reset timeout time at date size limit format encoding class form error confirm strength env var param arg "
    "column ref selector version algorithm hash digest manager provider service cache index map scope usage endpoint"
).split()
_HARMLESS_PREFIX = r"(?i)(?:public|publishable|pub|primary|foreign|cache|partition|sort|idempotency|page|next|continuation|csrf|host|known)[_-]?$"


def _assigned(text: str, at: int, match: Match, least: int) -> str:
    """What an assignment's value begins with, or "" when it is too short or the name or value says that it is no secret."""
    value, suffix = (match[4] or match[5])[:_JUDGED_CHARS], match[1]
    if len(value) < least:
        return ""
    if suffix[:1].isalpha() and suffix[0].islower() == text[at].islower() and suffix not in ("s", "S"):
        return ""  # tokenizer, KEYBOARD
    if suffix.lower().endswith(tuple(_HARMLESS_SUFFIXES)) or _is_template(value) or _is_uuid(value):
        return ""
    if match[5] and (
        match[2].strip(" \t") in ("(", ",") or text[match.end() : match.end() + 1] in ("(", "[", "{", "<")
    ):
        closing = text[match.start(2) - 1].isalnum() and match[2] == ">" and text[match.end() : match.end() + 2] == "</"
        return value if closing and not _is_placeholder(value) else ""
    if match[5] and match[2] in ("==", "===", "!=", "!=="):
        return ""  # minified code
    named = compiled(_HARMLESS_PREFIX).search(text, max(0, at - 16), at)
    return "" if named or _is_placeholder(value) else value


def _is_env_line(text: str, at: int, match: Match) -> bool:
    """`NAME=value` in capitals at the start of a line, as in `.env`, a shell, a Dockerfile."""
    line = text[max(text.rfind("\n", 0, at) + 1, at - 60) : match.end(2)]
    return bool(compiled(r"[ \t+>-]*(?:(?:export|ENV|ARG|set|-e) )?[A-Z][A-Z0-9_]*=$").match(line))


def _is_code(text: str, match: Match) -> bool:
    """An unquoted value that reads as an expression: a name, an attribute, an argument."""
    value, after = match[5], text[match.end() : match.end() + 1]
    spaced = match[2] != match[2].rstrip() and "=" in match[2]
    if spaced and compiled(r"[A-Za-z_]+\d{0,2}$").match(value):
        return True
    return (
        value.replace(".", "").isidentifier() and (after in (",", ")", "}", "]") or (spaced and after == ";"))
    ) or _is_attribute(value)


def _is_attribute(value: str | None) -> bool:
    return value is not None and "." in value and value.rstrip(":;").replace(".", "").isidentifier()


_PLACEHOLDERS = (
    r"(?i)example|x{4}|your|change.?me|placeholder|redacted|dummy|insert|replace|\.\.\.|\*{3}|sample|not.?real|123456789|abcdefgh"
    r"|my.?secret|fixme|todo|required"
)
_PLAIN_WORDS = (
    r"(?i)pass(?:word|wd|phrase)?|pwd|secret|token|tests?(?:ing)?|fake|valid|wrong|user|admin|root|key|api|new|old|my|the|db|login|hash"
    r"|(?:hmac|sha|md|aes|rsa|oauth|base|utf|argon|bcrypt|pbkdf|http|ipv|v)[-_]?\d{1,3}(?:id)?|[\W_]|true|false|null|none|string"
)


def _is_placeholder(value: str) -> bool:
    return bool(compiled(_PLACEHOLDERS).search(value)) or len(set(value)) < 3


def _plain(value: str) -> bool:
    """Something is left when the words of tests and documentation are taken away."""
    return len(compiled(_PLAIN_WORDS).sub("", value)) >= 4


def _is_template(value: str) -> bool:
    """`${VAR}`, `{{ var }}`, `%(var)s`, `<var>`, `$VAR`."""
    return bool(compiled(r"\$[({]|\$[A-Z_]{2}|\{.*\}|%[({]|^%s$|<[^>]*>|^[$%&@]|^\[").search(value))


def _is_uuid(value: str) -> bool:
    return (
        len(value) == 36
        and value[8] == value[13] == value[18] == value[23] == "-"
        and _is_hex(value.replace("-", ""), 32)
    )


def _is_hex(value: str, least: int) -> bool:
    return len(value) >= least and not value.strip("0123456789abcdefABCDEF") and len(set(value)) >= 8


def _is_random(value: str, least: int) -> bool:
    """True of keys as machines make them: letters mixed with digits or capitals, not built of words, dates or versions."""
    if len(value) < least or len(set(value)) < 8 or compiled(r"v?\d+\.\d+\.\d").match(value):
        return False
    letters = len(compiled(r"[A-Za-z]").findall(value))
    digits = len(compiled(r"\d+").findall(value))
    mixed = digits > 0 or (value.lower() != value and value.upper() != value)
    return mixed and letters * 5 >= len(value) and (digits > 2 or not _is_wordy(value))


def _is_wordy(value: str) -> bool:
    """Half of its letters and digits or more are in words: runs with a vowel, without four consonants on end."""
    cased = value.lower() if value.upper() == value else value
    runs = compiled(r"[A-Za-z]?[a-z]{3,}|[A-Z]{5,}").findall(cased)
    words = [run for run in runs if not compiled(r"(?i)[^aeiouy]{4}|^[^aeiouy]+$").search(run)]
    return sum(map(len, words)) * 2 >= len(compiled(r"[^\W_]").findall(value))


_PEM = (
    r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"(?:[^-\0]*+(?:-(?!---)[^-\0]*+)*+-{4,6} ?END [A-Z0-9 ]{0,60}-{4,5}"
    r"""|(?:(?:[\s"'+>,#|*-]|\\[nrt])*+(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\0]{0,100}+|[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/]+={1,2}))*+)"""
)
# Groups: 1 rest of the name, 2 operator, 3 quote, 4 quoted value, 5 bare value.
_ASSIGNMENT = (
    r"""([\w-]{0,24}+)(?:\\?["'`])?\]?"""
    r"((?: string)?(?::[ \t]?[A-Za-z_][\w.|\[\]]{0,30})?[ \t]{0,8}(?::=|=>|[!=]==?|[:=>,(])[ \t]{0,8}|[ \t]{1,4}(?:is |was )?)"
    r"""(?:[@bru]?\\?(["'`])((?:(?!\3)[^\s\\\0]){4,512}+)\\?\3|([^\s"'`\0,;&|<>(){}\[\]\\]{4,512}+))"""
)
# A free pattern starts at the edge of a word or after an escaped line end, as in JSON.
_EDGE = r"(?:(?<![\w-])|(?<=\\[nrt]))"
_IBM = (
    r"[\w-]{0,24}?(?i:key|pwd?|pass|password|token|secret|id)"
    r"""["' \t:=>\]\\]{1,8}([0-9a-z]{64}|[a-z]{24}|[\w-]{44}|[0-9a-f]{48})(?![\w-])"""
)
_HEXES = "0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f"
# (kind, literals, flags, pattern, check). Flags: i = literal in lower case, b = not inside a word, s = the pattern is searched for
# and holds the literal itself; without s it stands right after the literal. Where two overlap, the upper kind names it.
RULES: tuple[Rule, ...] = (
    ("private-key", "-----BEGIN ,---- BEGIN ", "", _PEM, _pem),
    ("private-key", "Private-Lines:", "", r" \d{1,3}((?:\s{1,4}[A-Za-z0-9+/=]{16,80}+)+)", _whole),
    ("aws-access-key", "AKIA,ASIA,ABIA,ACCA,A3T", "b", r"[0-9A-Z]{16,17}(?![0-9A-Za-z])", _token),
    (
        "aws-secret-key",
        "aws_,aws-,aws.,awssecret,awskey",
        "i",
        r"""[\w.-]{0,24}+[ "'\]]{0,3}[:=]{1,2}>?[ \t]{0,4}["']?([A-Za-z0-9/+]{40})(?![\w/+=])""",
        _random_token,
    ),
    ("google-key", "AIza,ya29.,GOCSPX-,1//0", "b", r"[\w.-]{26,512}+", _token),
    ("azure-key", "AccountKey=,SharedAccessKey=,sig=", "", r"([A-Za-z0-9+/%]{43,100}+={0,2})", _token),
    ("azure-key", "Q~", "s", _EDGE + r"[\w.~-]{3}\dQ~[\w.~-]{31,34}", _token),
    ("github-token", "ghp_,gho_,ghu_,ghs_,ghr_,github_pat_", "", r"\w{36,255}+", _token),
    (
        "gitlab-token",
        "glpat-,gldt-,glft-,glsoat-,glrt-,glcbt-,glimt-,glptt-,glagent-,gloas-,glffct-,glwt-,GR1348941",
        "",
        r"[\w.-]{20,512}+",
        _token,
    ),
    (
        "slack-token",
        "xoxa-,xoxb-,xoxc-,xoxd-,xoxe-,xoxe.,xoxo-,xoxp-,xoxr-,xoxs-,xapp-",
        "",
        r"[\w%.-]{10,512}+",
        _token,
    ),
    (
        "webhook-url",
        "hooks.slack.com/,discord.com/api/webhooks/,discordapp.com/api/webhooks/,webhook.office.com/,hooks.zapier.com/",
        "i",
        r"[\w/@-]{24,512}+",
        _token,
    ),
    # The bot's id in base64: decimal digits begin with these pairs only.
    (
        "discord-token",
        "MD,MT,Mj,Mz,ND,NT,Nj,Nz,OD,OT",
        "b",
        r"[A-Za-z0-9]{21,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])",
        _token,
    ),
    ("stripe-key", "sk_live_,rk_live_,sk_test_,rk_test_,whsec_", "b", r"[0-9A-Za-z+/=]{16,255}+", _token),
    ("twilio-key", ",".join(f"AC{c},SK{c}" for c in _HEXES.split(",")), "b", r"[0-9a-f]{31}(?![0-9A-Za-z])", _token),
    ("sendgrid-key", "SG.", "b", r"[\w-]{16,32}\.[\w-]{30,64}", _token),
    ("mailgun-key", "key-", "b", r"[0-9a-f]{32}(?![0-9A-Za-z])", _token),
    ("mailgun-key", "mailgun", "is", _EDGE + r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?!\w)", _token),
    ("mailchimp-key", ",".join(f"-us{n}" for n in "123456789"), "s", _EDGE + r"[0-9a-f]{32}-us[1-9]\d?(?!\w)", _token),
    ("npm-token", "npm_", "b", r"[A-Za-z0-9]{36,255}+", _token),
    ("npm-token", "_authToken=,:_auth=,:_password=", "", r"([\w./+=-]{16,512}+)", _token),
    ("pypi-token", "pypi-AgE", "", r"[\w-]{50,512}+", _token),
    ("anthropic-key", "sk-ant-", "b", r"[\w-]{20,255}+", _token),
    ("openai-key", "sk-", "b", r"(?!ant-)[\w-]{20,255}+", _random_token),
    ("ai-token", "hf_,api_org_,gsk_,r8_", "b", r"[A-Za-z0-9]{30,255}+", _token),
    ("ai-token", "xai-,pplx-,tgp_v1_,nvapi-", "b", r"[\w-]{28,255}+", _random_token),
    ("telegram-token", ":A", "s", r"(?<!\d)\d{8,10}:A[\w-]{34}(?![\w-])", _token),
    (
        "cloud-token",
        "dop_v1_,doo_v1_,dor_v1_,dapi,pul-,sbp_,rubygems_,sntryu_,figd_,tskey-,fo1_,fm2_,HRKU-",
        "b",
        r"[\w+/=-]{28,512}+",
        _random_token,
    ),
    (
        "vendor-token",
        "dckr_pat_,lin_api_,ntn_,PMAK-,NRAK-,glsa_,sntrys_,hvs.,hvb.,dp.pt.,dp.st.,dt0c01.,pscale_,sb_secret_,nfp_,ATATT3,ATCTT3,"
        "ATBB,LTAI,bkua_,AGE-SECRET-KEY-1,amzn.mws.,ABSK,shpat_,shpca_,shppa_,shpss_,sq0atp-,sq0csp-,sq0idp-,EAAA,.atlasv1.,AKC,cmVmd",
        "b",
        r"[\w.\\+/-]{20,512}+={0,2}",
        _random_token,
    ),
    (
        "artifactory-key",
        "artifactory,jfrog",
        "is",
        _EDGE + r"(?:AP[0-9A-F]|AKC)[A-Za-z0-9]{8,255}+(?![\w/+=])",
        _random_token,
    ),
    ("ibm-key", "cloudant,softlayer,ibm,bluemix,clou_,sl_,cl_", "i", _IBM, _token),
    ("ibm-key", "api.softlayer.com/soap/", "i", r"v3(?:\.1)?/([a-z0-9]{64})", _token),
    (
        "jwt",
        "eyJ",
        "b",
        r"[\w-]{10,4096}+(?:\.eyJ[\w-]{8,8192}+|\.[\w-]{8,8192}+\.[\w-]{8,8192}+)(?:\.[\w-]*+){0,3}",
        _token,
    ),
    ("url-password", "://", "", r"""([^\s/?#:@"'<>\0\\]{0,128}+)(?::([^\s/@"'<>\0\\]{1,256}+))?@""", _url),
    (
        "auth-header",
        "authorization",
        "i",
        r"""["']{0,2}[ \t]{0,4}[:=,][ \t]{0,4}["']?(?:[A-Za-z-]{3,20} )?([\w.~+/=-]{12,1024}+)""",
        _random_token,
    ),
    ("auth-header", "bearer", "i", r"""["':= \t]{1,4}([\w.~+/=-]{16,1024}+)""", _random_token),
    ("auth-header", "basic ", "i", r"([A-Za-z0-9+/]{8,512}+={0,2})", _basic),
    (
        "command-password",
        " -u ,--user ,--user=,sshpass -p ",
        "",
        r"""["']?(?:[^\s:"'\0]{1,64}:)?([^\s"'\0]{6,256}+)""",
        _command,
    ),
    ("assigned-password", "password,passwd,passphrase,pwd,_pass", "i", _ASSIGNMENT, _password),
    (
        "assigned-secret",
        "secret,token,apikey,api_key,api-key,access_key,accesskey,access-key,private_key,credential",
        "i",
        _ASSIGNMENT,
        _secret,
    ),
    ("assigned-key", "key,auth", "i", _ASSIGNMENT, _key),
)

KINDS = frozenset(rule[0] for rule in RULES)

"""A labelled corpus by a fixed seed: fake secrets, put together from parts so that no file holds one, and harmless lines."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid

UP, LOW, DIG = string.ascii_uppercase, string.ascii_lowercase, string.digits
B62, B36, HEX = UP + LOW + DIG, LOW + DIG, DIG + "abcdef"
B64, URL64 = B62 + "+/", B62 + "-_"


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def s(self, alphabet: str, size: int) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(size))

    def alnum(self, alphabet: str, size: int) -> str:
        while True:
            value = self.s(alphabet, size)
            if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
                return value

    def jwt(self) -> str:
        enc = lambda d: base64.urlsafe_b64encode(json.dumps(d).encode()).decode().rstrip("=")
        return ".".join([enc({"alg": "HS256", "typ": "JWT"}), enc({"sub": self.s(DIG, 10), "iat": 1516239022}), self.s(URL64, 43)])

    def pem(self, name: str, closed: bool = True) -> str:
        lines = [self.s(B64, 64) for _ in range(12)] + [self.s(B64, 30) + "=="]
        head = "-----BEG" + f"IN {name}-----"
        tail = "-----E" + f"ND {name}-----"
        return "\n".join([head, *lines, *([tail] if closed else [])])

    def human(self) -> str:
        words = ["sunset", "Rocket", "tiger", "Marble", "copper", "Falcon", "winter"]
        return self.random.choice(words) + self.s(DIG, 2) + self.random.choice("!@#%^*") + self.random.choice(words)

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))


# kind -> (variable name, value); self-naming formats may stand anywhere, the others only in an assignment
def providers(m: Maker) -> dict[str, tuple[str, str]]:
    j = "".join
    return {
        "aws-access-key": ("AWS_ACCESS_KEY_ID", j(["AK", "IA", m.s(UP + "234567", 16)])),
        "aws-session-id": ("KEY_ID", j(["AS", "IA", m.s(UP + "234567", 16)])),
        "aws-bedrock": ("BEDROCK", j(["AB", "SK", m.s(B64, 128)])),
        "gcp-api-key": ("MAPS", j(["AI", "za", m.s(URL64, 35)])),
        "gcp-oauth": ("ACCESS", j(["ya", "29.", m.s(URL64, 60)])),
        "gcp-client": ("CLIENT", j(["GOC", "SPX-", m.s(URL64, 28)])),
        "azure-storage": ("CONN", j(["DefaultEndpointsProtocol=https;AccountName=shop;Account", "Key=", m.s(B64, 86), "==;EndpointSuffix=core.windows.net"])),
        "azure-servicebus": ("BUS", j(["Endpoint=sb://shop.servicebus.windows.net/;SharedAccess", "Key=", m.s(B64, 43), "="])),
        "azure-sas": ("BLOB", j(["https://shop.blob.core.windows.net/c/f?sv=2022-11-02&si", "g=", m.s(B62, 43), "%3D"])),
        "azure-ad": ("AD", j([m.s(B62, 3), "8Q", "~", m.s(URL64, 34)])),
        "github-pat": ("GH", j(["gh", "p_", m.s(B62, 36)])),
        "github-oauth": ("GH", j(["gh", "o_", m.s(B62, 36)])),
        "github-app": ("GH", j(["gh", "s_", m.s(B62, 36)])),
        "github-fine": ("GH", j(["github", "_pat_", m.s(B62, 22), "_", m.s(B62, 59)])),
        "gitlab-pat": ("GL", j(["gl", "pat-", m.s(URL64, 20)])),
        "gitlab-deploy": ("GL", j(["gl", "dt-", m.s(URL64, 20)])),
        "gitlab-runner": ("GL", j(["gl", "rt-", m.s(URL64, 20)])),
        "gitlab-trigger": ("GL", j(["gl", "ptt-", m.s(HEX, 40)])),
        "gitlab-registration": ("GL", j(["GR13", "48941", m.s(URL64, 20)])),
        "slack-bot": ("SLACK", j(["xo", "xb-", m.s(DIG, 12), "-", m.s(DIG, 12), "-", m.s(B62, 24)])),
        "slack-user": ("SLACK", j(["xo", "xp-", m.s(DIG, 11), "-", m.s(DIG, 11), "-", m.s(DIG, 12), "-", m.s(HEX, 32)])),
        "slack-app": ("SLACK", j(["xa", "pp-1-A", m.s(UP + DIG, 10), "-", m.s(DIG, 13), "-", m.s(HEX, 64)])),
        "slack-webhook": ("HOOK", j(["https://hooks.sl", "ack.com/services/T", m.s(UP + DIG, 10), "/B", m.s(UP + DIG, 10), "/", m.s(B62, 24)])),
        "discord-webhook": ("HOOK", j(["https://disc", "ord.com/api/webhooks/", m.s(DIG, 18), "/", m.s(URL64, 68)])),
        "discord-bot": ("DISCORD_BOT", j(["MT", m.s(B62, 22), ".", m.s(URL64, 6), ".", m.s(URL64, 27)])),
        "stripe-live": ("STRIPE", j(["sk", "_live_", m.alnum(B62, 24)])),
        "stripe-long": ("STRIPE", j(["rk", "_live_", m.alnum(B62, 99)])),
        "stripe-test": ("STRIPE", j(["sk", "_test_", m.alnum(B62, 24)])),
        "stripe-webhook": ("STRIPE", j(["wh", "sec_", m.alnum(B62, 32)])),
        "twilio-sid": ("TWILIO", j(["A", "C", m.s(HEX, 32)])),
        "twilio-key": ("TWILIO", j(["S", "K", m.s(HEX, 32)])),
        "sendgrid": ("MAIL", j(["S", "G.", m.s(URL64, 22), ".", m.s(URL64, 43)])),
        "mailgun": ("MAIL", j(["key", "-", m.s(HEX, 32)])),
        "mailchimp": ("CHIMP", j([m.s(HEX, 32), "-u", "s12"])),
        "npm": ("NPM", j(["np", "m_", m.s(B62, 36)])),
        "npm-rc": ("NPM", j(["//registry.npmjs.org/:_auth", "Token=", m.uuid()])),
        "pypi": ("TWINE", j(["py", "pi-AgE", "IcHlwaS5vcmc", m.s(URL64, 120)])),
        "openai": ("AI", j(["s", "k-", m.s(B62, 20), "T3Blbk", "FJ", m.s(B62, 20)])),
        "openai-project": ("AI", j(["s", "k-proj-", m.s(URL64, 70), "T3Blbk", "FJ", m.s(URL64, 70)])),
        "openrouter": ("AI", j(["s", "k-or-v1-", m.s(HEX, 64)])),
        "anthropic": ("AI", j(["s", "k-ant-", "api03-", m.s(URL64, 93), "AA"])),
        "huggingface": ("HF", j(["h", "f_", m.s(UP + LOW, 34)])),
        "groq": ("AI", j(["gs", "k_", m.s(B62, 52)])),
        "replicate": ("AI", j(["r", "8_", m.s(B62, 37)])),
        "telegram": ("TG", j([m.s("123456789", 9), ":A", "A", m.s(URL64, 33)])),
        "digitalocean": ("DO", j(["do", "p_v1_", m.s(HEX, 64)])),
        "shopify": ("SHOP", j(["sh", "pat_", m.s(HEX, 32)])),
        "square": ("SQ", j(["sq", "0csp-", m.s(URL64, 43)])),
        "square-access": ("SQ", j(["EA", "AA", m.s(URL64, 60)])),
        "artifactory": ("JF", j(["AK", "Cp", m.s(B62, 69)])),
        "vault": ("VAULT", j(["hv", "s.", m.s(URL64, 90)])),
        "grafana": ("GRAFANA", j(["gl", "sa_", m.s(B62, 32), "_", m.s(HEX, 8)])),
        "docker": ("DOCKER", j(["dck", "r_pat_", m.s(URL64, 27)])),
        "databricks": ("DBX", j(["da", "pi", m.s(HEX, 32)])),
        "linear": ("LINEAR", j(["lin", "_api_", m.s(B62, 40)])),
        "atlassian": ("JIRA", j(["ATA", "TT3xFfGF0", m.s(URL64, 170), "=", m.s(HEX.upper(), 8)])),
        "postman": ("POSTMAN", j(["PM", "AK-", m.s(HEX, 24), "-", m.s(HEX, 34)])),
        "newrelic": ("NR", j(["NR", "AK-", m.s(UP + DIG, 27)])),
        "rubygems": ("GEM", j(["ruby", "gems_", m.s(HEX, 48)])),
        "supabase": ("SB", j(["sb", "p_", m.s(HEX, 40)])),
        "age": ("AGE", j(["AGE-SEC", "RET-KEY-1", m.s("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)])),
        "alibaba": ("ALI", j(["LT", "AI", m.s(B62, 20)])),
        "jwt": ("SESSION", m.jwt()),
        "url-postgres": ("DATABASE_URL", j(["postgres", "://app:", m.human().replace("@", "!").replace("#", "!"), "@db.shop.io:5432/app"])),
        "url-https": ("REMOTE", j(["https", "://deploy:", m.alnum(B62, 18), "@git.shop.io/app.git"])),
        "url-redis": ("REDIS_URL", j(["redis", "://:", m.alnum(B62, 20), "@cache.shop.io:6379/0"])),
        "url-user-token": ("REMOTE", j(["https", "://", m.alnum(B62, 36), "@git.shop.io/app.git"])),
    }


def named(m: Maker) -> dict[str, tuple[str, str]]:
    return {
        "password-human": ("db_password", m.human()),
        "password-random": ("admin_passwd", m.alnum(B62 + "!#%*", 16)),
        "aws-secret": ("aws_secret_access_key", m.s(B64, 40)),
        "secret-hex64": ("secret_key", m.s(HEX, 64)),
        "secret-hex32": ("client_secret", m.s(HEX, 32)),
        "token-b62": ("access_token", m.alnum(B62, 32)),
        "token-b36": ("auth_token", m.alnum(B36, 24)),
        "token-url64": ("refresh_token", m.alnum(URL64, 43)),
        "api-key-b62": ("api_key", m.alnum(B62, 20)),
        "api-key-camel": ("apiKey", m.alnum(B62, 32)),
        "key-b64": ("encryption_key", m.s(B64, 43) + "="),
        "ibm-iam": ("ibm_cloud_iam_key", m.alnum(URL64, 44)),
        "cloudant-hex": ("cloudant_password", m.s(HEX, 64)),
        "cloudant-key": ("cloudant_api_key", m.s(LOW, 24)),
        "softlayer": ("softlayer_api_key", m.alnum(B36, 64)),
        "artifactory-password": ("artifactory_pw", "AP" + "B" + m.alnum(B62, 20)),
    }


def headers(m: Maker) -> list[tuple[str, str, str]]:
    """(kind, line, secret)"""
    bearer, basic = m.alnum(URL64, 40), base64.b64encode(("svc:" + m.alnum(B62, 14)).encode()).decode()
    cli, mvn, pw = m.alnum(B62, 16), m.human(), m.human()
    return [
        ("bearer", f"curl -H 'Authorization: Bearer {bearer}' https://api.shop.io/v1", bearer),
        ("bearer", f'  "Authorization": "Bearer {bearer}",', bearer),
        ("bearer", f"headers = {{'Authorization': 'Bearer {bearer}'}}", bearer),
        ("basic", f"Authorization: Basic {basic}", basic),
        ("basic", f'req.Header.Set("Authorization", "Basic {basic}")', basic),
        ("header-token", f"Authorization: Token {bearer}", bearer),
        ("header-key", f"X-Api-Key: {bearer}", bearer),
        ("curl-user", f"curl -u admin:{cli} https://api.shop.io/v1", cli),
        ("cli-password", f"mysqldump --password={cli} --all", cli),
        ("cli-password", f"deploy --user app --password {cli} --now", cli),
        ("xml-password", f"      <password>{cli}</password>", cli),
        ("call-password", f'    builder.setPassword("{pw}");', pw),
        ("call-password", f'    props.put("password", "{pw}");', pw),
        ("prose-token", f"the deploy token is {bearer} until we rotate", bearer),
        ("query-token", f"GET https://api.shop.io/v1/items?page=2&access_token={cli}&x=1", cli),
        ("escaped-json", f'"body": "{{\\"password\\": \\"{cli}\\", \\"user\\": \\"app\\"}}"', cli),
        ("typed-code", f'const apiToken: string = "{bearer}";', bearer),
        ("typed-code", f'var dbPassword string = "{pw}"', pw),
        ("compare", f'if password == "{pw}":', pw),
    ]


FORMATS = {
    ".env": lambda n, v: f"{n.upper()}={v}",
    ".sh": lambda n, v: f"export {n.upper()}='{v}'",
    ".yaml": lambda n, v: f"  {n.lower()}: {v}",
    ".yml": lambda n, v: f'  {n.lower()}: "{v}"',
    ".json": lambda n, v: f'    "{n.lower()}": "{v}",',
    ".py": lambda n, v: f'{n.upper()} = "{v}"',
    ".js": lambda n, v: f"const {n} = '{v}';",
    ".ini": lambda n, v: f"{n.lower()} = {v}",
}
PROSE = {
    ".msg": lambda n, v: f"fix(deploy): stop logging {v} when {n.lower()} is set",
    ".md": lambda n, v: f"- run it with `{v}` as the {n.lower()} value",
    ".diff": lambda n, v: f"+    client = Client('{v}')",
    ".jsonl": lambda n, v: json.dumps({"text": f"first\n{v}\nlast"}),
}


def positives(seed: int = 7, each: int = 6) -> list[tuple[str, str, str, str]]:
    """(kind, suffix, line or block, secret)"""
    m, out = Maker(seed), []
    for _ in range(each):
        for kind, (name, value) in providers(m).items():
            for suffix, form in {**FORMATS, **PROSE}.items():
                if kind.startswith("discord-bot") and suffix in PROSE:
                    name = "discord bot"
                out.append((kind, suffix, form(name, value), core(kind, value)))
        for kind, (name, value) in named(m).items():
            for suffix, form in FORMATS.items():
                out.append((kind, suffix, form(name, value), value))
        for kind, line, value in headers(m):
            out.append((kind, ".txt", line, value))
        for name in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "ENCRYPTED PRIVATE KEY"):
            block = m.pem(name)
            out.append(("pem", ".pem", block, block.split("\n")[5]))
            cut = m.pem(name, closed=False)
            out.append(("pem-unclosed", ".pem", cut, cut.split("\n")[5]))
            line = json.dumps({"type": "service_account", "private_key": m.pem(name)})
            out.append(("pem-json", ".json", line, line.split("\\n")[5]))
    return out


def core(kind: str, value: str) -> str:
    """The part of a value that must not stay."""
    if kind.startswith("url-"):
        return value.split("://")[1].split("@")[0].split(":")[-1]
    if kind in ("azure-storage", "azure-servicebus"):
        return value.split("Key=")[1].split("=")[0]
    if kind == "azure-sas":
        return value.split("sig=")[1][:-3]
    if kind.endswith("-webhook") and value.startswith("http"):
        return value.rsplit("/", 1)[1]
    if kind == "npm-rc":
        return value.split("=")[1]
    return value


HARMLESS = [
    "commit {oid40}", "{oid7} Merge branch 'main' into feat/token-refresh", "index {oid7}..{oid7b} 100644", "tree {oid64}",
    'parent: "{oid40}"', "    rev: {oid40}", "uses: actions/checkout@{oid40}", "X-Request-Id: {uuid}", '"id": "{uuid}",', "key: {uuid}",
    '      "integrity": "sha512-{b64_86}==",', '      "resolved": "https://registry.npmjs.org/token-types/-/token-types-{ver}.tgz",',
    "github.com/golang-jwt/jwt/v5 v5.2.1 h1:{b64_43}=", 'checksum = "{oid64}"', '    {{file = "keyring-{ver}.tar.gz", hash = "sha256:{oid64}"}},',
    "    --hash=sha256:{oid64} \\", "sha256:{oid64}  secrets.py", "ETag: W/\"{oid40}\"", '"version": "{ver}-beta.3",', 'etag = "{hex32}"',
    '<img src="data:image/png;base64,iVBORw0KGgo{b64_200}">', "background: url(data:font/woff2;base64,d09GMgAB{b64_200})", "AAEAAAALAIAAAwAw{b64_64}",
    "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz{b64_200}", "ssh-rsa AAAAB3NzaC1yc2E{b64_200} me@shop.io",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{b64_43} me@shop.io", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "MIIDdzCCAl{b64_54}",
    "password = get_password()", "token: str", "def login(user: str, password: str) -> Token:", "password=password,", "token = self.token",
    "secret = os.environ['APP_SECRET']", 'secret = os.environ["APP_SECRET"]', "api_key = config.get('api_key')", "const token = await getToken(user);",
    "password: string;", "  password?: string | null;", "let password = req.body.password;", "this.token = token;", "return token if token else None",
    "if token != expected_token:", "assert response.json()['token'] == user.token", "password = forms.CharField(widget=forms.PasswordInput)",
    'password: "Enter your password"', '"password": "password",', '"password": "secret",', 'password="password"', "PASSWORD=changeme", "API_KEY=your-api-key",
    "API_KEY=your_api_key_here", "TOKEN=<token>", "TOKEN=${{TOKEN}}", "TOKEN=$TOKEN", "SECRET_KEY=xxxxxxxxxxxxxxxx", "DB_PASSWORD=${{DB_PASSWORD:-}}", "API_KEY=",
    "password: ${{{{ secrets.DB_PASSWORD }}}}", "token: ${{{{ secrets.GITHUB_TOKEN }}}}", "token: {{{{ .Values.token }}}}", "password: <your password>", "secretName: app-tls-2",
    "secretKeyRef:", "      key: database-url", "- name: api-token", "PASSWORD_MIN_LENGTH=12", "TOKEN_TTL=3600", "TOKEN_URL=https://auth.shop.io/oauth2/token",
    "SECRET_FILE=/run/secrets/db_password_v2", "password_hasher: pbkdf2_sha256", 'algorithm: "HS256", token: "jwt"', "ACCESS_TOKEN_EXPIRE_MINUTES = 30",
    "https://user:password@shop.io/x", "postgres://user:pass@localhost/db", "postgres://${{DB_USER}}:${{DB_PASS}}@db/app", "https://<user>:<token>@git.shop.io/app.git",
    "git clone git@github.com:shop/app.git", "mail: me@shop.io, see http://localhost:8000/@me", "image: registry.shop.io:5000/app@sha256:{oid64}", "http://127.0.0.1:8080/a:b@c",
    "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Bearer ${{token}}", "headers: {{ Authorization: `Bearer ${{token}}` }}", "uses Basic Authentication and bearer tokens",
    "Basic understanding of token handling", 'self.headers["Authorization"] = "Bearer " + self.token', "Bearer authentication is supported",
    "AKIAIOSFODNN7EXAMPLE", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-your-openai-key-goes-here-please-1", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "glpat-XXXXXXXXXXXXXXXXXXXX", "xoxb-your-token",
    ".sk-folding-cube .sk-cube2:before {{ animation-delay: 0.3s }}", "risk-assessment-for-the-quarter-2024-final-v2", "task-4f2a-implement-refresh-token-rotation-v2",
    "feat(auth): rotate the refresh token after each use", "The token bucket holds 100 tokens per key.", "primary key (id), foreign key (user_id) references users(id)", "keyboard-shortcuts: ctrl+shift+k",
    "cache-key-{hex32}", "key: node-modules-{oid64}", "key: ${{{{ runner.os }}}}-pip-{oid40}", "idempotency_key = '{uuid}'", "public_key = \"{b64_43}=\"", 'nextPageToken: "{b64_43}"',
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')", 'tokens: ["a1", "b2", "c3"]', "expect(wrapper.find('[data-key=\"row-12\"]').exists()).toBe(true)", "self.assertEqual(token, 'abc')",
    '<input type="password" name="new_password" autocomplete="new-password">', '<label for="password">Password</label>', '"forgot_password": "Forgot your password?",', "password_confirmation: 'required|min:8'",
    "git checkout -b fix/secret-scanning-2024-06", "docker run -u 1000:1000 app", "git push -u origin HEAD:refs/heads/main", "curl -u $USER:$PASS https://api.shop.io", "ls -u file:name",
    "| `token` | string | the token of the session |", "token=token2, secret=secret1)", "x-amz-content-sha256: {oid64}", "at com.shop.auth.TokenService.refresh(TokenService.java:{n})", "keys = sorted(d, key=lambda kv: kv[1])",
    "password123 is a bad password", "msg = 'token expired at 2024-01-02T03:04:05Z'", "secret: projects/123456/secrets/db-password/versions/2", "aws_access_key_id = test", "arn:aws:iam::123456789012:role/key-rotation",
    "aws s3 cp s3://bucket/keys/{uuid}.json .", "ami-0{hex16}", "key=lambda x: x.created_at,", 'const KEY = "settings.sidebar.collapsed.v2";', "gpg: key 0x{hexup16} marked as ultimately trusted", "author_key: author:{oid64}",
]


def negatives(seed: int = 11, each: int = 6) -> list[str]:
    m, out = Maker(seed), []
    for _ in range(each):
        for line in HARMLESS:
            out.append(line.format(
                oid40=m.s(HEX, 40), oid64=m.s(HEX, 64), oid7=m.s(HEX, 7), oid7b=m.s(HEX, 7), uuid=m.uuid(), ver=f"{m.random.randint(0, 9)}.{m.random.randint(0, 20)}.1",
                b64_86=m.s(B64, 86), b64_43=m.s(B64, 43), b64_64=m.s(B64, 48), b64_54=m.s(B64, 54), b64_200=m.s(B64, 200), hex32=m.s(HEX, 32), hex16=m.s(HEX, 16),
                hexup16=m.s(HEX.upper(), 16), n=m.random.randint(10, 999)))
    return out

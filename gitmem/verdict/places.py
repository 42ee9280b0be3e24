"""What the place of a file says: below which folders it lies, and what its own coming, going or renaming means."""

from __future__ import annotations

from gitmem.patch import FilePatch
from gitmem.values import NamedTuple

# fmt: off
from gitmem.verdict import names
from gitmem.verdict.rules import DOES, HOW, STATE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Found(NamedTuple):
    """One observation. weight: its points, or its share of its rule's points before they are known.

    pages: those it concerns, fewer than its rule's where the direction tells.
    """

    rule: str
    kind: str
    weight: float
    pages: tuple[str, ...]
    path: str
    line: int | None
    what: str


def under(path: str, paths: tuple[str, ...]) -> bool:
    """Whether the path lies under one of the segments, or ends with one that is a file name or suffix."""
    low = '/' + path.lower()
    stem = low.rpartition('/')[2].partition('.')[0]
    for segment in paths:
        if f'/{segment}/' in low or stem == segment or ('.' in segment and low.endswith(segment if segment[0] == '.' else '/' + segment)):
            return True
    return False


TOOLS = ('scripts', 'script', 'tools', 'hack', 'dev', 'devtools', 'ops', 'infra', 'ci', 'build-tools', 'contrib', 'loadtest', 'debug', 'packaging')


# Folders whose growth is a matter of architecture: storage, transport, processes.
LAYERS = ('storage', 'store', 'stores', 'db', 'database', 'databases', 'repositories', 'persistence', 'cache', 'queue', 'queues', 'daemon', 'worker', 'workers',
           'rpc', 'grpc', 'protocol', 'protocols', 'transport', 'transports', 'sync', 'replication', 'scheduler', 'broker', 'bus', 'infrastructure',
           'integrations', 'providers', 'adapters', 'drivers', 'connectors')


MARKUP = ('md', 'rst', 'adoc', 'html', 'htm', 'xaml', 'xml', 'cshtml', 'erb', 'haml', 'slim', 'jsp', 'ejs', 'hbs', 'twig', 'tmpl', 'json', 'yml', 'yaml')
# Services, brokers and stores outside the project, and words for what speaks to them.
_SERVICES = ('github', 'gitlab', 'bitbucket', 'slack', 'telegram', 'discord', 'mattermost', 'msteams', 'twilio', 'stripe', 'paypal', 'kafka', 'rabbitmq',
             'redis', 'postgres', 'mysql', 'mariadb', 'mongodb', 'elasticsearch', 'opensearch', 'clickhouse', 'memcached', 'minio', 'sentry', 'datadog',
             'oauth', 'ldap', 'saml', 'openid', 'oidc', 'webhook', 'websocket', 'smtp', 'mqtt', 'grpc', 'openai', 'anthropic', 'ollama', 'jira', 'trello',
             'linear', 'notion', 'zapier', 'shopify', 'sendgrid', 'mailgun', 'pusher', 'algolia', 'meilisearch', 'bigquery', 'snowflake', 'spotify',
             'dropbox', 'cloudflare', 'firebase', 'pagerduty', 'opsgenie', 'prometheus', 'grafana', 'youtube', 'lastfm', 'azure')
_PROVIDERS = ('provider', 'adapter', 'driver', 'transport', 'connector', 'exporter', 'importer', 'gateway', 'backend', 'integration', 'notifier', 'client')


def service(name: str) -> str | None:
    """The service outside the project that a name speaks of."""
    low = name.lower()
    return next((word for word in _SERVICES if word in low), None)


def outside(patch: FilePatch) -> list[Found]:
    """A file named after a service outside the project, or after what speaks to one, comes or goes."""
    if patch.status not in 'AD' or not names.finders_for(patch.path) or names.suffix(patch.path) in MARKUP:
        return []
    stem = patch.path.lower().rpartition('/')[2].partition('.')[0]
    pages, verb = ((HOW, DOES, STATE), 'appears') if patch.status == 'A' else ((HOW, DOES), 'goes')
    word = service(stem)
    if word:
        return [Found('integration', 'service', 1.0, pages, patch.path, None, f"'{word}' in a file that {verb}")]
    if stem.endswith(_PROVIDERS):
        return [Found('integration', 'provider', 1.0, pages, patch.path, None, f"'{stem}' {verb}")]
    return []


def renamed(patch: FilePatch, rules: Sequence[Rule]) -> list[Found]:
    """A file that a rename took under a rule's paths or out of them."""
    if patch.old_path is None:
        return []
    return [Found(rule.name, 'file@', 1.0, rule.pages, patch.path, None, f"'{patch.old_path}' renamed to '{patch.path}'")
            for rule in rules if 'file@' in rule.kinds and under(patch.path, rule.paths) != under(patch.old_path, rule.paths)]


def by_path(patch: FilePatch) -> list[Found]:
    """What the coming or going of the file itself says, by the conventions of frameworks."""
    if patch.status not in 'ADR':
        return []
    low = '/' + patch.path.lower()
    folder, _, name = low.rpartition('/')
    stem = name.partition('.')[0]
    verb, pages = ('goes', (DOES,)) if patch.status == 'D' else ('appears', (DOES, STATE))
    if folder.endswith(('/management/commands', '/console/commands')) and not stem.startswith('_') and patch.status != 'R':
        return [Found('interface', 'command', 1.0, pages, patch.path, None, f"command '{stem}' {verb}")]
    old = '/' + (patch.old_path or '').lower()
    moved = patch.status == 'R' and ('/pages/api/' in low) == ('/pages/api/' in old)
    if ('/pages/api/' in low or ('/app/api/' in low and stem == 'route') or '/server/api/' in low) and not moved and name.endswith(('ts', 'js', 'tsx')):
        return [Found('routes', 'route', 1.0, pages + (HOW,), patch.path, None, f"route file '{patch.path}' {verb}")]
    if patch.status != 'R' and name.endswith(('.vue', '.tsx', '.jsx', '.svelte', '.razor', '.js', '.cshtml', '.xaml')) and (
            '/pages/' in low or '/screens/' in low or ('/views/' in low and '.vue' in name) or stem in ('page', '+page') or 'dialog' in stem or 'modal' in stem):
        return [Found('interface', 'screen', 1.0, pages, patch.path, None, f"screen '{stem}' {verb}")]
    if name in _BUILD_FILES and not folder and patch.status != 'R':
        return [Found('structure', 'build', 1.0, (HOW,), patch.path, None, f"build file '{name}' {verb}")]
    if stem in ('__init__', 'mod', 'go', 'package', 'cargo', 'pom', 'build') and name in _PACKAGE_FILES and patch.status != 'R' and folder:
        return [Found('structure', 'package', 1.0, (HOW,), patch.path, None, f"package '{folder[1:]}' {verb}")]
    return []


# Build systems and bundlers: one that comes or goes at the top was replaced or begun.
_BUILD_FILES = frozenset(('pom.xml', 'build.gradle', 'build.gradle.kts', 'package.json', 'cargo.toml', 'go.mod', 'pyproject.toml', 'setup.py', 'gemfile',
                          'composer.json', 'cmakelists.txt', 'meson.build', 'build.bazel', 'webpack.config.js', 'vite.config.js', 'vite.config.ts',
                          'rollup.config.js', 'gulpfile.js', 'gruntfile.js', 'build.sbt', 'build.xml'))
_PACKAGE_FILES = ('__init__.py', 'mod.rs', 'go.mod', 'package.json', 'cargo.toml', 'pom.xml', 'build.gradle', 'build.gradle.kts')

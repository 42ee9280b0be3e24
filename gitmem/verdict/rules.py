"""The rules of the verdict as data: which evidence makes which signal, how much it weighs, which pages it concerns.

Points: RELEVANT_POINTS make a window relevant, so evidence of 10 is enough alone. Weights were set on the tune half of
the labelled windows (bench/verdict.md has the tables); the limits 10 files, 200 lines and 80 net lines are the contract.
"""

from __future__ import annotations

# fmt: off
from gitmem.values import NamedTuple

FOLDER = '.gitmem/bootstrap'  # of the pages
WHAT_IS = 'what-is.md'
HOW = 'how-it-works.md'
DOES = 'what-it-does.md'
STATE = 'current-state.md'
PAGES = (DOES, STATE, HOW, WHAT_IS)

RELEVANT_POINTS = 8.0
VOLUME_FILES = 10
VOLUME_LINES = 200
VOLUME_NET_LINES = 80


class Rule(NamedTuple):
    """One signal.

    paths: whole segments (or ends of paths, when they hold a dot or '/'), case ignored, any depth; () for any file.
    kinds: evidence kind -> points of one piece; a kind ending in '@' counts only in a file under `paths`
    ('func@' a func declared there, 'file@' a rename in or out, 'change@' any line that counts, 'unread@' a file whose lines were not read).
    pages: the pages the signal concerns, most affected first.
    """

    name: str
    paths: tuple[str, ...]
    kinds: dict[str, float]
    pages: tuple[str, ...]


DEFAULT: tuple[Rule, ...] = (
    Rule('routes',
         ('routes', 'route', 'routers', 'controllers', 'handlers', 'endpoints', 'pages/api', 'app/api', 'urls.py', 'routes.rb', 'routes.php', 'resolvers', 'apis'),
         {'route': 10, 'verb': 10, 'rpc': 10, 'func@': 10, 'class@': 6, 'file@': 10, 'unread@': 8},
         (DOES, STATE, HOW)),
    Rule('models',
         ('models', 'migrations', 'migrate', 'migration', 'entities', 'entity', 'prisma/schema.prisma', 'schema.rb', '.sql', 'versions', 'schema'),
         {'table': 10, 'column': 10, 'class@': 7, 'unread@': 8},
         (HOW, STATE)),
    Rule('contracts', (),
         {'promise': 10, 'message@': 10, 'field@': 10, 'rpc@': 10, 'route@': 10, 'unread@': 8},
         (DOES, STATE)),
    Rule('interface', (),
         {'option': 10, 'command': 10, 'env': 10, 'setting': 5, 'key': 3, 'param': 5, 'export': 7, 'func': 1.5, 'class': 1.5, 'type': 1,
          'field': 2, 'control': 2, 'widget': 1, 'screen': 4, 'rule': 8, 'scope': 1, 'input': 4, 'const': 3, 'help': 2, 'documented': 6, 'announced': 5, 'subject': 3, 'docs': 2},
         (DOES, STATE)),
    Rule('integration',
         ('integrations', 'providers', 'drivers', 'adapters', 'notifiers', 'channels', 'clients', 'transports', 'jobs', 'workers', 'queues', 'tasks', 'connectors'),
         {'job': 6, 'provider': 5, 'class@': 3, 'service': 6},
         (HOW, DOES, STATE)),
    Rule('structure', (),
         {'package': 3, 'moved': 6, 'platform': 8, 'framework': 8, 'layer': 10, 'supports': 4, 'build': 8, 'dep': 1},
         (HOW,)),
    Rule('state', ('.gitmem/bootstrap/current-state.md',), {'entry': 10}, (STATE,)),
    Rule('volume', (), {'pair': 10, 'net': 10, 'some': 7}, (DOES, STATE)),
)
# Most points that several pieces of one kind give together: many weak names are not a strong one.
MOST_POINTS: dict[str, float] = {
    'func': 4, 'class': 4, 'type': 2, 'field': 4, 'control': 5, 'widget': 3, 'scope': 2, 'param': 7, 'export': 10, 'setting': 10, 'key': 6,
    'dep': 3, 'provider': 6, 'documented': 10, 'screen': 8, 'service': 8, 'class@': 10, 'input': 6, 'const': 3, 'help': 4, 'layer': 0, 'tool': 3,
}
USUAL_MOST_POINTS = 14.0

# Choice of pages. Share of a piece's points that its first, second and third page get; share of the strongest page's
# points, and points, that a page needs; kinds that speak of the architecture alone, and the points that choose
# how-it-works.md by themselves; kinds that say nothing about the page once the architecture explains the change.
PAGE_SHARE = (1.0, 1.0, 0.4)
LEAST_SHARE = 0.34
LEAST_POINTS = 3.2
ARCHITECTURE = frozenset(('table', 'column', 'class@', 'service', 'provider', 'job', 'layer', 'platform', 'framework', 'build', 'moved', 'package', 'supports'))
ARCHITECTURE_POINTS = 6.0
THIN = frozenset(('some', 'net', 'pair', 'subject', 'docs', 'func', 'class', 'type', 'widget'))

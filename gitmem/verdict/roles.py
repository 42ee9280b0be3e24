"""Why a file is left out of a verdict, told from its path alone: whole segments, any depth, case ignored.

Sources: the labelling rubric N1..N8 (tests, fixtures, built artefacts, locks, translations, developer tooling, style),
github-linguist's vendor.yml and generated.rb for the names of folders and suffixes.
"""

from __future__ import annotations

from gitmem.values import remember
from gitmem.verdict.rules import FOLDER

# fmt: off

_SEGMENTS: dict[str, str] = {
    segment: role
    for role, segments in (
        ('fixture', 'fixtures fixture testdata test-data test_data __fixtures__ __snapshots__ golden goldens '
                    'cassettes mocks __mocks__ seeds seeders factories'),
        ('test', 'test tests __tests__ spec specs e2e cypress playwright benchmark benchmarks benches androidtest '
                 'integration-tests integration_tests unittests functionaltests step_definitions testing test_utils '
                 'testutil testutils test-utils testlib testsupport test-support test_support testhelpers test-helpers'),
        ('vendored', 'vendor vendors vendored third_party third-party thirdparty node_modules bower_components .yarn '
                     'godeps'),
        ('generated', 'dist build out target __generated__ generated gen autogen .next .nuxt coverage obj '
                      '.openapi-generator htmlcov'),
        ('translation', 'locale locales lang langs languages i18n l10n intl translations lc_messages'),
        ('ci', '.github .circleci .gitlab .buildkite .woodpecker .travis .teamcity'),
        ('editor', '.vscode .idea .vs .devcontainer .fleet .zed .cursor .claude .husky .changeset .gitmem'),
        ('docs', 'docs doc documentation website wiki site-docs'),
        ('example', 'examples example samples sample demo demos screenshots'),
        ('style', 'styles css scss sass less stylesheets'),
    )
    for segment in segments.split()
}
# A folder that holds code whatever its parents are called: app/services/lang would still be left out, docs/api not.
_ORDER = ('vendored', 'generated', 'fixture', 'test', 'ci', 'editor', 'translation', 'docs', 'example', 'style')

_NAMES: dict[str, str] = {
    name: role
    for role, names in (
        ('lock', 'package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml composer.lock gemfile.lock cargo.lock '
                 'go.sum poetry.lock uv.lock pipfile.lock pdm.lock bun.lock bun.lockb deno.lock flake.lock mix.lock '
                 'pubspec.lock podfile.lock packages.lock.json gradle.lockfile .terraform.lock.hcl paket.lock '
                 'go.work.sum'),
        ('generated', 'mvnw mvnw.cmd gradlew gradlew.bat gradle-wrapper.properties maven-wrapper.properties'),
        ('ci', '.travis.yml .gitlab-ci.yml appveyor.yml .appveyor.yml azure-pipelines.yml jenkinsfile codecov.yml '
               '.codecov.yml .readthedocs.yml .readthedocs.yaml dependabot.yml renovate.json .goreleaser.yml '
               '.pre-commit-config.yaml cliff.toml bitbucket-pipelines.yml .drone.yml netlify.toml'),
        ('editor', '.editorconfig .gitignore .gitattributes .gitmodules .dockerignore .npmignore .prettierrc '
                   '.prettierignore .eslintignore .mailmap .git-blame-ignore-revs .browserslistrc .npmrc .nvmrc '
                   '.ruby-version .tool-versions .python-version .flake8 .rubocop.yml .rubocop_todo.yml .pylintrc '
                   'rustfmt.toml clippy.toml .clang-format .clang-tidy mypy.ini tox.ini pytest.ini phpunit.xml '
                   'phpunit.xml.dist phpstan.neon phpstan.neon.dist .php-cs-fixer.php .scrutinizer.yml .styleci.yml '
                   'codeowners justfile noxfile.py .coveragerc tslint.json biome.json .golangci.yml .envrc '
                   'checkstyle.xml pint.json .stylelintrc .babelrc .swcrc lerna.json'),
        ('test', 'conftest.py testcase.php test_helper.rb spec_helper.rb rails_helper.rb'),
        ('docs', 'readme license licence copying authors contributors contributing notice security code_of_conduct '
                 'todo install thanks maintainers agents claude gemini'),
        ('changelog', 'changelog changes history news releases release-notes release_notes releasenotes whatsnew'),
        ('translation', 'messages.properties'),
    )
    for name in names.split()
}
_SUFFIXES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ('minified', ('.min.js', '.min.css', '.min.mjs', '-min.js', '.bundle.js', '-bundle.js', '.map')),
    ('generated', ('.pb.go', '.pb.gw.go', '.pb.cc', '.pb.h', '_pb2.py', '_pb2_grpc.py', '_pb2.pyi', '_pb.js', '_pb.ts',
                   '_pb.d.ts', '.g.dart', '.freezed.dart', '.g.cs', '.designer.cs', '.generated.cs', '.gen.go', '.gen.ts',
                   '_generated.go', '.generated.ts', '_string.go', '.sum')),
    ('fixture', ('.snap', '.snap.new', '.golden', '.approved.txt', '.har', '.jsonl', '.ndjson')),
    ('test', ('_test.go', '_test.py', '_tests.py', '_test.rb', '_spec.rb', '_test.exs', '_test.dart', '_test.cc',
              '_test.cpp', '_test.rs', '_tests.rs', '.bats', '.jmx', '.feature',
              'test.java', 'tests.java', 'test.kt', 'tests.kt', 'test.php', 'tests.cs', 'test.cs', 'tests.swift',
              'testcase.php', 'test.scala', 'spec.scala')),
    ('translation', ('.po', '.pot', '.mo', '.xliff', '.xlf', '.arb', '.strings', '.resx')),
    ('style', ('.css', '.scss', '.sass', '.less', '.styl', '.pcss')),
    ('lock', ('.lock', '.lockb')),
    ('docs', ('.md', '.mdx', '.rst', '.adoc', '.asciidoc', '.markdown', '.txt', '.ipynb', '.html-fragment', '.1', '.org',
              '.pod', '.rdoc')),
    ('asset', ('.svg', '.png', '.jpg', '.jpeg', '.gif', '.ico', '.webp', '.avif', '.pdf', '.woff', '.woff2', '.ttf',
               '.eot', '.otf', '.mp3', '.mp4', '.wav', '.zip', '.gz', '.csv', '.geojson', '.psd')),
)
_MANIFESTS = frozenset((
    'package.json', 'composer.json', 'gemfile', 'cargo.toml', 'go.mod', 'go.work', 'pyproject.toml', 'setup.py', 'setup.cfg',
    'pipfile', 'pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts',
    'gradle.properties', 'libs.versions.toml', 'directory.packages.props', 'directory.build.props',
    'directory.build.targets', 'nuget.config', 'global.json', 'mix.exs', 'pubspec.yaml', 'flake.nix', 'default.nix',
    'plugin.json', 'marketplace.json', 'version.go', 'version', 'version.txt', 'version.py', '_version.py',
    'version.rb', 'dockerfile', 'deno.json', 'package.swift', 'podfile', 'cmakelists.txt', 'makefile',
    'pnpm-workspace.yaml', 'requirements.txt', 'requirements.in'))
_CONTRACT_SUFFIXES = ('.proto', '.graphql', '.graphqls', '.gql', '.avsc', '.thrift', '.schema.json', '.wsdl', '.xsd')
_CONTRACT_PREFIXES = ('prd-', 'requirements-', 'openapi', 'swagger', 'asyncapi', 'adr-')


def manifest(path: str) -> bool:
    """True for a file that lists dependencies, versions or how to build."""
    name = path.lower().rpartition('/')[2]
    return name in _MANIFESTS or name.endswith(('.csproj', '.fsproj', '.vbproj', '.gemspec', '.cabal', '.sln', '.slnx')) or (
        name.startswith('requirements') and name.endswith(('.txt', '.in')))


def contract(path: str) -> bool:
    """True for a document that is itself a promise: requirements, interface descriptions, decisions."""
    low = path.lower()
    folder, _, name = low.rpartition('/')
    if name.endswith(_CONTRACT_SUFFIXES) or name == 'features.md':
        return True
    if name.startswith(_CONTRACT_PREFIXES) and name.endswith(('.md', '.yaml', '.yml', '.json', '.rst', '.adoc')):
        return True
    parts = folder.split('/')
    if name.endswith('.json') and ('schemas' in parts or 'jsonschema' in parts or 'json-schema' in parts):
        return True
    return name.endswith(('.md', '.adoc')) and ('adr' in parts or 'adrs' in parts or 'decisions' in parts) and name[:1].isdigit()


@remember(4096)
def role(path: str) -> str | None:
    """Role that takes the file out of the verdict, None for code and for documents that are contracts.

    path: relative to the top, with '/'. One of: vendored generated minified fixture test lock translation ci editor
    changelog docs example style asset.
    """
    low = path.lower()
    folder, _, name = low.rpartition('/')
    found = _segments(folder)
    if not found and ((low[:1] == '.' and '/' in low) or '/.' in folder) and '.gitmem/' not in low:
        return 'editor'
    if 'translation' in found and name.endswith(_CODE):
        found = found - {'translation'}
    if found:
        if (found <= _SOFT or (found == {'test'} and folder.rpartition('/')[2] in ('spec', 'specs'))) and contract(low):
            return None
        if found == {'docs'} and _name_role(name) == 'changelog':
            return 'changelog'
        if 'generated' not in found or not folder.startswith(('src/', 'app/')) or found != {'generated'}:
            for candidate in _ORDER:
                if candidate in found:
                    return candidate
    if contract(low):
        return None
    return _name_role(name)


@remember(4096)
def _segments(folder: str) -> frozenset[str]:
    """What the segments of a folder say of the files below it."""
    return frozenset(_SEGMENTS[part] for part in folder.split('/') if part in _SEGMENTS)


_SOFT = frozenset(('docs', 'example'))
_CODE = ('.go', '.rs', '.java', '.kt', '.py', '.rb', '.cs', '.c', '.cpp', '.vue', '.tsx', '.jsx', '.swift')


def weighs(path: str) -> bool:
    """Whether the lines of a file may weigh in a verdict: code, contracts, what tells of them, an entry by hand."""
    return role(path) in (None, 'docs', 'changelog') or path.startswith(FOLDER)


def _name_role(name: str) -> str | None:
    if name in _NAMES:
        return _NAMES[name]
    if name in _MANIFESTS or (name.startswith('requirements') and name.endswith(('.txt', '.in'))):
        return None
    stem, _, tail = name.partition('.')
    if tail in ('', 'md', 'rst', 'txt', 'adoc', 'markdown') and stem in _NAMES:
        return _NAMES[stem]
    if name.startswith('changelog') and tail.rpartition('.')[2] in ('', 'md', 'rst', 'txt', 'adoc', 'markdown'):
        return 'changelog'
    for found, suffixes in _SUFFIXES:
        if name.endswith(suffixes):
            return found
    if (name.startswith('test_') and name.endswith(('.py', '.rb'))) or _dotted_test(tail):
        return 'test'
    if name.startswith(('messages_', '.eslintrc', '.prettierrc', 'eslint.config', 'jest.config')):
        return 'translation' if name.startswith('messages_') else 'editor'
    return None


def _dotted_test(tail: str) -> bool:
    """True for the middle of x.test.ts, x.spec.js, x.stories.tsx."""
    return tail.split('.', 1)[0] in ('test', 'spec', 'cy', 'stories') and '.' in tail

"""What names look like in each language: data only. names.py reads it.

A finder is (guards, pattern). The pattern is tried only when one of the guards occurs in the text (() always), is
compiled at its first use, and runs over all lines of one side joined by line ends, each line preceded by one. Its named
groups are the kinds of the names found (a trailing digit tells apart two groups of one kind). Patterns begin with a
literal where they can: the regex engine then skips to it instead of trying every position.

Kinds: func class type (declared), route, table, column, option, command, env, setting, rpc, field, message, job,
param, screen, dep, platform.
"""

from __future__ import annotations

# fmt: off

Finder = tuple[tuple[str, ...], str]

_Q = r'''["'`]'''
_PATH = r'''[\w<>:{}\[\].*$@/()?^|\\+=~-]*'''

_SQL: tuple[Finder, ...] = (
    (('table ', 'TABLE '),
     r'(?i:create|drop|rename)\s+(?i:temporary\s+|temp\s+|virtual\s+|external\s+|unlogged\s+)?(?i:table)\s+'
     r'(?i:if\s+(?:not\s+)?exists\s+)?[`"\[\']?(?:\w+[`"\]]?\.[`"\[]?)?(?P<table>[A-Za-z_]\w*)'),
    (('COLUMN', 'column '),
     r'\b(?i:add|drop|rename)\s+(?i:column)\s+(?i:if\s+(?:not\s+)?exists\s+)?[`"\[]?(?P<column>\w+)'),
    (('ALTER TABLE', 'alter table'),
     r'(?i:alter\s+table)\s+(?i:only\s+)?\S+\s+(?i:add|drop|rename)\s+'
     r'(?!(?i:constraint|index|primary|foreign|key|unique|column|to|if|check|partition)\b)[`"\[]?(?P<column>\w+)'),
)

# A numeric constant whose name is one of a limit or a duration.
_CONSTANT: Finder = (
    ('Max', 'Min', 'efault', 'MAX_', 'MIN_', '_MAX', '_MIN', 'LIMIT', '_DAYS', '_HOURS', '_SECONDS', '_TIMEOUT', '_INTERVAL', '_RETRIES', '_TTL', '_THRESHOLD', '_COUNT', '_SIZE'),
    r'\n[ \t]*(?:\w+ ){0,5}(?P<const>[A-Z][A-Z0-9]*_[A-Z0-9_]+|(?:Max|Min|[Dd]efault)[A-Z]\w*)\b[^=\n(]*=\s*\d')

_CONFIG_READ: Finder = (('onfig',), r'onfig\w*(?:\(\))?(?:\.|->|::)(?:get|has|is|lookup)\w*\(\s*["\'](?P<setting>[\w.-]+)["\']')

PYTHON: tuple[Finder, ...] = (
    _CONFIG_READ,
    (('.GET', '.POST', '.args', 'query_params'), r'\b(?:GET|POST|args|query_params)(?:\.get(?:list)?\(|\[)["\'](?P<input>\w+)'),
    (('BaseModel', 'Serializer'), r'class (?P<type>\w+)\([^)\n]*(?:BaseModel|Serializer)'),
    _CONSTANT,
    (('def ', 'class '), r'\n(?:[ ]{0,4}|\t)(?:async )?(?:def (?P<func>[A-Za-z_]\w*)|class (?P<class>\w+))'),
    (('prefix=', 'prefix ='), r'\b(?:APIRouter|Blueprint|include_router|register_blueprint|Router)\([^)\n]*\b(?:url_)?prefix\s*=\s*["\'](?P<route>/[^"\']*)["\']'),
    (('.route(', '.get("/', ".get('/", '.post(', '.put(', '.patch(', '.delete(', '.websocket('),
     r'\n[ \t]*@[\w.]*\.(?:route|get|post|put|patch|delete|websocket|head)\(\s*[rf]?["\'](?P<route>/?[^"\']*)["\']'),
    (('path(', 'url(', 'url_rule(', 'register('),
     r'\b(?:re_path|path|url|add_url_rule|\.register)\(\s*[rf]?["\'](?P<route>[\w<>:/.^$?()\\+\[\]*|-]*)["\']\s*,\s*[\w(]'),
    (('add_argument(', '.option(', 'Option(', '.argument(', 'Argument('),
     r'(?:add_argument|\.option|\bOption|\.argument|Argument)\(\s*(?:\.\.\.,\s*|None,\s*|False,\s*)?'
     r'(?:["\']-\w["\'],\s*)?["\'](?P<option>-{0,2}[\w/-]+)["\']'),
    (('"--', "'--"), r'\n[ \t]+["\'](?P<option>--[a-z][\w-]+)(?:/--[\w-]+)?["\'],?(?=\n|[ ])'),
    (('.command', 'add_parser(', '.group'),
     r'@\w[\w.]*\.(?:command|group)\((?:name=)?["\'](?P<command>[\w:-]+)["\']|add_parser\(\s*["\'](?P<command2>[\w:-]+)["\']'),
    (('.command', '.tool', '.resource', '.prompt'), r'@\w[\w.]*\.(?:command|tool|resource|prompt)\([^)\n]*\)?\n'
     r'(?:[ \t@)"\'][^\n]*\n){0,12}?[ \t]*(?:async )?def (?P<command>\w+)'),
    (('environ', 'getenv', 'env', 'config('),
     r'(?:environ(?:\.get|\.setdefault|\.pop)?[\[(]|getenv\(|\benv(?:\.?(?:bool|int|list|str|path|float|json|url|db|cache))?\(|'
     r'\bconfig\(|envvar=|env=)\s*["\'](?P<env>[A-Z][A-Z0-9_]{2,})["\']'),
    (('models.',), r'\n[ \t]+(?!field=)(?P<column>\w+)(?:\s*:[^=\n]+)?\s*=\s*models\.(?:\w*Field|ForeignKey)\('),
    (('Column(', 'mapped_column', 'Mapped['), r'\n[ \t]+(?P<column>\w+)(?:\s*:[^=\n]+)?\s*=\s*(?:\w+\.)?(?:Column|mapped_column)\('),
    (('models.Model', 'db.Model', 'table=True', '__tablename__', 'DeclarativeBase'),
     r'class (?P<table>\w+)\([^)\n]*(?:models\.Model|db\.Model|table=True)|__tablename__\s*=\s*["\'](?P<table2>\w+)'),
    (('migrations.',), r'migrations\.(?:CreateModel|DeleteModel|RenameModel)\(\s*(?:name|old_name)=["\'](?P<table>\w+)|'
     r'migrations\.(?:AddField|RemoveField|RenameField)\(\s*(?:model_name=)?["\']\w+["\'],\s*(?:name=|old_name=)?["\'](?P<column>\w+)'),
    (('op.',), r'\bop\.(?:create_table|drop_table|rename_table)\(\s*["\'](?P<table>\w+)|'
     r'\bop\.(?:add_column|drop_column)\(\s*["\']\w+["\'],\s*(?:sa\.Column\(\s*)?["\'](?P<column>\w+)'),
    (('task', 'cron', 'scheduled_job', 'periodic'),
     r'@[\w.]*(?:\btask|shared_task|scheduled_job|periodic_task|cron)\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async )?def (?P<job>\w+)'),
) + _SQL

JAVASCRIPT: tuple[Finder, ...] = (
    _CONFIG_READ,
    (('z.', 'yup.', 'Joi.'), r'\n[ \t]+(?P<input>\w+): (?:z|yup|Joi)\.'),
    (('query.', 'body.', 'searchParams'), r'\b(?:req|request|ctx)\.(?:query|body)\.(?P<input>\w+)|searchParams\.get\(["\'](?P<input2>\w+)'),
    _CONSTANT,
    (('export ',), r'\nexport (?:default |declare |async |abstract )*(?:(?:function\*?|const|let|var) (?P<func>[A-Za-z_$][\w$]*)|'
     r'class (?P<class>\w+)|(?:interface|type|enum) (?P<type>\w+))'),
    (('.prototype.', 'exports.'), r'\n(?P<export>(?:(?!String|Array|Object|Date|BigInt|Number|Promise|Function|Map|Set)[A-Z]\w*\.prototype|(?:module\.)?exports)\.\w+) ='),
    (('function ', 'class '), r'\n(?:async )?(?:function\*? (?P<func>[A-Za-z_$][\w$]*)|class (?P<class>\w+))'),
    (('.get(', '.post(', '.put(', '.patch(', '.delete(', '.all(', '.use(', '.route(', '.options('),
     r'\b(?:app|router|\w*[rR]outer?|api|server|fastify|routes|r|v\d|hono)\s*\.(?:get|post|put|patch|delete|all|use|route|options)\(\s*["\'`](?P<route>/[^"\'`\n]*)["\'`]'),
    (('@Get', '@Post', '@Put', '@Patch', '@Delete', '@Controller', '@All('),
     r'@(?:Get|Post|Put|Patch|Delete|All|Controller)\(\s*(?:["\'`](?P<route>[^"\'`\n]*)["\'`])?\s*\)'),
    (('path:', 'path='), r'(?:<Route\b[^>\n]*\bpath=\{?|\n[ \t]*(?:\{\s*)?path:\s*)["\'`](?P<route>/?[\w:/*?.-]*)["\'`]'),
    ((' GET', ' POST', ' PUT', ' PATCH', ' DELETE'), r'\nexport (?:async )?(?:function|const) (?P<verb>GET|POST|PUT|PATCH|DELETE)\b'),
    (('.command(', 'registerCommand(', '.tool(', 'registerTool('),
     r'\.(?:command|registerCommand|tool|registerTool)\(\s*["\'`](?P<command>[\w:.\-]+)'),
    (('.option(', '.requiredOption(', "'--", '"--'),
     r'\.(?:option|requiredOption)\(\s*["\'`](?:-\w,\s*)?(?P<option>[\w-]+)|case ["\'](?P<option2>--[\w-]+)["\']|=== ?["\'](?P<option3>--[\w-]+)["\']'),
    (('process.env', 'import.meta.env', 'Deno.env', 'Bun.env'),
     r'(?:process|Bun|import\.meta)\.env(?:\.|\[["\'`])(?P<env>[A-Z][A-Z0-9_]{2,})|Deno\.env\.get\(["\'](?P<env2>\w+)'),
    (('pgTable(', 'mysqlTable(', 'sqliteTable(', 'createTable', 'dropTable', '.define(', '@Entity'),
     r'\b(?:pgTable|mysqlTable|sqliteTable|createTable|dropTable|createTableIfNotExists|sequelize\.define)\(\s*["\'`](?P<table>\w+)|@Entity\([^)]*\)\s*(?:export )?class (?P<table2>\w+)'),
    (('addColumn(', 'dropColumn(', 'removeColumn(', 'renameColumn(', '@Column'),
     r'\b(?:addColumn|dropColumn|removeColumn|renameColumn)\((?:\s*["\'`]\w+["\'`],)?\s*["\'`](?P<column>\w+)|@Column\([^)]*\)\s*(?P<column2>\w+)'),
    (('setInterval(', 'schedule(', '@Cron(', 'Queue('), r'(?:cron\.schedule|@Cron|new (?:Bull)?Queue|new Worker|schedule)\(\s*["\'`](?P<job>[^"\'`\n]+)'),
) + _SQL

# A hand-written declaration file is the public surface of a package.
DECLARATIONS: tuple[Finder, ...] = JAVASCRIPT + (((), r'\n[ \t]+(?:readonly |static )?(?P<export>[a-z]\w*)\??(?:<[^>\n]*>)?\('),)

GO: tuple[Finder, ...] = (
    _CONFIG_READ,
    (('Query().Get(', 'FormValue(', '.Query(', '.Param('), r'(?:Query\(\)\.Get|FormValue|\.Query|\.DefaultQuery)\(\s*"(?P<input>\w+)'),
    _CONSTANT,
    (('func ', 'type '), r'\n(?:func (?:\([^)\n]*\) )?(?P<func>\w+)[(\[]|type (?P<class>\w+) )'),
    (('HandleFunc(', 'Handle(', '.GET(', '.POST(', '.PUT(', '.PATCH(', '.DELETE(', '.Get(', '.Post(', '.Put(', '.Patch(', '.Delete(', '.Any(', '.Group(', '.Route('),
     r'\.(?:HandleFunc|Handle|GET|POST|PUT|PATCH|DELETE|Get|Post|Put|Patch|Delete|Any|Group|Route|HandlerFunc)\(\s*(?:http\.Method\w+,\s*)?["`](?P<route>(?:[A-Z]+ )?/[^"`\n]*)["`]'),
    (('Use:',), r'\n[ \t]*Use:\s*"(?P<command>[\w:-]+)'),
    (('Flags()', 'flag.', 'flags.', 'fs.'), r'\b(?:Flags\(\)|flag|flags|fs|flagSet)\.(?:\w*Var[P]?\(\s*[&\w.]+(?:\[[^]]*\])?,\s*|(?:String|Bool|Int|Int64|Uint|Duration|Float64|StringSlice|StringArray|Count)P?\(\s*)"(?P<option>[\w.-]+)"'),
    (('cli.', 'Flag{'), r'(?:cli\.\w*Flag\{\s*(?:\n\s*)?Name:|&cli\.Command\{\s*(?:\n\s*)?Name:)\s*"(?P<option>[\w-]+)'),
    (('Getenv(', 'LookupEnv(', 'env:"'), r'(?:Getenv|LookupEnv)\(\s*"(?P<env>\w+)"|\benv:"(?P<env2>[A-Z]\w+)'),
    (('viper.', 'yaml:"', 'toml:"', 'mapstructure:"', 'SetDefault('),
     r'(?:viper|v)\.(?:Get\w*|SetDefault|BindEnv|BindPFlag|IsSet)\(\s*"(?P<setting>[\w.-]+)"|(?:yaml|toml|mapstructure):"(?P<setting2>\w[\w.-]*)'),
    (('json:"',), r'\n[ \t]+[A-Z]\w*\s+\S+\s+`[^`\n]*json:"(?P<field>\w[\w.-]*)'),
    (('NewTicker(', 'AddFunc(', 'cron.'), r'\b(?:AddFunc|AddJob)\(\s*"(?P<job>[^"\n]+)"'),
    (('gorm:"', 'db:"', 'bun:"'), r'\n[ \t]+(?P<column>[A-Z]\w*)\s+\S+\s+`[^`\n]*(?:gorm|db|bun):"'),
    (('mcp.NewTool(', 'NewTool('), r'NewTool\(\s*"(?P<command>[\w-]+)'),
) + _SQL

RUBY: tuple[Finder, ...] = (
    _CONFIG_READ,
    (('params[', 'permit('), r'\bparams\[:(?P<input>\w+)'),
    _CONSTANT,
    (('def ', 'class ', 'module '), r'\n[ \t]*(?:def (?:self\.)?(?P<func>[a-zA-Z_]\w*[?!=]?)|class (?P<class>[A-Z][\w:]*)|module (?P<class2>[A-Z][\w:]*))'),
    (('create_table', 'drop_table', 'rename_table', 'create_join_table'), r'\b(?:create_table|drop_table|rename_table|create_join_table)[ (]+[:"\'](?P<table>\w+)'),
    (('add_', 'remove_', 'rename_column'), r'\b(?:add_column|remove_column|rename_column|add_reference|remove_reference|add_belongs_to)[ (]+[:"\']\w+["\']?,\s*[:"\'](?P<column>\w+)'),
    (('t.',), r'\n[ \t]*t\.(?!index|check_constraint|timestamps|foreign_key|remove_index|unique|change)\w+\s+[:"\'](?P<column>\w+)'),
    (('optparse', 'opts.on', 'parser.on', '.on(', 'option '), r'(?:\.on\(?\s*(?:["\']-\w[^"\']*["\'],\s*)?["\'](?P<option>--[\w-]+)|\n[ \t]*(?:method_|class_)?option[ (]+[:"\'](?P<option2>[\w-]+))'),
    (('task ', 'desc '), r'\n[ \t]*task[ (]+[:"\']?(?P<command>\w+)|\n[ \t]*desc ["\'](?P<command2>[a-z][\w:-]*)[^"\'\n]*["\'],\s*["\']'),
    (('ENV',), r'\bENV(?:\.fetch\(|\[)\s*["\'](?P<env>\w+)'),
    (('Job', 'Worker', 'perform'), r'class (?P<job>\w+(?:Job|Worker))\b'),
    (('scope',), r'\n[ \t]*scope :(?P<scope>\w+)'),
) + _SQL

RUBY_ROUTES: tuple[Finder, ...] = (
    ((), r'\n[ \t]*(?:get|post|put|patch|delete|match|mount|resources?|namespace|scope|root|devise_for|concern)[ (]+(?:to: ?)?[:"\'](?P<route>[^"\',\s)]+)'),
)

PHP: tuple[Finder, ...] = (
    _CONFIG_READ,
    (('$request', "'required", "'nullable", "'sometimes", 'Rule::'), r'\$request->(?:input|get|query|boolean|integer|string)\(\s*["\'](?P<input>\w+)|\n[ \t]+["\'](?P<input2>[\w.*]+)["\']\s*=>\s*\[?\s*(?:["\'](?:required|nullable|sometimes)|Rule::)'),
    _CONSTANT,
    (('function ', 'class ', 'interface ', 'trait ', 'enum '),
     r'\n[ \t]*(?P<access>(?:(?:final|abstract|readonly|public|protected|private|static) )*)(?:function &?(?P<func>[A-Za-z_]\w*)|(?:class|interface|trait|enum) (?P<class>[A-Z]\w*))'),
    (('Route::', '->get(', '->post(', '->put(', '->patch(', '->delete(', '#[Route', '@Route', '->map(', '->group('),
     r'(?:Route::(?:\w+\([^)\n]*\)->)*(?:get|post|put|patch|delete|any|match|resource|apiResource|apiSingleton|singleton|view|redirect|prefix|group)|\$\w+->(?:get|post|put|patch|delete|map|any|group)|[#@]\[?Route)\(\s*(?:\[[^\]]*\],\s*|path:\s*)?["\'](?P<route>[\w{}/?.:*-]*)["\']'),
    (('Schema::',), r'Schema::(?:create|drop|dropIfExists|rename)\(\s*["\'](?P<table>\w+)'),
    (('$table->',), r'\$table->(?!index|unique|foreign\(|primary|dropIndex|dropForeign|dropUnique|dropPrimary|timestamps|renameIndex|change)\w+\(\s*\[?["\'](?P<column>\w+)'),
    (('env(', 'getenv('), r'\b(?:get)?env\(\s*["\'](?P<env>[A-Z]\w+)'),
    (('$signature', 'AsCommand', 'setName('), r'\$signature\s*=\s*["\'](?P<command>[\w:-]+)|AsCommand\(\s*(?:name:\s*)?["\'](?P<command2>[\w:-]+)|setName\(\s*["\'](?P<command3>[\w:-]+)'),
    (('addOption(', '{--'), r'addOption\(\s*["\'](?P<option>[\w-]+)|\{(?P<option2>--[\w-]+)'),
    (('ShouldQueue', 'Job', '->command('), r'class (?P<job>\w+) (?:extends \w+ )?implements [^\n{]*ShouldQueue|class (?P<job2>\w+Job)\b|->command\(\s*["\'](?P<job3>[\w:-]+)'),
) + _SQL

_JAVA_ROUTE = r'@(?:(?:Get|Post|Put|Patch|Delete|Request)Mapping|Path)\(\s*(?:(?:value|path)\s*=\s*)?\{?\s*"(?P<route>[^"\n]*)"'
JAVA: tuple[Finder, ...] = (
    _CONFIG_READ,
    (('class ', 'interface ', 'enum ', 'record ', 'object '),
     r'\n[ \t]*(?P<access>(?:(?:public|protected|private|internal|static|final|abstract|sealed|open|data|inline|partial|readonly) )*)(?:class|interface|enum(?: class)?|record|object|struct) (?P<class>[A-Z]\w*)'),
    (('public ',), r'\n[ \t]*(?P<access>public )(?:(?:static|final|abstract|async|override|virtual|synchronized|default|<\w+>) )*[\w<>\[\],.? ]+ (?P<func>\w+)\('),
    (('fun ',), r'\n[ \t]*(?P<access>(?:(?:public|protected|private|internal|open|override|suspend|inline|operator) )*)fun (?:<[^>\n]*> )?(?:\w+\.)?(?P<func>\w+)\('),
    (('Mapping(', '@Path('), _JAVA_ROUTE),
    (('@Entity', '@Table', '@Document'), r'@(?:Table|Document)\(\s*(?:(?:name|collection|value)\s*=\s*)?"(?P<table>\w+)|@Entity\b[^\n]*\n(?:@[^\n]*\n)*\s*(?:public )?(?:\w+ )*class (?P<table2>\w+)'),
    (('@Column', '@JoinColumn'), r'@(?:Join)?Column\([^)\n]*name\s*=\s*"(?P<column>\w+)|@Column\b[^\n]*\n(?:\s*@[^\n]*\n)*\s*(?:private|protected|public|var|val|lateinit var) (?:final )?(?:[\w<>,.]+ )?(?P<column2>\w+)'),
    (('getenv(',), r'getenv\(\s*"(?P<env>\w+)'),
    (('@Value(', '@ConfigurationProperties', '@ConditionalOnProperty'), r'@Value\(\s*"[^"\n]*\$\{(?P<setting>[\w.-]+)|@Conditional(?:OnProperty)\([^)\n]*"(?P<setting2>[\w.-]+)'),
    (('@Option', '@Command', '@Parameter'), r'@(?:CommandLine\.)?Option\([^)]{0,160}?"(?P<option>--[\w-]+)|@(?:CommandLine\.)?Command\([^)]{0,160}?name\s*=\s*"(?P<command>[\w-]+)'),
    (('@Scheduled', '@KafkaListener', '@RabbitListener', '@JmsListener'), r'@(?:Scheduled|KafkaListener|RabbitListener|JmsListener)\b[^\n]*\n(?:\s*@[^\n]*\n)*[^\n(]* (?P<job>\w+)\('),
    (('@RequestParam', '@QueryParam'), r'@(?:RequestParam|QueryParam)(?:\([^)\n]*?"(?P<input>\w+)|[^,\n]*? (?P<input2>\w+)[,)\n])'),
) + _SQL

CSHARP: tuple[Finder, ...] = JAVA[:3] + (
    (('[FromQuery', '[FromForm'), r'\[From(?:Query|Form)[^]]*\]\s*[\w<>?\[\]]+ (?P<input>\w+)'),
    (('[Http', '[Route'), r'\[(?:Http(?:Get|Post|Put|Patch|Delete)|Route)\(\s*"(?P<route>[^"\n]*)"'),
    (('MapGet', 'MapPost', 'MapPut', 'MapPatch', 'MapDelete', 'MapGroup', 'MapHub'), r'\.Map(?:Get|Post|Put|Patch|Delete|Group|Hub<\w+>)\(\s*"(?P<route>[^"\n]*)"'),
    (('@page',), r'\n\W*@page "(?P<route>[^"\n]+)"'),
    (('DbSet<', '[Table('), r'DbSet<(?P<table>\w+)>|\[Table\("(?P<table2>\w+)'),
    (('CreateTable(', 'DropTable(', 'RenameTable(', 'AddColumn', 'DropColumn(', 'RenameColumn('),
     r'\.(?:Create|Drop|Rename)Table\(\s*name:\s*"(?P<table>\w+)|\.(?:Add|Drop|Rename)Column(?:<[^>\n]*>)?\(\s*name:\s*"(?P<column>\w+)'),
    (('GetEnvironmentVariable(',), r'GetEnvironmentVariable\(\s*"(?P<env>\w+)'),
    (('onfiguration', 'GetSection(', 'GetConnectionString('), r'onfiguration\["(?P<setting>[\w:.-]+)|Get(?:Section|ConnectionString|RequiredValue|Value<\w+>)\(\s*"(?P<setting2>[\w:.-]+)'),
    (('Option', 'Command('), r'\bnew (?:Option(?:<[^>\n]*>)?)\(\s*(?:new\[\]\s*\{\s*)?(?:name:\s*)?"(?P<option>--?[\w-]+)|\bnew Command\(\s*(?:name:\s*)?"(?P<command>[\w-]+)|\[Option\([^)\n]*"(?P<option2>[\w-]{2,})'),
    (('BackgroundService', 'IHostedService', 'IJob'), r'class (?P<job>\w+)[^\n]*:\s*[^\n]*(?:BackgroundService|IHostedService|IJob)\b'),
) + _SQL

RUST: tuple[Finder, ...] = (
    _CONFIG_READ,
    _CONSTANT,
    (('fn ', 'struct ', 'enum ', 'trait ', 'type '),
     r'\n[ \t]*(?P<access>(?:pub(?:\([^)]*\))? )?)(?:(?:async|unsafe|const|extern "C") )*(?:fn (?P<func>[a-zA-Z_]\w*)|(?:struct|enum|trait|type|union) (?P<class>[A-Z]\w*))'),
    (('.route(', '#[get(', '#[post(', '#[put(', '#[delete(', '#[patch(', '::scope(', '::resource(', '.at('),
     r'(?:\.route|\.at|#\[(?:get|post|put|delete|patch)|::scope|::resource)\(\s*"(?P<route>[^"\n]*)"'),
    (('Arg::', '.long('), r'\.long\(\s*"(?P<option>[\w-]+)"|Arg::(?:new|with_name)\(\s*"(?P<option2>[\w-]+)"'),
    (('#[arg(', '#[clap(', '#[structopt('), r'#\[(?:arg|clap|structopt)\([^]]*\)\]\s*(?:(?:///[^\n]*|#\[[^\n]*)\s*)*(?:pub )?(?P<option>[a-z]\w*)\s*:'),
    (('"--',), r'"(?P<option>--[a-z][\w-]+)"\s*(?:=>|\|)'),
    (('Command::new(', 'SubCommand::', 'App::new('), r'(?:Command::new|SubCommand::with_name|App::new)\(\s*"(?P<command>[\w-]+)'),
    (('env::var', 'env!(', '.env('), r'(?:env::var(?:_os)?\(|env!\(|\.env\()\s*"(?P<env>[A-Z]\w+)'),
    (('table!', 'diesel'), r'table!\s*\{\s*(?P<table>\w+)'),
) + _SQL

SQL: tuple[Finder, ...] = _SQL
SQL_COLUMNS: Finder = ((), r'\n[ \t]+[`"\[]?(?P<column>[A-Za-z_]\w*)[`"\]]?[ \t]+(?i:int|integer|bigint|smallint|tinyint|serial|bigserial|varchar|char|text|'
                       r'uuid|bool|boolean|date|datetime|timestamp|timestamptz|time|json|jsonb|decimal|numeric|float|double|real|'
                       r'blob|bytea|string|uint\d+|int\d+|lowcardinality|enum\d*|nullable|array|nvarchar|bit|money)\b')

PROTO: tuple[Finder, ...] = (
    ((), r'\n[ \t]*(?:rpc (?P<rpc>\w+)|(?:message|service|enum) (?P<message>\w+)|'
         r'(?:repeated |optional |required )?(?:map<[^>\n]*>|[\w.]+) (?P<field>\w+)\s*=\s*\d+\s*[;\[]|(?P<field2>[A-Z][A-Z0-9_]+)\s*=\s*-?\d+\s*;)'),
)
GRAPHQL: tuple[Finder, ...] = (
    ((), r'\n(?:extend )?(?:type|input|enum|interface|union|scalar|directive) @?(?P<message>\w+)'),
    ((), r'\n[ \t]+(?P<field>[a-z_]\w*)\s*(?:\([^)\n]*\))?\s*:\s*\[?[A-Z]'),
    ((), r'\n[ \t]+(?P<field>[A-Z][A-Z0-9_]+)(?=\n|$| @)'),
)
THRIFT: tuple[Finder, ...] = (((), r'\n[ \t]*(?:struct|service|enum|exception|union) (?P<message>\w+)|\n[ \t]*\d+:\s*(?:optional |required )?[\w<>, .]+ (?P<field>\w+)'),)
PRISMA: tuple[Finder, ...] = (
    ((), r'\n(?:model|enum|view|type) (?P<table>\w+)|\n[ \t]+(?P<column>\w+)[ \t]+[A-Z]\w*[\[\]?]*(?=[ \t\n]|$)'),
)
OPENAPI: tuple[Finder, ...] = (
    ((), r'\n[ \t]*["\']?(?P<route>/[\w{}/.:~-]*)["\']?\s*:|\n[ \t]*["\']?operationId["\']?\s*:\s*["\']?(?P<rpc>\w+)'),
    ((), r'\n[ \t]{4,}(?:- )?["\']?(?P<field>[A-Za-z_][\w-]*)["\']?\s*:[ \t]*\{?(?=\n|$)'),
    (('name:', '"name"'), r'\n[ \t]*(?:- )?["\']?name["\']?\s*:\s*["\']?(?P<field>[\w.-]+)'),
)
JSON_SCHEMA: tuple[Finder, ...] = (((), r'\n[ \t]*"(?P<field>[A-Za-z_$][\w-]*)"\s*:\s*\{'),)
ENVFILE: tuple[Finder, ...] = (((), r'\n[ \t]*#?[ \t]?(?:export )?(?P<env>[A-Z][A-Z0-9_]{2,})='),)
SHELL: tuple[Finder, ...] = (
    (('()', 'function '), r'\n(?:function )?(?P<func>[a-zA-Z_][\w-]*)\s*\(\)'),
    (('--',), r'\n[ \t]*(?:-\w\s*\|\s*)?(?P<option>--[a-z][\w-]*)(?:=?\*?)(?:\s*\|[^)\n]*)?\)'),
    (('${',), r'\$\{(?P<env>[A-Z][A-Z0-9_]{2,}):?[-=?]'),
)
DOCKER: tuple[Finder, ...] = (
    ((), r'\n[ \t]*ENV (?P<env>[A-Z][A-Z0-9_]{2,})|\n[ \t]*FROM\s+(?:--\S+\s+)?(?:docker\.io/)?(?:library/)?(?P<platform>[\w./-]+)'),
)
PROPERTIES: tuple[Finder, ...] = (((), r'\n[ \t]*#?(?P<key>[a-zA-Z][\w.-]+)\s*[=:]'),)
TEMPLATE: tuple[Finder, ...] = (
    (('name=', 'name:', 'v-model', 'bind:'), r'(?:<(?:input|select|textarea|form)\b[^>\n]*\bname=|\bv-model(?:\.\w+)*=|name=)["\'{]+(?P<control>[\w.\[\]-]+)'),
    (('onClick', '@click', 'onSubmit', '@submit', 'ng-click', 'hx-', 'onChange', 'on:click', 'onPress', 'onSelect'),
     r'(?:onClick|@click|onSubmit|@submit|ng-click|hx-(?:get|post|put|delete)|on:click|onPress)(?:\.\w+)*=(?:\{\(?\)?(?: => )?|["\'])\s*(?P<control>[\w.$/-]+)'),
    (('<button', '<Button', '<form', '<MenuItem', '<Switch', '<Toggle', '<Checkbox', '<select', '<Select', '<input', '<textarea', '<Input', '<TextField'),
     r'<(?P<widget>button|Button|form|MenuItem|Switch|Toggle|Checkbox|select|Select|input|Input|textarea|TextField)\b'),
)

# A quoted name in capitals in a file that configures is a variable of the environment or a key of the settings.
CONFIG_NAMES: Finder = (('_',), r'["\'](?P<env>[A-Z][A-Z0-9]*_[A-Z0-9_]+)["\']')
SETTINGS: tuple[Finder, ...] = (((), r'\n(?P<setting>[A-Z][A-Z0-9_]{2,})\s*(?::[^=\n]+)?=[^=]'),)
PHP_CONFIG: tuple[Finder, ...] = (((), r'\n[ \t]+["\'](?P<key>[a-z][\w.-]*)["\']\s*=>'),)
XML: tuple[Finder, ...] = (
    (('Table ',), r'<(?:create|drop|rename)Table\b[^>\n]*\b(?:tableName|oldTableName)="(?P<table>\w+)'),
    (('Column',), r'<(?:drop|rename)Column\b[^>\n]*\b(?:columnName|oldColumnName)="(?P<column>\w+)|<addColumn\b[^>]*>\s*<column\b[^>]*\bname="(?P<column2>\w+)'),
    (('key=',), r'<(?:entry|add) key=["\'](?P<setting>[\w.:-]+)'),
)
COMPOSE: tuple[Finder, ...] = (((), r'\n[ \t]+(?:- )?(?P<env>[A-Z][A-Z0-9_]{2,})\s*[:=]|\n  (?P<service>[a-z][\w-]*):(?=\n)|\n[ \t]+image:\s*["\']?(?P<platform>[\w./-]+)'),)
CONFIG: tuple[Finder, ...] = (((), r'\n[ \t]*(?:- )?["\']?(?P<key>[a-zA-Z][\w.-]*)["\']?\s*[:=]'),)
_FRAMEWORKS = ('spring-boot|springframework\\.boot|django|rails|laravel/framework|next|nuxt|react|vue|@angular/core|svelte|'
               'express|flask|fastapi|symfony/framework-bundle|Microsoft\\.AspNetCore\\.App')
MANIFEST: tuple[Finder, ...] = (
    (('requires-python', 'python_requires', '"node"', 'java.version', 'rust-version', 'TargetFramework', '"php"', 'ruby ', 'sourceCompatibility',
      'languageVersion', 'kotlin.version', 'required_ruby_version'),
     r'\n[ \t]*(?P<platform><?(?:requires-python|python_requires|"node"|java\.version|rust-version|TargetFrameworks?|"php"|ruby|sourceCompatibility|'
     r'languageVersion|[\w.]*required_ruby_version)\b[^\n<]*)'),
    (('Programming Language ::',), r'Programming Language :: (?P<supports>[\w :.]+?\d[\d.]*)["\']'),
    ((), r'\n[ \t]*(?:id[ (]*|gem )?["\']?(?:org\.)?(?P<framework>(?:' + _FRAMEWORKS + r')["\']?(?:\)? version)?[ \t]*[:=,@ ]+["\']?[~^>=]*[ \t]*["\']?\d+)'),
    (('<version>',), r'\n(?: {2,4}|\t{1,2})<version>(?P<framework>\d+)\.'),
    ((), r'\n[ \t]*(?:"(?P<dep>@?[\w./-]+)"\s*:\s*"[\^~>=<*v\d]|gem ["\'](?P<dep2>[\w-]+)|(?P<dep3>[A-Za-z][\w.-]*)(?:\[[^\]\n]*\])?\s*(?:==|>=|~=|=\s*["{])|'
         r'(?:[a-z][\w-]*\.)+[a-z]+/(?P<dep4>[\w./-]+) v\d[^\s/]*(?=\n)|<artifactId>(?P<dep5>[\w.-]+)|<Package(?:Reference|Version) Include="(?P<dep6>[\w.-]+)|'
         r'"(?P<dep7>[A-Za-z][\w.-]*)(?:\[[^\]\n]*\])?(?:[><=~!][^"\n]*)?",?(?=\n))'),
)

# suffix of the file name -> finders
BY_SUFFIX: dict[str, tuple[Finder, ...]] = {
    'py': PYTHON, 'pyi': PYTHON, 'go': GO, 'rb': RUBY, 'rake': RUBY, 'thor': RUBY, 'php': PHP, 'java': JAVA, 'kt': JAVA, 'kts': JAVA,
    'groovy': JAVA, 'scala': JAVA, 'cs': CSHARP, 'razor': CSHARP + TEMPLATE, 'cshtml': CSHARP + TEMPLATE, 'rs': RUST, 'sql': SQL, 'proto': PROTO,
    'graphql': GRAPHQL, 'graphqls': GRAPHQL, 'gql': GRAPHQL, 'prisma': PRISMA, 'thrift': THRIFT,
    'sh': SHELL, 'bash': SHELL, 'zsh': SHELL, 'fish': SHELL, 'ps1': SHELL,
    'js': JAVASCRIPT, 'mjs': JAVASCRIPT, 'cjs': JAVASCRIPT, 'ts': JAVASCRIPT, 'mts': JAVASCRIPT, 'cts': JAVASCRIPT,
    'jsx': JAVASCRIPT + TEMPLATE, 'tsx': JAVASCRIPT + TEMPLATE, 'vue': JAVASCRIPT + TEMPLATE, 'svelte': JAVASCRIPT + TEMPLATE,
    'html': TEMPLATE, 'htm': TEMPLATE, 'erb': TEMPLATE, 'haml': TEMPLATE, 'slim': TEMPLATE, 'jsp': TEMPLATE, 'ejs': TEMPLATE,
    'hbs': TEMPLATE, 'pug': TEMPLATE, 'twig': TEMPLATE, 'j2': TEMPLATE, 'jinja': TEMPLATE, 'jinja2': TEMPLATE, 'tmpl': TEMPLATE,
    'gohtml': TEMPLATE, 'liquid': TEMPLATE, 'xaml': TEMPLATE, 'properties': PROPERTIES, 'heex': TEMPLATE,
}

/** A declaration made sure of: its form, then what its parts say of each other. Every problem has its path. */
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { StagedoorError, textOfThrown } from '../../kernel/errors.ts'
import { type CelType, checkCel, nameOf, patternsIn } from './cel-sql.ts'
import { constantOffset } from './compile-values.ts'
import {
  completeDataset,
  type Dataset,
  type DatasetDeclaration,
  FIELD_TYPES,
  type Field,
  isExpressionRule,
  MODES,
  OWN_TOTALS_SETTINGS,
  REPEATED_KEYS,
} from './dataset.ts'
import { matches, replaceAll, text } from './sql-text.ts'

const NAME = Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' })
/** Any name that PostgreSQL takes for a column; how many bytes it has is said apart. */
const COLUMN = Type.String({ pattern: '^[^\\x00]{1,63}$' })
/** schema.table as in SQL: "Sales 2026"."Order lines" */
export const TABLE_PATTERN = '^([a-z_][a-z0-9_$]*|"([^"\\x00]|"")+")\\.([a-z_][a-z0-9_$]*|"([^"\\x00]|"")+")$'
const TABLE = Type.String({ pattern: TABLE_PATTERN })
/** A column's source may be `$client`, so no row type can have that name. */
const SOURCES = new Set(['client', 'workspace', 'platform', 'identity'])
const MAX_NAME_BYTES = 63
const Alias = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({ header: Type.String({ minLength: 1 }), micros: Type.Optional(Type.Literal(true)) }, closed()),
])
const FieldSchema = Type.Object(
  {
    type: Type.Enum([...FIELD_TYPES]),
    aliases: Type.Optional(Type.Union([Type.Array(Alias), Type.Record(Type.String(), Type.Array(Alias))])),
    title: Type.Optional(Type.String()),
    required: Type.Optional(Type.Boolean()),
    expected: Type.Optional(Type.Boolean()),
    severity: Type.Optional(severity()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    maxLength: Type.Optional(Type.Integer({ minimum: 1 })),
    pattern: Type.Optional(Type.String()),
    scale: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })),
    precision: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    zone: Type.Optional(Type.String({ minLength: 1 })),
    items: Type.Optional(Type.Enum(FIELD_TYPES.filter((type) => type !== 'array' && type !== 'json'))),
    separator: Type.Optional(Type.String({ minLength: 1 })),
    lookup: Type.Optional(NAME),
    join: Type.Optional(
      Type.Object({ fields: Type.Array(NAME, { minItems: 1 }), separator: Type.String() }, closed()),
    ),
    split: Type.Optional(
      Type.Object({ separator: Type.String({ minLength: 1 }), part: Type.Integer() }, closed()),
    ),
    replace: Type.Optional(
      Type.Array(Type.Object({ pattern: Type.String({ minLength: 1 }), with: Type.String() }, closed())),
    ),
    case: Type.Optional(Type.Enum(['upper', 'lower'])),
    map: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
    default: Type.Optional(Type.String()),
    compute: Type.Optional(Type.String({ minLength: 1 })),
    // Canonical values are written into JSON as they are.
    values: Type.Optional(
      Type.Record(Type.String({ pattern: '^[^"\\\\\\x00-\\x1f]{1,200}$' }), Type.Array(Type.String())),
    ),
    period: Type.Optional(Type.Object({ start: NAME, end: NAME }, closed())),
    additive: Type.Optional(Type.Boolean()),
  },
  closed(),
)
const RowSchema = Type.Object(
  {
    name: NAME,
    target: TABLE,
    id: Type.Optional(COLUMN),
    key: Type.Array(COLUMN, { minItems: 1 }),
    requires: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    identity: Type.Optional(
      Type.Object(
        { id: Type.Optional(NAME), name: Type.Optional(NAME), nameColumn: Type.Optional(COLUMN) },
        closed(),
      ),
    ),
    optional: Type.Optional(Type.Literal(true)),
    columns: Type.Record(COLUMN, Type.String({ minLength: 1 })),
    duplicates: Type.Optional(Type.Enum([...REPEATED_KEYS])),
    mode: Type.Optional(Type.Enum([...MODES])),
    snapshot: Type.Optional(
      Type.Object(
        {
          scope: Type.Optional(Type.Array(COLUMN)),
          maxDeleted: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
        },
        closed(),
      ),
    ),
  },
  closed(),
)
const RuleSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_.]{0,62}$' }),
    severity: severity(),
    compare: Type.Optional(
      Type.Tuple([NAME, Type.Enum(['<=', '<', '=', '>=', '>', '<>']), Type.Union([NAME, Type.Number()])]),
    ),
    check: Type.Optional(Type.String({ minLength: 1 })),
    message: Type.String({ minLength: 1 }),
    suggestion: Type.Optional(Type.String()),
  },
  closed(),
)
const LookupSchema = Type.Object(
  { table: TABLE, by: COLUMN, value: COLUMN, ignoreCase: Type.Optional(Type.Literal(true)) },
  closed(),
)
const AssertionSchema = Type.Object(
  {
    name: NAME,
    sql: Type.String({ minLength: 1, maxLength: 20_000, pattern: '^[^\\x00]*$' }),
    severity: Type.Optional(severity()),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 300 })),
  },
  closed(),
)
const DatasetSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    $init: Type.Optional(Type.String()),
    name: NAME,
    title: Type.Optional(Type.String({ minLength: 1 })),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    platforms: Type.Optional(
      Type.Record(
        NAME,
        Type.Object(
          {
            title: Type.String({ minLength: 1 }),
            totals: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
          },
          closed(),
        ),
        { minProperties: 1 },
      ),
    ),
    fields: Type.Record(NAME, Type.Unknown(), { minProperties: 1 }),
    rules: Type.Optional(Type.Array(Type.Unknown())),
    lookups: Type.Optional(Type.Record(NAME, Type.Unknown())),
    rows: Type.Array(Type.Unknown(), { minItems: 1 }),
    client: Type.Optional(
      Type.Object({ table: TABLE, id: COLUMN, workspace: COLUMN, name: COLUMN }, closed()),
    ),
    uploads: Type.Optional(TABLE),
    amount: Type.Optional(NAME),
    unknownColumns: Type.Optional(Type.Enum(['keep', 'refuse'])),
    ownTotals: Type.Optional(Type.Enum([...OWN_TOTALS_SETTINGS])),
    assertions: Type.Optional(Type.Array(Type.Unknown())),
  },
  closed(),
)

function closed() {
  return { additionalProperties: false }
}

function severity() {
  return Type.Enum(['error', 'warning'])
}

/** A dataset declared in TypeScript. */
export function defineDataset(declaration: DatasetDeclaration): Dataset {
  refuse(checkDataset(declaration))
  return completeDataset(declaration)
}

/** A dataset from JSON. */
export function parseDataset(declaration: unknown): Dataset {
  const wrong = formProblems(declaration)
  refuse(wrong.length > 0 ? wrong : checkDataset(declaration as DatasetDeclaration))
  return completeDataset(declaration as DatasetDeclaration)
}

/** What is wrong with a declaration, each with its path; empty where nothing is. */
export function checkDataset(declaration: DatasetDeclaration): string[] {
  const { check: _, ...data } = declaration
  const wrong = formProblems(data)
  if (wrong.length > 0) return wrong
  const dataset = completeDataset(declaration)
  return [
    ...fieldProblems(dataset),
    ...rowProblems(dataset),
    ...ruleProblems(dataset),
    ...amountProblems(dataset),
  ]
}

/** Patterns are RE2 and zones those of ICU, which only DuckDB can tell: to be run when a dataset is registered. */
export async function checkPatterns(
  dataset: Dataset,
  query: (sql: string) => Promise<unknown>,
): Promise<string[]> {
  const patterns = [
    ...Object.entries(dataset.fields).map(
      ([name, { pattern }]) => [`fields.${name}.pattern`, pattern] as const,
    ),
    ...Object.entries(dataset.platforms).flatMap(([name, { totals }]) =>
      (totals ?? []).map((pattern, index) => [`platforms.${name}.totals.${index}`, pattern] as const),
    ),
  ]
  const statements = [
    ...patterns.flatMap(([path, pattern]) =>
      pattern === undefined
        ? []
        : [
            [
              path,
              'not a regular expression of RE2',
              `regexp_full_match('', ${text(`(?i:${pattern})`)})`,
            ] as const,
          ],
    ),
    ...Object.entries(dataset.fields).flatMap(([name, field]) =>
      transformStatements(`fields.${name}`, field),
    ),
    ...(dataset.rules ?? []).flatMap((rule, index) =>
      isExpressionRule(rule) ? patternStatements(`rules.${index}.check`, rule.check) : [],
    ),
  ]
  const wrong: string[] = []
  for (const [path, problem, sql] of statements) {
    try {
      await query(`SELECT ${sql} AS fits`)
    } catch (error) {
      const reason = textOfThrown(error).split('\n')[0]
      wrong.push(`${path}: ${problem} (${reason})`)
    }
  }
  return wrong
}

/** Path, what is wrong, and the SQL that fails if it is. */
type Statement = readonly [path: string, problem: string, sql: string]

function transformStatements(path: string, { replace = [], zone, compute }: Field): Statement[] {
  const isPlace = zone !== undefined && constantOffset(zone) === undefined
  return [
    ...replace.map(
      ({ pattern, with: by }, index): Statement => [
        `${path}.replace.${index}`,
        'not a regular expression of RE2, or a replacement with a group that it does not have',
        replaceAll(`'a'`, pattern, by),
      ],
    ),
    ...(isPlace
      ? [
          [
            `${path}.zone`,
            `${zone} is not a time zone; write a name such as Europe/Berlin, or an offset such as +02:00`,
            `timezone(${text(zone)}, TIMESTAMP '2026-01-31 12:00:00')`,
          ] as const,
        ]
      : []),
    ...(compute === undefined ? [] : patternStatements(`${path}.compute`, compute)),
  ]
}

function patternStatements(path: string, expression: string): Statement[] {
  return patternsIn(expression).map((pattern) => [
    path,
    `“${pattern}” in matches() is not a regular expression of RE2`,
    matches(`''`, pattern),
  ])
}

function refuse(wrong: string[]): void {
  if (wrong.length === 0) return
  throw new StagedoorError('argument_invalid', { reason: `The dataset cannot be used. ${wrong.join('; ')}` })
}

/** Part by part: the checker stops after eight errors, and all are wanted. */
function formProblems(declaration: unknown): string[] {
  const whole = partProblems(DatasetSchema, declaration, '')
  const { fields, rows, rules, lookups, assertions } = (declaration ?? {}) as Record<string, unknown>
  const parts = [
    [FieldSchema, 'fields', fields],
    [RowSchema, 'rows', rows],
    [RuleSchema, 'rules', rules],
    [LookupSchema, 'lookups', lookups],
    [AssertionSchema, 'assertions', assertions],
  ] as const
  return [
    ...whole,
    ...parts.flatMap(([schema, path, members]) =>
      Object.entries(typeof members === 'object' && members !== null ? members : {}).flatMap(
        ([key, member]) => partProblems(schema, member, `${path}.${key}`),
      ),
    ),
  ]
}

function partProblems(schema: TSchema, part: unknown, at: string): string[] {
  if (Value.Check(schema, part)) return []
  const seen = new Map<string, string>()
  for (const error of Value.Errors(schema, part)) {
    const { instancePath } = error
    const path =
      [at, ...instancePath.split('/').slice(1)].filter((step) => step !== '').join('.') || 'dataset'
    if (!seen.has(path)) seen.set(path, explain(error, schema, instancePath))
  }
  // The deepest path is where it is wrong; those above it only repeat that.
  const paths = [...seen.keys()]
  return [...seen]
    .filter(
      ([path]) =>
        !paths.some((other) => other.startsWith(path === 'dataset' ? '' : `${path}.`) && other !== path),
    )
    .map(([path, message]) => `${path}: ${message}`)
}

/** What can stand there is listed. */
function explain(
  { message, params }: { message: string; params?: object },
  schema: TSchema,
  at: string,
): string {
  const { allowedValues } = (params ?? {}) as { allowedValues?: unknown[] }
  if (Array.isArray(allowedValues)) return `must be one of: ${allowedValues.join(', ')}`
  if (message !== 'schema is false') return message
  const known = (schema as { properties?: object }).properties
  const isMember = at.lastIndexOf('/') === 0
  return known && isMember ? `is not known here; known are: ${namesOf(known)}` : 'is not known here'
}

/** What a computed field of a type can take. */
const COMPUTED: Partial<Record<Field['type'], readonly CelType[]>> = {
  text: ['string'],
  id: ['string'],
  enum: ['string'],
  integer: ['int'],
  decimal: ['decimal', 'int'],
  money: ['decimal', 'int'],
  percent: ['decimal', 'int'],
  boolean: ['bool'],
  date: ['timestamp'],
  timestamp: ['timestamp'],
  timestamptz: ['timestamp'],
}

function computeProblems(path: string, field: Field, fields: Dataset['fields']): string[] {
  if (field.compute === undefined) return []
  const allowed = COMPUTED[field.type]
  if (!allowed)
    return [
      `${path}.compute: a field of type ${field.type} cannot be computed; these can: ${namesOf(COMPUTED)}`,
    ]
  const transforms = (['split', 'replace', 'case', 'map', 'default', 'lookup'] as const).filter(
    (member) => field[member] !== undefined,
  )
  const others = Object.fromEntries(Object.entries(fields).filter(([, { compute }]) => compute === undefined))
  const checked = checkCel(field.compute, others)
  return [
    ...transforms.map((member) => `${path}.${member}: a computed field has no cell to which it could apply`),
    ...(checked.problem !== undefined
      ? [`${path}.compute: ${checked.problem}`]
      : allowed.includes(checked.type)
        ? []
        : [
            `${path}.compute: it gives ${nameOf(checked.type)}, and a field of type ${field.type} takes ${allowed.map(nameOf).join(' or ')}`,
          ]),
  ]
}

function zoneProblems(path: string, { zone }: Field): string[] {
  if (zone === undefined || constantOffset(zone) !== undefined) return []
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return []
  } catch {
    return [
      `${path}.zone: ${zone} is not a time zone; write a name such as Europe/Berlin, or an offset such as +02:00`,
    ]
  }
}

function fieldProblems({ fields, platforms, lookups = {} }: Dataset): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `fields.${name}`
    const known = new Set(['any', ...Object.keys(platforms)])
    return [
      ...Object.keys(field.aliases)
        .filter((platform) => !known.has(platform))
        .map((platform) => `${path}.aliases.${platform}: there is no such platform`),
      ...((field.items ?? field.type) === 'enum' && Object.keys(field.values ?? {}).length === 0
        ? [`${path}.values: an enum needs its values`]
        : []),
      ...(field.lookup !== undefined && !lookups[field.lookup]
        ? [`${path}.lookup: there is no lookup ${field.lookup}; there are: ${namesOf(lookups)}`]
        : []),
      ...(field.zone !== undefined && (field.items ?? field.type) !== 'timestamptz'
        ? [`${path}.zone: only a timestamptz has one`]
        : []),
      ...(['items', 'separator'] as const)
        .filter((member) => field[member] !== undefined && field.type !== 'array')
        .map((member) => `${path}.${member}: only an array has one`),
      ...(['maxLength', 'pattern'] as const)
        .filter((member) => field[member] !== undefined && field.type === 'array')
        .map((member) => `${path}.${member}: an array has none`),
      ...zoneProblems(path, field),
      ...computeProblems(path, field, fields),
      ...(field.split?.part === 0 ? [`${path}.split.part: parts are counted from 1, or from -1`] : []),
      ...(field.join?.fields ?? [])
        .filter((name) => !fields[name] || fields[name].join || fields[name].compute !== undefined)
        .map((name) => `${path}.join: ${name} is not a field with a column of its own`),
      ...(field.join && field.compute !== undefined
        ? [`${path}: it is either joined or computed, not both`]
        : []),
      ...(field.period && field.type !== 'date' ? [`${path}.period: only a date has one`] : []),
      ...[field.period?.start, field.period?.end]
        .filter((other) => other !== undefined && fields[other]?.type !== 'date')
        .map((other) => `${path}.period: ${other} is not a date field`),
      ...(isNumber(field)
        ? []
        : (['min', 'max', 'scale', 'precision'] as const)
            .filter((rule) => field[rule] !== undefined)
            .map((rule) => `${path}.${rule}: only numbers have one`)),
      ...(field.min !== undefined && field.max !== undefined && field.min > field.max
        ? [`${path}: min is above max`]
        : []),
    ]
  })
}

function rowProblems({ rows, fields, client }: Dataset): string[] {
  const before = new Set<string>()
  return rows.flatMap((row, index) => {
    const path = `rows.${index}`
    const wrong = [
      ...(before.has(row.name) ? [`${path}.name: ${row.name} is there twice`] : []),
      ...(SOURCES.has(row.name)
        ? [`${path}.name: $${row.name} is a source of its own; choose another name`]
        : []),
      ...[row.id, row.identity?.nameColumn, ...Object.keys(row.columns)]
        .filter((column) => column !== undefined && Buffer.byteLength(column) > MAX_NAME_BYTES)
        .map(
          (column) =>
            `${path}.columns: ${column} is longer than the ${MAX_NAME_BYTES} bytes of a column's name`,
        ),
      ...row.key
        .filter((column) => row.columns[column] === undefined)
        .map((column) => `${path}.key: ${column} is not among its columns`),
      ...row.requires
        .flatMap((need) => need.split('|'))
        .filter((name) => !fields[name])
        .map((name) => `${path}.requires: there is no field ${name}`),
      ...[row.identity?.id, row.identity?.name]
        .filter((name) => name !== undefined && !fields[name])
        .map((name) => `${path}.identity: there is no field ${name}`),
      ...(row.identity && !row.identity.id && !row.identity.name
        ? [`${path}.identity: it needs an id or a name`]
        : []),
      ...(row.optional && (!row.identity || index === rows.length - 1)
        ? [`${path}.optional: it is for a parent with an identity; the last row type is the line itself`]
        : []),
      ...(row.snapshot && row.mode !== 'snapshot'
        ? [`${path}.snapshot: it is for the mode snapshot, and the mode is ${row.mode ?? 'upsert'}`]
        : []),
      ...(row.mode === 'snapshot' && index < rows.length - 1
        ? [`${path}.mode: only the last row type can be a snapshot`]
        : []),
      ...(row.snapshot?.scope ?? [])
        .filter((column) => row.columns[column] === undefined)
        .map((column) => `${path}.snapshot.scope: ${column} is not among its columns`),
      ...(row.identity && !row.id ? [`${path}.id: a row that others refer to needs its id column`] : []),
      ...Object.entries(row.columns).flatMap(([column, source]) =>
        sourceProblems(`${path}.columns.${column}`, source),
      ),
    ]
    before.add(row.name)
    return wrong

    function sourceProblems(at: string, source: string): string[] {
      if (!source.startsWith('$')) return fields[source] ? [] : [`${at}: there is no field ${source}`]
      if (source === '$workspace' || source === '$platform') return []
      if (source === '$client') return client ? [] : [`${at}: the dataset declares no client table`]
      if (source === '$identity') return row.identity ? [] : [`${at}: the row type has no identity`]
      return before.has(source.slice(1))
        ? []
        : [`${at}: no row type ${source.slice(1)} comes before this one`]
    }
  })
}

function ruleProblems({ rules, fields }: Dataset): string[] {
  return (rules ?? []).flatMap((rule, index) => {
    if (isExpressionRule(rule) === 'compare' in rule)
      return [`rules.${index}: it needs either "compare" or "check"`]
    if (isExpressionRule(rule)) return checkProblems(`rules.${index}.check`, rule.check, fields)
    const [left, , right] = rule.compare
    return [left, right]
      .filter((name) => typeof name === 'string' && !fields[name])
      .map((name) => `rules.${index}.compare: there is no field ${name}`)
  })
}

function checkProblems(path: string, expression: string, fields: Dataset['fields']): string[] {
  const checked = checkCel(expression, fields)
  if (checked.problem !== undefined) return [`${path}: ${checked.problem}`]
  return checked.type === 'bool'
    ? []
    : [`${path}: it gives ${nameOf(checked.type)}, and a rule is true or false`]
}

function namesOf(members: object): string {
  return Object.keys(members).join(', ') || 'none'
}

function amountProblems({ amount, fields }: Dataset): string[] {
  if (amount === undefined || isAdditive(fields[amount])) return []
  return [`amount: ${amount} is not a field that can be summed`]
}

/** May its values be added up? So by default whole numbers and money. */
function isAdditive(field: Field | undefined): boolean {
  if (!field || field.type === 'percent' || !isNumber(field)) return false
  return field.additive ?? (field.type === 'integer' || field.type === 'money')
}

function isNumber({ type }: Field): boolean {
  return type === 'integer' || type === 'decimal' || type === 'money' || type === 'percent'
}

// The JSON Schema of a declaration, for editors: the same schemas, put together.

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  $schema: 'The path of this schema, so that the editor completes and checks.',
  $init:
    'Written by `stagedoor init`: a digest of what it wrote, by which it knows whether somebody has edited the file since.',
  name: 'What the dataset is called by.',
  title: 'For people.',
  version: 'Counted by whoever writes it; default 1.',
  platforms:
    'Where files come from, with further patterns of lines that only sum up others. Left out: one source.',
  fields: 'What a line has: a type, the headers that mean it, its rules and transforms.',
  rules: 'Conditions over several fields: compare two, or check an expression in CEL.',
  lookups: 'Tables that are read: a value is found in the column `by`, and the row gets the column `value`.',
  rows: 'The tables that lines become rows of, in the order of their references; the last one has one row per line.',
  client: 'The table of those whose data it is.',
  uploads: 'A table that gets a row for each upload.',
  assertions:
    'Queries over the tables as the plan would leave them; each row that one returns is a reason why the plan is refused (severity error, the default) or warned about.',
  amount: 'The field whose share, besides that of lines, must be valid where wrong lines are left out.',
  unknownColumns:
    'keep (default): columns that no field knows stay with the line as uploaded; refuse: such a file is refused.',
  ownTotals:
    'warn (default): totals in the file that disagree with its lines are a warning; refuse: such a plan cannot be submitted.',
}

export function datasetJsonSchema(): object {
  const { properties, ...rest } = DatasetSchema
  const parts: Record<string, TSchema> = {
    ...properties,
    fields: Type.Record(NAME, FieldSchema, { minProperties: 1 }),
    rules: Type.Optional(Type.Array(RuleSchema)),
    lookups: Type.Optional(Type.Record(NAME, LookupSchema)),
    assertions: Type.Optional(Type.Array(AssertionSchema)),
    rows: Type.Array(RowSchema, { minItems: 1 }),
  }
  const described = Object.entries(parts).map(([name, schema]) => [
    name,
    { ...(DESCRIPTIONS[name] !== undefined && { description: DESCRIPTIONS[name] }), ...schema },
  ])
  return JSON.parse(
    JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Dataset of Stagedoor',
      description: 'What a file means, and the tables that it goes to. Made by `npm run generate`.',
      ...rest,
      properties: Object.fromEntries(described),
    }),
  )
}

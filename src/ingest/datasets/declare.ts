/** A declaration made sure of: its form, then what its parts say of each other. Every problem has its path. */
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { StagedoorError } from '../../errors.ts'
import { type Dataset, type Field, REPEATED_KEYS } from './dataset.ts'

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
    type: Type.Enum([
      'text',
      'id',
      'integer',
      'decimal',
      'money',
      'percent',
      'date',
      'boolean',
      'enum',
      'currency',
    ]),
    aliases: Type.Record(Type.String(), Type.Array(Alias)),
    title: Type.Optional(Type.String()),
    required: Type.Optional(Type.Boolean()),
    expected: Type.Optional(Type.Boolean()),
    severity: Type.Optional(severity()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    maxLength: Type.Optional(Type.Integer({ minimum: 1 })),
    pattern: Type.Optional(Type.String()),
    scale: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })),
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
    requires: Type.Array(Type.String({ minLength: 1 })),
    identity: Type.Optional(
      Type.Object(
        { id: Type.Optional(NAME), name: Type.Optional(NAME), nameColumn: Type.Optional(COLUMN) },
        closed(),
      ),
    ),
    columns: Type.Record(COLUMN, Type.String({ minLength: 1 })),
    duplicates: Type.Optional(Type.Enum([...REPEATED_KEYS])),
  },
  closed(),
)
const RuleSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_.]{0,62}$' }),
    severity: severity(),
    compare: Type.Tuple([
      NAME,
      Type.Enum(['<=', '<', '=', '>=', '>', '<>']),
      Type.Union([NAME, Type.Number()]),
    ]),
    message: Type.String({ minLength: 1 }),
    suggestion: Type.Optional(Type.String()),
  },
  closed(),
)
const DatasetSchema = Type.Object(
  {
    name: NAME,
    title: Type.String({ minLength: 1 }),
    version: Type.Integer({ minimum: 1 }),
    platforms: Type.Record(
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
    fields: Type.Record(NAME, Type.Unknown(), { minProperties: 1 }),
    rules: Type.Optional(Type.Array(Type.Unknown())),
    rows: Type.Array(Type.Unknown(), { minItems: 1 }),
    client: Type.Optional(
      Type.Object({ table: TABLE, id: COLUMN, workspace: COLUMN, name: COLUMN }, closed()),
    ),
    uploads: Type.Optional(TABLE),
    amount: Type.Optional(NAME),
    unknownColumns: Type.Optional(Type.Enum(['keep', 'refuse'])),
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
export function defineDataset(declaration: Dataset): Dataset {
  refuse(checkDataset(declaration))
  return declaration
}

/** A dataset from JSON. */
export function parseDataset(declaration: unknown): Dataset {
  const wrong = formProblems(declaration)
  refuse(wrong.length > 0 ? wrong : checkDataset(declaration as Dataset))
  return declaration as Dataset
}

/** What is wrong with a declaration, each with its path; empty where nothing is. */
export function checkDataset(dataset: Dataset): string[] {
  const { check: _, ...data } = dataset
  const wrong = formProblems(data)
  if (wrong.length > 0) return wrong
  return [
    ...fieldProblems(dataset),
    ...rowProblems(dataset),
    ...ruleProblems(dataset),
    ...amountProblems(dataset),
  ]
}

/** Patterns are RE2, which only DuckDB can tell: to be run when a dataset is registered. */
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
  const wrong: string[] = []
  for (const [path, pattern] of patterns) {
    if (pattern === undefined) continue
    try {
      await query(`SELECT regexp_full_match('', '${`(?i:${pattern})`.replaceAll("'", "''")}') AS fits`)
    } catch (error) {
      const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
      wrong.push(`${path}: not a regular expression of RE2 (${reason})`)
    }
  }
  return wrong
}

function refuse(wrong: string[]): void {
  if (wrong.length === 0) return
  throw new StagedoorError('argument_invalid', { reason: `The dataset cannot be used. ${wrong.join('; ')}` })
}

/** Part by part: the checker stops after eight errors, and all are wanted. */
function formProblems(declaration: unknown): string[] {
  const whole = partProblems(DatasetSchema, declaration, '')
  const { fields, rows, rules } = (declaration ?? {}) as Record<string, unknown>
  const parts = [
    [FieldSchema, 'fields', fields],
    [RowSchema, 'rows', rows],
    [RuleSchema, 'rules', rules],
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
  for (const { instancePath, message } of Value.Errors(schema, part)) {
    const path =
      [at, ...instancePath.split('/').slice(1)].filter((step) => step !== '').join('.') || 'dataset'
    if (!seen.has(path)) seen.set(path, message === 'schema is false' ? 'is not known here' : message)
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

function fieldProblems({ fields, platforms }: Dataset): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `fields.${name}`
    const known = new Set(['any', ...Object.keys(platforms)])
    return [
      ...Object.keys(field.aliases)
        .filter((platform) => !known.has(platform))
        .map((platform) => `${path}.aliases.${platform}: there is no such platform`),
      ...(field.type === 'enum' && Object.keys(field.values ?? {}).length === 0
        ? [`${path}.values: an enum needs its values`]
        : []),
      ...(field.period && field.type !== 'date' ? [`${path}.period: only a date has one`] : []),
      ...[field.period?.start, field.period?.end]
        .filter((other) => other !== undefined && fields[other]?.type !== 'date')
        .map((other) => `${path}.period: ${other} is not a date field`),
      ...(isNumber(field)
        ? []
        : (['min', 'max', 'scale'] as const)
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
  return (rules ?? []).flatMap(({ compare: [left, , right] }, index) =>
    [left, right]
      .filter((name) => typeof name === 'string' && !fields[name])
      .map((name) => `rules.${index}.compare: there is no field ${name}`),
  )
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

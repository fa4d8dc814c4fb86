/** Generated tables, rows in them, and a file for them: small choices that shrink, without names and SQL. */
import fc from 'fast-check'
import type { Mode } from '../../../src/ingest/datasets/dataset.ts'
import { KEPT_KINDS, KEY_KINDS, type KeyKind, VALUE_KINDS, type ValueKind } from './kinds.ts'

/** none: the key is the primary key. */
export const IDS = ['none', 'identity always', 'identity by default', 'serial', 'uuid'] as const
export type IdKind = (typeof IDS)[number]
export const PARENT_IDS = ['identity always', 'identity by default', 'serial', 'uuid', 'natural'] as const
export type ParentIdKind = (typeof PARENT_IDS)[number]

export interface Scenario {
  /** Of schema, tables and columns, in the order in which they are asked for. */
  readonly names: readonly string[]
  /** Whose rows they are: a column in every key says it, or the dataset belongs to one workspace. */
  readonly tenant: 'column' | 'dataset'
  readonly id: IdKind
  /** Whether the dataset names the id column, or leaves it to the database. */
  readonly declaresId: boolean
  readonly key: readonly KeyKind[]
  readonly values: readonly { kind: ValueKind; notNull: boolean; hasDefault: boolean }[]
  readonly partition: 'none' | 'list' | 'hash'
  readonly trigger: 'none' | 'before' | 'after' | 'derives'
  readonly hasGenerated: boolean
  readonly parent: {
    readonly id: ParentIdKind
    readonly key: KeyKind
    readonly value: ValueKind | null
    /** Its id is a part of the child's key. */
    readonly isInKey: boolean
    /** A line may have none; not where it is a part of the key. */
    readonly isOptional: boolean
    /** Its code comes from the field itself, not from `$identity`. */
    readonly isByField: boolean
    /** Which parents are there before, and the values of those (even) and of the file (odd). */
    readonly rows: readonly { exists: boolean; before: number; after: number }[]
  } | null
  /** The type of a column that the file does not have. */
  readonly kept: number
  readonly mode: Mode
  /** What happens to rows of another table when a row that they refer to is deleted; only where a row has an id of its own. */
  readonly dependents: 'none' | 'cascade' | 'set null'
  readonly lookup: { readonly value: 'bigint' | 'uuid' | 'text'; readonly ignoreCase: boolean } | null
  /** A row may refer to a row of its own table: by its id where the dataset names one, else by its key. */
  readonly refersToItself: boolean
  /** By its key, as the file has it: nothing is looked up. */
  readonly refersPlainly: boolean
  /** A foreign key that the file fills as it is: by one column, by two, or by one and that of the tenant. */
  readonly reference: 'none' | 'text' | 'bigint' | 'pair' | 'tenant'
  readonly rows: readonly RowSketch[]
  /** Otherwise no line is wrong, and no key repeats. */
  readonly hasWrongLines: boolean
  readonly lines: readonly LineSketch[]
}

/** Numbers choose among the cells of a column's kind; where NULL is allowed, one of them is NULL. */
export interface RowSketch {
  readonly key: readonly number[]
  readonly values: readonly number[]
  readonly parent: number
  readonly lookup: number
  readonly reference: number
  readonly self: number
  /** Of another workspace; only where a column says so. */
  readonly isForeign: boolean
}

export interface LineSketch extends Omit<RowSketch, 'isForeign'> {
  /** The key is that of one of the rows, and so is the parent where it is a part of it. */
  readonly ofRow: number | null
  /** With the values of the row that is there, if there is one. */
  readonly keepsValues: boolean
  /** Which of the columns that can be wrong is; null: none. */
  readonly wrong: number | null
  readonly isRepeated: boolean
}

/** Aliases and variables of our SQL, reserved words, and names that need quotes. */
const NAMES = [
  ...['t', 'n', 'l', 'v', 'e', 'u', 's', 'b', 'k', 'x', 'p_e1', 'e1', 'c1', 'c2', 'f1', 'f2', '#row', '#id'],
  ...[
    'id',
    'key',
    'row',
    'action',
    'before',
    'after',
    'changed',
    'reason',
    'value',
    'found',
    'lookup',
    'line',
  ],
  ...['select', 'table', 'user', 'order', 'group', 'default', 'null', 'all', 'date', 'text', 'uuid', 'json'],
  ...[
    'camelCase',
    'Mixed Case',
    'with space',
    'a.b',
    'qu"ote',
    "apo'strophe",
    '%s',
    '$1',
    '$sql$',
    '--',
    '\\',
  ],
  ...['ünïcödé', '名前', '🙂', 'x'.repeat(63), 'row_number', 'staging_row_id', 'external_id', 'internal_id'],
]

const NUMBER = fc.nat({ max: 7 })
const keysOf = <T extends object>(kinds: T) => Object.keys(kinds) as (keyof T)[]

export interface Allowed {
  readonly keys: readonly KeyKind[]
  readonly values: readonly ValueKind[]
  readonly ids: readonly IdKind[]
  readonly declaredIds: readonly IdKind[]
  readonly parentIds: readonly ParentIdKind[]
  readonly tenants: readonly Scenario['tenant'][]
  readonly modes: readonly Mode[]
  readonly lookups: boolean
}

export const EVERYTHING: Allowed = {
  keys: keysOf(KEY_KINDS),
  values: keysOf(VALUE_KINDS),
  ids: IDS,
  declaredIds: IDS.filter((id) => id !== 'none'),
  parentIds: PARENT_IDS,
  tenants: ['column', 'dataset'],
  modes: ['upsert', 'upsert', 'insert', 'update', 'snapshot', 'snapshot'],
  lookups: true,
}

export function scenarios(allowed: Allowed = EVERYTHING): fc.Arbitrary<Scenario> {
  const kind = fc.constantFrom(...allowed.values)
  const row = {
    key: fc.tuple(NUMBER, NUMBER),
    values: fc.array(NUMBER, { minLength: 4, maxLength: 4 }),
    parent: NUMBER,
    lookup: NUMBER,
    reference: NUMBER,
    self: fc.nat({ max: 15 }),
  }
  const scenario = fc.record({
    names: fc.shuffledSubarray(NAMES, { minLength: NAMES.length }),
    tenant: fc.constantFrom(...allowed.tenants),
    id: fc.constantFrom(...allowed.ids),
    declaresId: fc.boolean(),
    key: fc.array(fc.constantFrom(...allowed.keys), { minLength: 1, maxLength: 2 }),
    values: fc.array(fc.record({ kind, notNull: fc.boolean(), hasDefault: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    }),
    partition: fc.constantFrom('none', 'none', 'list', 'hash'),
    trigger: fc.constantFrom('none', 'none', 'before', 'after', 'derives'),
    hasGenerated: fc.boolean(),
    parent: fc.option(
      fc.record({
        id: fc.constantFrom(...allowed.parentIds),
        key: fc.constantFrom(...allowed.keys),
        value: fc.option(kind),
        isInKey: fc.boolean(),
        isOptional: fc.boolean(),
        isByField: fc.boolean(),
        rows: fc.array(fc.record({ exists: fc.boolean(), before: NUMBER, after: NUMBER }), {
          minLength: 3,
          maxLength: 3,
        }),
      }),
      { freq: 2 },
    ),
    kept: fc.nat({ max: KEPT_KINDS.length - 1 }),
    mode: fc.constantFrom(...allowed.modes),
    dependents: fc.constantFrom('none', 'cascade', 'set null'),
    lookup: allowed.lookups
      ? fc.option(fc.record({ value: fc.constantFrom('bigint', 'uuid', 'text'), ignoreCase: fc.boolean() }), {
          freq: 2,
        })
      : fc.constant(null),
    refersToItself: fc.constantFrom(false, false, false, allowed.lookups),
    refersPlainly: fc.boolean(),
    reference: fc.constantFrom('none', 'text', 'bigint', 'pair', 'tenant'),
    rows: fc.array(fc.record({ ...row, isForeign: fc.constantFrom(false, false, false, true) }), {
      minLength: 0,
      maxLength: 8,
      size: 'max',
    }),
    hasWrongLines: fc.boolean(),
    lines: fc.array(
      fc.record({
        ...row,
        ofRow: fc.option(NUMBER, { freq: 3 }),
        keepsValues: fc.boolean(),
        wrong: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: NUMBER }),
        isRepeated: fc.constantFrom(...Array(9).fill(false), true),
      }),
      { minLength: 1, maxLength: 10, size: 'max' },
    ),
  }) as fc.Arbitrary<Scenario>
  return scenario.map((drawn) => {
    const one = drawn.refersToItself ? { ...drawn, ...narrowed(drawn) } : drawn
    return {
      ...one,
      declaresId: one.declaresId && allowed.declaredIds.includes(one.id),
      // A wrong line of a snapshot may be any row: test/ingest/snapshot.test.ts.
      hasWrongLines: one.hasWrongLines && one.mode !== 'snapshot',
      parent: one.parent && { ...one.parent, isOptional: one.parent.isOptional && !one.parent.isInKey },
      refersPlainly: one.refersToItself && one.refersPlainly && !one.declaresId,
      reference: one.reference === 'tenant' && one.tenant !== 'column' ? 'pair' : one.reference,
      dependents: one.id === 'none' || one.partition !== 'none' ? 'none' : one.dependents,
    }
  })
}

/** A row is looked up by one column that is unique by itself. */
function narrowed({ key, parent }: Scenario): Partial<Scenario> {
  return {
    tenant: 'dataset',
    key: key.slice(0, 1),
    mode: 'upsert',
    partition: 'none',
    parent: parent && { ...parent, isInKey: false },
  }
}

/** What a scenario means: tables as SQL, the dataset over them, the file, and the model of what they hold. */
import pg from 'pg'
import {
  completeDataset,
  type Dataset,
  type FieldDeclaration,
  type RowTypeDeclaration,
} from '../../../src/ingest/datasets/dataset.ts'
import { KEPT_KINDS, KEY_KINDS, type Kind, TYPES_DDL, VALUE_KINDS } from './kinds.ts'
import type { IdKind, LineSketch, ParentIdKind, RowSketch, Scenario } from './scenarios.ts'

const q = pg.escapeIdentifier
const literal = (text: string | null) => (text === null ? 'null' : pg.escapeLiteral(text))

/** Column → what PostgreSQL says that it holds; a reference to another row is the key of that row. */
export type Row = Record<string, string | null>
/** By the key, as text. */
export type Rows = Map<string, Row>

export interface Told {
  readonly name: string
  /** The text of the column in a row `told`. */
  readonly expression: string
}

export interface Table {
  /** Quoted, with its schema. */
  readonly sql: string
  readonly key: readonly string[]
  /** The column that says whose row it is; null: the dataset does. */
  readonly tenant: string | null
  /** What the model knows: not ids that the database gives, nor times that a trigger sets. */
  readonly told: readonly Told[]
  readonly rows: Rows
}

export interface Expected {
  /** Line → action; 'left out': skipped or refused. */
  readonly leaf: ReadonlyMap<number, 'insert' | 'update' | 'unchanged' | 'left out'>
  /** First line of a parent → action. */
  readonly parent: ReadonlyMap<number, 'insert' | 'update' | 'unchanged'>
  /** How many rows a snapshot deletes. */
  readonly deleted: number
  /** Lines that are written, by the key of their row. */
  readonly lineOf: ReadonlyMap<string, number>
}

export interface World {
  readonly schema: string
  readonly ddl: string
  readonly seed: string
  readonly dataset: Dataset
  readonly csv: string
  readonly leaf: Table
  readonly parent: Table | null
  /** Tables that the file does not write. */
  readonly others: readonly string[]
  /** The column that a trigger sets to the time: the one thing that an undo cannot bring back. */
  readonly touched: string | null
  /** Changes the rows of both tables as the file should, and says what the plan should say. */
  expect(): Expected
}

interface Column {
  readonly name: string
  readonly kind: Kind
  readonly notNull: boolean
  readonly field: string
}

const LOOKUP_NAMES = ['Blue things', "O'Neill", 'Straße', 'x "y"']
const LOOKUP_IDS = {
  bigint: ['7', '9007199254740993', '-1', '12'],
  uuid: [1, 2, 3, 4].map((digit) => `1c7c2f0e-9a53-4d6c-8b1f-00000000000${digit}`),
  text: ['blue', 'ne"ill', 'street', '%s'],
}
/** Of foreign keys that the file fills as it is: what may be referred to, and what refers to nothing. */
const REFERENCES: Record<
  Exclude<Scenario['reference'], 'none'>,
  { types: readonly string[]; right: readonly (string | null)[][]; wrong: readonly string[][] }
> = {
  text: { types: ['text'], right: [['red'], ['%s'], [null], ["O'x"]], wrong: [['Red'], ['none']] },
  bigint: { types: ['bigint'], right: [['1'], ['9007199254740993'], [null]], wrong: [['2'], ['-1']] },
  pair: {
    types: ['text', 'integer'],
    // With an empty column it refers to nothing, whatever the other is.
    right: [
      ['a', '1'],
      ['b', '2'],
      [null, '9'],
      ['z', null],
      [null, null],
    ],
    wrong: [
      ['a', '2'],
      ['z', '9'],
    ],
  },
  // That of the other workspace is there, but not for ours.
  tenant: { types: ['text'], right: [['ours'], ['both'], [null]], wrong: [['theirs']] },
}
const TEXT_IS_IMMUTABLE = /^(text$|varchar|numeric|integer|bigint|boolean|uuid)(?!.*\[)/

export function worldOf(scenario: Scenario, number: number, workspaces: readonly [string, string]): World {
  const names = [...scenario.names]
  const name = () => names.shift()!
  // Its own in each case: datasets of earlier ones stay, and a table that has come again under its name would be theirs, too.
  const schema = `${name().slice(0, 40)} ${number}`
  const target = (table: string) => `${q(schema)}.${q(table)}`
  const [leafName, parentName, lookupName] = [name(), name(), name()]
  const headers: string[] = []
  const fields: Record<string, FieldDeclaration> = {}
  const addField = (field: FieldDeclaration): string => {
    const named = `f${headers.length + 1}`
    headers.push(`Header ${named}`)
    fields[named] = { ...field, aliases: [`Header ${named}`] }
    return named
  }
  const addColumn = (kind: Kind, notNull: boolean): Column => ({
    name: name(),
    kind,
    notNull,
    field: addField({ ...kind.field, ...(notNull && { required: true }) }),
  })
  const typeOf = (kind: Kind) => kind.sql.replace('%s', q(schema))

  const tenant = scenario.tenant === 'column' ? name() : null
  const keys = scenario.key.map((kind) => addColumn(KEY_KINDS[kind], true))
  const values = scenario.values.map(({ kind, notNull }) => addColumn(VALUE_KINDS[kind], notNull))
  const lookup = scenario.lookup && {
    ...addColumn(
      {
        sql: scenario.lookup.value,
        field: { type: 'text', lookup: 'things' },
        cells: LOOKUP_NAMES.map((cell, place) => [
          scenario.lookup!.ignoreCase && place % 2 === 0 ? cell.toUpperCase().replace('SS', 'ß') : cell,
          LOOKUP_IDS[scenario.lookup!.value][place]!,
        ]),
        wrong: ['No such thing'],
      },
      false,
    ),
    by: name(),
    value: name(),
  }
  const reference = scenario.reference !== 'none' && {
    ...REFERENCES[scenario.reference],
    table: target('referenced'),
    columns: REFERENCES[scenario.reference].types.map((type) => ({
      name: name(),
      type,
      field: addField({ type: type === 'text' ? 'text' : 'integer', additive: false }),
    })),
  }
  const self = scenario.refersToItself
    ? {
        name: name(),
        field: addField({
          ...KEY_KINDS[scenario.key[0]!].field,
          ...(!scenario.refersPlainly && { lookup: 'own' }),
        }),
        // By its id, or by its key.
        value: scenario.declaresId ? 'id' : 'key',
      }
    : null
  const parent = scenario.parent && {
    id: name(),
    code: addColumn(KEY_KINDS[scenario.parent.key], scenario.parent.isInKey),
    value: scenario.parent.value === null ? null : addColumn(VALUE_KINDS[scenario.parent.value], false),
    reference: name(),
  }
  const parentId = parent && (scenario.parent!.id === 'natural' ? parent.code.name : parent.id)
  const id = name()
  const [kept, generated, touched, derived] = [name(), name(), name(), name()]
  const [keptType, keptDefault, keptValue] = KEPT_KINDS[scenario.kept]!
  const leafKey = [
    ...(scenario.parent?.isInKey ? [parent!.reference] : tenant === null ? [] : [tenant]),
    ...keys.map((column) => column.name),
  ]
  const parentKey = parent ? [...(tenant === null ? [] : [tenant]), parent.code.name] : []
  const derivation = [...values, ...keys].find(({ kind }) => TEXT_IS_IMMUTABLE.test(kind.sql))
  const hasGenerated = scenario.hasGenerated && derivation !== undefined
  const derives = scenario.trigger === 'derives' && derivation !== undefined
  const setsTime = scenario.trigger === 'before' || scenario.trigger === 'after'

  const told: Told[] = [
    ...(tenant === null ? [] : [tenant]),
    ...[...keys, ...values, ...(lookup ? [lookup] : []), ...(reference ? reference.columns : [])].map(
      (column) => column.name,
    ),
    kept,
    ...(hasGenerated ? [generated] : []),
    ...(derives ? [derived] : []),
  ].map((column) => {
    const kind = values.find((one) => one.name === column)?.kind
    const text = `told.${q(column)}`
    if (column === kept) return { name: column, expression: keptExpression(text) }
    return { name: column, expression: kind?.sql === 'timestamptz' ? utc(text) : `${text}::text` }
  })
  if (parent) {
    told.push({
      name: parent.reference,
      expression: `(select of.${q(parent.code.name)}::text from ${target(parentName!)} of where of.${q(parentId!)} = told.${q(parent.reference)})`,
    })
  }
  const dependents = scenario.dependents === 'none' ? null : target('dependents')
  const selfValue = self?.value === 'id' ? id : keys[0]!.name
  if (self) {
    told.push({
      name: self.name,
      expression: `(select of.${q(keys[0]!.name)}::text from ${target(leafName!)} of where of.${q(selfValue)} = told.${q(self.name)})`,
    })
  }
  const leaf: Table = { sql: target(leafName!), key: leafKey, tenant, told, rows: new Map() }
  const parentTable: Table | null = parent && {
    sql: target(parentName!),
    key: parentKey,
    tenant,
    told: [...parentKey, ...(parent.value ? [parent.value.name] : [])].map((column) => ({
      name: column,
      expression:
        column === parent.value?.name && parent.value.kind.sql === 'timestamptz'
          ? utc(`told.${q(column)}`)
          : `told.${q(column)}::text`,
    })),
    rows: new Map(),
  }

  return {
    schema,
    ddl: ddl(),
    dataset: dataset(),
    leaf,
    parent: parentTable,
    others: [
      ...(lookup ? [target(lookupName!)] : []),
      ...(reference ? [reference.table] : []),
      ...(dependents ? [dependents] : []),
    ],
    touched: setsTime ? touched! : null,
    seed: seed(),
    ...file(),
  }

  /** Which of the two it is: the text of some types depends on the session. */
  function keptExpression(column: string): string {
    const is = (text: string) =>
      `when row(${column})::text = row(${literal(text)}::${keptType})::text then ${literal(text)}`
    return `case ${is(keptDefault)} ${is(keptValue)} else 'neither: ' || ${column}::text end`
  }

  function ddl(): string {
    const isPartitioned = scenario.partition !== 'none'
    const statements = TYPES_DDL.map((type) => type.replace('%s', q(schema)))
    if (parent) {
      const isNatural = scenario.parent!.id === 'natural'
      statements.push(
        `create table ${parentTable!.sql} (${[
          ...(isNatural ? [] : [`${q(parent.id)} ${idSql(scenario.parent!.id)} primary key`]),
          ...(tenant === null ? [] : [`${q(tenant)} uuid not null`]),
          `${q(parent.code.name)} ${typeOf(parent.code.kind)} not null${isNatural ? ' unique' : ''}`,
          ...(parent.value ? [`${q(parent.value.name)} ${typeOf(parent.value.kind)}`] : []),
          ...(isNatural && tenant === null ? [] : [`unique (${parentKey.map(q).join(', ')})`]),
        ].join(', ')})`,
      )
    }
    if (lookup) {
      const rows = LOOKUP_NAMES.map(
        (by, place) => `(${literal(LOOKUP_IDS[scenario.lookup!.value][place]!)}, ${literal(by)})`,
      )
      statements.push(
        `create table ${target(lookupName!)} (${q(lookup.value)} ${scenario.lookup!.value} primary key, ${q(lookup.by)} text not null unique)`,
        `insert into ${target(lookupName!)} values ${rows.join(', ')}`,
      )
      if (scenario.lookup!.ignoreCase)
        statements.push(`create unique index on ${target(lookupName!)} (lower(${q(lookup.by)}))`)
    }
    if (reference) {
      const there = reference.right.filter((one) => !one.includes(null))
      const rows =
        scenario.reference === 'tenant'
          ? [
              [workspaces[0], 'ours'],
              [workspaces[0], 'both'],
              [workspaces[1], 'both'],
              [workspaces[1], 'theirs'],
            ]
          : there
      const columns = [...(scenario.reference === 'tenant' ? ['uuid'] : []), ...reference.types]
      statements.push(
        `create table ${reference.table} (${columns.map((type, at) => `k${at} ${type}`).join(', ')}, primary key (${columns.map((_, at) => `k${at}`).join(', ')}))`,
        `insert into ${reference.table} values ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ')}`,
      )
    }
    const idType = scenario.id === 'none' ? null : idSql(scenario.id)
    const keyList = leafKey.map(q).join(', ')
    statements.push(
      `create table ${leaf.sql} (${[
        ...(idType === null ? [] : [`${q(id)} ${idType}`]),
        ...(tenant === null ? [] : [`${q(tenant)} uuid not null`]),
        ...(parent
          ? [
              `${q(parent.reference)} ${referenceSql(scenario.parent!.id, parent.code.kind)}${scenario.parent!.isInKey ? ' not null' : ''} references ${parentTable!.sql} (${q(parentId!)})`,
            ]
          : []),
        ...keys.map((column) => `${q(column.name)} ${typeOf(column.kind)} not null`),
        ...values.map((column, place) => {
          const byDefault = scenario.values[place]!.hasDefault
            ? ` default ${literal(column.kind.cells[0]![1])}`
            : ''
          return `${q(column.name)} ${typeOf(column.kind)}${byDefault}${column.notNull ? ' not null' : ''}`
        }),
        ...(lookup
          ? [`${q(lookup.name)} ${lookup.kind.sql} references ${target(lookupName!)} (${q(lookup.value)})`]
          : []),
        ...(reference
          ? [
              ...reference.columns.map((column) => `${q(column.name)} ${column.type}`),
              `foreign key (${[...(scenario.reference === 'tenant' ? [tenant!] : []), ...reference.columns.map((column) => column.name)].map(q).join(', ')}) references ${reference.table}`,
            ]
          : []),
        ...(self
          ? [
              `${q(self.name)} ${self.value === 'id' ? referenceSql(scenario.id as ParentIdKind, keys[0]!.kind) : typeOf(keys[0]!.kind)} references ${leaf.sql} (${q(selfValue)})`,
            ]
          : []),
        `${q(kept!)} ${keptType} default ${literal(keptDefault)}`,
        ...(hasGenerated
          ? [
              `${q(generated!)} text generated always as (coalesce(${q(derivation!.name)}::text, '-') || '!') stored`,
            ]
          : []),
        ...(setsTime ? [`${q(touched!)} timestamptz`] : []),
        ...(derives ? [`${q(derived!)} text`] : []),
        ...(idType === null ? [] : [`primary key (${isPartitioned ? `${q(id)}, ${keyList}` : q(id)})`]),
        `${idType === null ? 'primary key' : 'unique'} (${keyList})`,
      ].join(', ')})${isPartitioned ? ` partition by ${scenario.partition} (${q(keys[0]!.name)})` : ''}`,
    )
    if (scenario.partition === 'hash') {
      for (const rest of [0, 1])
        statements.push(
          `create table ${target(`part ${rest}`)} partition of ${leaf.sql} for values with (modulus 2, remainder ${rest})`,
        )
    } else if (scenario.partition === 'list') {
      const some = keys[0]!.kind.cells.slice(0, 3).map(([, stored]) => literal(stored))
      statements.push(
        `create table ${target('part 0')} partition of ${leaf.sql} for values in (${some.join(', ')})`,
        `create table ${target('part 1')} partition of ${leaf.sql} default`,
      )
    }
    if (setsTime || derives) {
      const work = derives
        ? `new.${q(derived!)} := coalesce(new.${q(derivation!.name)}::text, '-') || '?';`
        : scenario.trigger === 'before'
          ? `new.${q(touched!)} := clock_timestamp();`
          : `update ${leaf.sql} mine set ${q(touched!)} = clock_timestamp() where (${leafKey.map((column) => `mine.${q(column)}`).join(', ')}) = (${leafKey.map((column) => `new.${q(column)}`).join(', ')});`
      const when = scenario.trigger === 'after' ? 'after insert or update' : 'before insert or update'
      statements.push(
        `create function ${q(schema)}.touch() returns trigger language plpgsql as $body$ begin ${work} return new; end $body$`,
        `create trigger touch ${when} on ${leaf.sql} for each row ${scenario.trigger === 'after' ? 'when (pg_trigger_depth() = 0) ' : ''}execute function ${q(schema)}.touch()`,
      )
    }
    if (dependents)
      statements.push(
        `create table ${dependents} (number bigint generated always as identity primary key, of_row ${referenceSql(scenario.id as ParentIdKind, keys[0]!.kind)} references ${leaf.sql} on delete ${scenario.dependents}, note text)`,
      )
    return statements.join(';\n')
  }

  function dataset(): Dataset {
    const rows: RowTypeDeclaration[] = []
    if (parent) {
      const isNatural = scenario.parent!.id === 'natural'
      rows.push({
        name: 'parent',
        target: parentTable!.sql,
        id: isNatural ? parent.code.name : parent.id,
        key: [...parentKey],
        requires: [parent.code.field],
        identity: { id: parent.code.field },
        ...(scenario.parent!.isOptional && { optional: true as const }),
        columns: {
          ...(tenant !== null && { [tenant]: '$workspace' }),
          [parent.code.name]: scenario.parent!.isByField ? parent.code.field : '$identity',
          ...(parent.value && { [parent.value.name]: parent.value.field }),
        },
      })
    }
    rows.push({
      name: 'leaf',
      target: leaf.sql,
      ...(scenario.declaresId && { id }),
      key: [...leafKey],
      ...(scenario.mode !== 'upsert' && { mode: scenario.mode }),
      ...(scenario.mode === 'snapshot' && { snapshot: { maxDeleted: 1 } }),
      columns: {
        ...(tenant !== null && { [tenant]: '$workspace' }),
        ...(parent && { [parent.reference]: '$parent' }),
        ...Object.fromEntries(
          [...keys, ...values, ...(lookup ? [lookup] : []), ...(reference ? reference.columns : [])].map(
            (column) => [column.name, column.field],
          ),
        ),
        ...(self && { [self.name]: self.field }),
      },
    })
    return completeDataset({
      name: `own_${number}`,
      fields,
      ...((lookup || (self && !scenario.refersPlainly)) && {
        lookups: {
          ...(lookup && {
            things: {
              table: target(lookupName!),
              by: lookup.by,
              value: lookup.value,
              ...(scenario.lookup!.ignoreCase && { ignoreCase: true as const }),
            },
          }),
          ...(self &&
            !scenario.refersPlainly && { own: { table: leaf.sql, by: keys[0]!.name, value: selfValue } }),
        },
      }),
      rows,
    })
  }

  /** The rows that are there before the file, in the tables and in the model. */
  function seed(): string {
    const statements: string[] = []
    if (parent) {
      for (const [place, { exists, before }] of scenario.parent!.rows.entries()) {
        // Rows of another workspace have parents of their own; a natural id is one for all.
        const owners = scenario.parent!.id === 'natural' ? [0] : [0, 1]
        for (const owner of tenant === null ? [0] : owners) {
          if (!exists && owner === 0) continue
          const row: Row = {
            ...(tenant !== null && { [tenant]: workspaces[owner]! }),
            [parent.code.name]: parent.code.kind.cells[place]![1],
            ...(parent.value && { [parent.value.name]: chosen(parent.value, before)[1] }),
          }
          parentTable!.rows.set(keyOf(parentTable!, row), row)
          statements.push(insertSql(parentTable!, row))
        }
      }
    }
    for (const sketch of scenario.rows) {
      const row = rowOf(sketch)
      if (row === null || leaf.rows.has(keyOf(leaf, row))) continue
      if (self) {
        const known = [null, ...[...leaf.rows.values()].map((one) => one[keys[0]!.name]!)]
        row[self.name] = known[sketch.self % known.length]!
      }
      leaf.rows.set(keyOf(leaf, row), row)
      statements.push(insertSql(leaf, row))
    }
    if (dependents)
      statements.push(`insert into ${dependents} (of_row, note) select ${q(id)}, 'of it' from ${leaf.sql}`)
    return statements.join(';\n')
  }

  function rowOf(sketch: RowSketch): Row | null {
    const owner = sketch.isForeign && tenant !== null ? 1 : 0
    if (owner === 1 && scenario.parent?.id === 'natural') return null
    const row: Row = {
      ...(tenant !== null && { [tenant]: workspaces[owner]! }),
      ...Object.fromEntries(
        keys.map((column, place) => [column.name, chosen(column, sketch.key[place]!)[1]]),
      ),
      ...Object.fromEntries(
        values.map((column, place) => [column.name, chosen(column, sketch.values[place]!)[1]]),
      ),
      ...(lookup && { [lookup.name]: chosen(lookup, sketch.lookup)[1] }),
      ...(reference && referred(owner === 1 ? [['both'], ['theirs']] : reference.right, sketch.reference)),
      [kept!]: keptValue,
    }
    if (parent) {
      const place = parentPlace(sketch)
      const exists = place !== null && (owner === 1 || scenario.parent!.rows[place]!.exists)
      if (!exists && scenario.parent!.isInKey) return null
      row[parent.reference] = exists ? parent.code.kind.cells[place!]![1] : null
    }
    return derived_(row)
  }

  /** What the columns of the reference hold. A row of the other workspace has what is its own, if the key has the tenant. */
  function referred(among: readonly (string | null)[][], number: number): Row {
    const { columns, right } = reference as Exclude<typeof reference, false>
    const tuples = scenario.reference === 'tenant' ? among : right
    const tuple = tuples[number % tuples.length]!
    return Object.fromEntries(columns.map((column, at) => [column.name, tuple[at]!]))
  }

  /** null: it has none. */
  function parentPlace(sketch: Pick<RowSketch, 'parent'>): number | null {
    const count = scenario.parent!.rows.length
    const place = sketch.parent % (scenario.parent!.isInKey ? count : count + 1)
    return place === count ? null : place
  }

  function derived_(row: Row): Row {
    if (hasGenerated) row[generated!] = `${row[derivation!.name] ?? '-'}!`
    if (derives) row[derived!] = `${row[derivation!.name] ?? '-'}?`
    return row
  }

  function insertSql(table: Table, row: Row): string {
    const columns = Object.entries(row).filter(
      ([column]) => !(hasGenerated && column === generated) && !(derives && column === derived),
    )
    const texts = columns.map(([column, text]) => {
      if (table === leaf && column === self?.name && text !== null)
        return `(select ${q(selfValue)} from ${leaf.sql} where ${q(keys[0]!.name)} = ${literal(text)})`
      if (table !== leaf || column !== parent?.reference || text === null) return literal(text)
      const ofTenant = tenant === null ? '' : ` and ${q(tenant)} = ${literal(row[tenant]!)}`
      return `(select ${q(parentId!)} from ${parentTable!.sql} where ${q(parent.code.name)} = ${literal(text)}${ofTenant})`
    })
    return `insert into ${table.sql} (${columns.map(([column]) => q(column)).join(', ')}) values (${texts.join(', ')})`
  }

  /** The lines of the file, each with what it means. */
  function file() {
    const records: {
      cells: Record<string, string>
      row: Row
      parentPlace: number | null
      sketch: LineSketch
      isWrong: boolean
    }[] = []
    const used = new Set<string>()
    const all = [...keys, ...values, ...(lookup ? [lookup] : []), ...(parent ? [parent.code] : [])]
    for (const drawn of scenario.lines) {
      const row = drawn.ofRow === null ? undefined : scenario.rows[drawn.ofRow % scenario.rows.length]
      const sketch = row ? { ...drawn, key: row.key, parent: row.parent } : drawn
      const record = recordOf(sketch)
      const key = keyOf(leaf, record.row)
      if (used.has(key)) continue
      used.add(key)
      const candidates = all.filter(({ kind }) => kind.wrong.length > 0)
      const wrongs = candidates.length + (reference ? 2 : 0)
      const isWrong = scenario.hasWrongLines && sketch.wrong !== null && wrongs > 0
      if (isWrong) {
        const column = candidates[sketch.wrong! % wrongs]
        if (column) record.cells[column.field] = column.kind.wrong[sketch.wrong! % column.kind.wrong.length]!
        else if (reference) {
          const tuple = reference.wrong[sketch.reference % reference.wrong.length]!
          for (const [at, { field }] of reference.columns.entries()) record.cells[field] = tuple[at]!
        }
      }
      const isRepeated = scenario.hasWrongLines && sketch.isRepeated && !isWrong
      records.push({ ...record, sketch, isWrong: isWrong || isRepeated })
      if (isRepeated) records.push({ ...record, sketch, isWrong: true })
    }
    if (self) referToEachOther(records, self)
    const cellsOf = (cells: readonly string[]) =>
      cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
    const csv = [
      cellsOf(headers),
      ...records.map(({ cells }) => cellsOf(Object.keys(fields).map((field) => cells[field] ?? ''))),
    ]
      .map((line) => `${line}\n`)
      .join('')
    return { csv, expect: () => expectedOf(records) }
  }

  /** To rows that are there, to other lines, also later ones and themselves, or to none. */
  function referToEachOther(
    records: { cells: Record<string, string>; row: Row; sketch: LineSketch; isWrong: boolean }[],
    { name, field }: { name: string; field: string },
  ): void {
    const key = keys[0]!
    const there = new Set([...leaf.rows.values()].map((row) => row[key.name]!))
    const known = [null, ...there, ...records.map(({ row }) => row[key.name]!)]
    for (const { cells, row, sketch } of records) {
      const existing = sketch.keepsValues ? leaf.rows.get(keyOf(leaf, row)) : undefined
      const text = existing ? existing[name]! : known[sketch.self % known.length]!
      row[name] = text
      cells[field] = text === null ? '' : key.kind.cells.find(([, stored]) => stored === text)![0]
    }
    // A line that refers to a line that is wrong is wrong itself.
    for (;;) {
      const written = new Set(records.filter(({ isWrong }) => !isWrong).map(({ row }) => row[key.name]!))
      const lost = records.filter(
        ({ isWrong, row }) =>
          !isWrong && row[name] !== null && !there.has(row[name]!) && !written.has(row[name]!),
      )
      for (const record of lost) record.isWrong = true
      if (lost.length === 0) return
    }
  }

  function recordOf(sketch: LineSketch) {
    const cells: Record<string, string> = {}
    const row: Row = tenant === null ? {} : { [tenant]: workspaces[0] }
    const take = (column: Column, [cell, stored]: readonly [string, string | null]) => {
      cells[column.field] = cell
      row[column.name] = stored
    }
    for (const [place, column] of keys.entries()) take(column, chosen(column, sketch.key[place]!))
    let place: number | null = null
    if (parent) {
      // The field of an identity is required, if its row is.
      place = parentPlace(sketch) ?? (scenario.parent!.isOptional ? null : 0)
      cells[parent.code.field] = place === null ? '' : parent.code.kind.cells[place]![0]
      row[parent.reference] = place === null ? null : parent.code.kind.cells[place]![1]
      if (parent.value && place !== null) {
        const [cell] = chosen(parent.value, scenario.parent!.rows[place]!.after)
        cells[parent.value.field] = cell
      }
    }
    const existing = sketch.keepsValues ? leaf.rows.get(keyOf(leaf, row)) : undefined
    const valueColumns = [...values, ...(lookup ? [lookup] : [])]
    for (const [at, column] of valueColumns.entries()) {
      const drawn = chosen(column, column === lookup ? sketch.lookup : sketch.values[at]!)
      const stored = existing?.[column.name]
      const same =
        stored === undefined
          ? drawn
          : stored === null
            ? (['', null] as const)
            : column.kind.cells.find(([, one]) => one === stored)!
      take(column, same)
    }
    if (reference) {
      const kept = existing ?? referred(reference.right, sketch.reference)
      for (const column of reference.columns) {
        row[column.name] = kept[column.name]!
        cells[column.field] = kept[column.name] ?? ''
      }
    }
    if (existing && parent && !scenario.parent!.isInKey && existing[parent.reference] !== null) {
      const stored = existing[parent.reference]!
      const at = parent.code.kind.cells.findIndex(([, one]) => one === stored)
      place = at === -1 ? null : at
      cells[parent.code.field] = place === null ? '' : parent.code.kind.cells[place]![0]
      row[parent.reference] = stored ?? null
      if (parent.value)
        cells[parent.value.field] =
          place === null ? '' : chosen(parent.value, scenario.parent!.rows[place]!.after)[0]
    }
    return { cells, row, parentPlace: place }
  }

  function expectedOf(
    records: readonly { row: Row; parentPlace: number | null; isWrong: boolean }[],
  ): Expected {
    const leafActions = new Map<number, 'insert' | 'update' | 'unchanged' | 'left out'>()
    const parentActions = new Map<number, 'insert' | 'update' | 'unchanged'>()
    const lineOf = new Map<string, number>()
    const seen = new Set<number>()
    const inFile = new Set<string>()
    for (const [at, { row, parentPlace, isWrong }] of records.entries()) {
      const line = at + 2
      const key = keyOf(leaf, row)
      inFile.add(key)
      if (
        isWrong ||
        (scenario.mode === 'insert' && leaf.rows.has(key)) ||
        (scenario.mode === 'update' && !leaf.rows.has(key))
      ) {
        leafActions.set(line, 'left out')
        continue
      }
      if (parent && parentPlace !== null && !seen.has(parentPlace)) {
        seen.add(parentPlace)
        const written: Row = {
          ...(tenant !== null && { [tenant]: workspaces[0] }),
          [parent.code.name]: parent.code.kind.cells[parentPlace]![1],
          ...(parent.value && {
            [parent.value.name]: chosen(parent.value, scenario.parent!.rows[parentPlace]!.after)[1],
          }),
        }
        parentActions.set(line, write(parentTable!, written))
      }
      const action = write(leaf, row)
      leafActions.set(line, action)
      if (action !== 'unchanged') lineOf.set(key, line)
    }
    let deleted = 0
    for (const [key, row] of scenario.mode === 'snapshot' ? [...leaf.rows] : []) {
      if (inFile.has(key) || (tenant !== null && row[tenant] !== workspaces[0])) continue
      leaf.rows.delete(key)
      deleted += 1
    }
    return { leaf: leafActions, parent: parentActions, lineOf, deleted }
  }

  function write(table: Table, row: Row): 'insert' | 'update' | 'unchanged' {
    const key = keyOf(table, row)
    const existing = table.rows.get(key)
    if (!existing) {
      const inserted = table === leaf ? derived_({ ...row, [kept!]: keptDefault }) : { ...row }
      table.rows.set(key, inserted)
      return 'insert'
    }
    if (Object.entries(row).every(([column, text]) => existing[column] === text)) return 'unchanged'
    table.rows.set(key, table === leaf ? derived_({ ...existing, ...row }) : { ...existing, ...row })
    return 'update'
  }
}

/** A parent is known here by its code, which two workspaces may have. */
export function keyOf({ key, tenant }: Table, row: Row): string {
  return JSON.stringify([tenant === null ? null : row[tenant], ...key.map((column) => row[column])])
}

/** The cell and what is stored; where the column may be empty, one number more is NULL. */
function chosen({ kind, notNull }: Column, number: number): readonly [cell: string, stored: string | null] {
  const place = number % (notNull ? kind.cells.length : kind.cells.length + 1)
  return kind.cells[place] ?? ['', null]
}

function idSql(kind: IdKind | ParentIdKind): string {
  if (kind === 'identity always') return 'bigint generated always as identity'
  if (kind === 'identity by default') return 'bigint generated by default as identity'
  return kind === 'serial' ? 'serial' : 'uuid default gen_random_uuid()'
}

function referenceSql(kind: ParentIdKind, natural: Kind): string {
  if (kind === 'natural') return natural.sql
  return kind === 'uuid' ? 'uuid' : kind === 'serial' ? 'integer' : 'bigint'
}

function utc(expression: string): string {
  return `(timezone('UTC', ${expression})::text || '+00')`
}

/** Whatever happens to tables and workers, in the end search has exactly what the tables say; whatever their columns are called. */
// @module-tag property
import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { liveCollections } from '../../../src/search/collections.ts'
import { removeSearchTable } from '../../../src/search/tables.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { cases } from '../../support/length.ts'
import { MIGRATOR } from '../../support/template.ts'
import { Steerable } from '../projection-model.ts'
import { activeName, type Hand, useProjecting, vectorOf } from '../projection-workplace.ts'
import { activate, allowSearch, settleTables } from './table-life.ts'

const db = useDatabase()
const place = useProjecting(db)
let owner: pg.Client
let ours: string
let theirs: string

beforeAll(async () => {
  owner = await db.session('postgres')
  ours = await createWorkspace(db, 'ours')
  theirs = await createWorkspace(db, 'theirs')
})

type Step =
  | {
      readonly do: 'write'
      readonly id: number
      readonly words: number
      readonly mine: boolean
      readonly undone: boolean
    }
  | { readonly do: 'delete' | 'rename'; readonly id: number; readonly to: number }
  | { readonly do: 'truncate' | 'alter' }
  | { readonly do: 'collect' }
  | { readonly do: 'claim' | 'advance' | 'finish' | 'crash' | 'late'; readonly worker: number }
  | { readonly do: 'store' | 'embedder'; readonly away: boolean }

const id = fc.nat({ max: 3 })
const worker = fc.nat({ max: 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      id,
      words: fc.nat({ max: 3 }),
      mine: fc.boolean(),
      undone: fc.nat({ max: 4 }).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'rename' as const), id, to: id }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('truncate' as const, 'alter' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('collect' as const) }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('claim' as const), worker }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'advance' as const,
        'advance' as const,
        'advance' as const,
        'finish' as const,
        'crash' as const,
        'late' as const,
      ),
      worker,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('store' as const, 'embedder' as const), away: fc.boolean() }),
  },
)

/** None to three chunks; text 3 says nothing. */
const textOf = (words: number): string =>
  words === 3
    ? ' '
    : Array.from(
        { length: words + 1 },
        (_, n) => `${`${['alpha', 'beta', 'gamma'][(words + n) % 3]} `.repeat(300).trim()}.`,
      ).join('\n\n')

interface Working {
  readonly steering: Steerable
  readonly hand: Hand
  late: boolean
}

const begin = (): Working => {
  const steering = new Steerable()
  return { steering, hand: place.worker({ hooks: { boundary: steering.boundary } }), late: false }
}

const lapse = (hand: Hand) =>
  db.owner(
    `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where worker_id = $1 and status = 'processing'`,
    [hand.id],
  )

let tables = 0

class Run {
  private readonly table = `stock_${++tables}`
  private code = ''
  private readonly workers = [begin(), begin()]
  private readonly sleepers: Working[] = []

  async start(): Promise<void> {
    await owner.query(`create table ${this.table} (id int primary key, tenant uuid, name text, brand text);
      insert into ${this.table} values (0, '${ours}', 'was there before', 'old')`)
    await allowSearch(owner, this.table)
    this.code = await activate(db, {
      source: this.table,
      text: ['name'],
      filter: ['brand'],
      workspace_column: 'tenant',
    })
  }

  async step(what: Step): Promise<void> {
    const { table } = this
    switch (what.do) {
      case 'write':
        await owner.query('begin')
        await owner.query(
          `insert into ${table} values ($1, $2, $3, $4) on conflict (id) do update
             set tenant = excluded.tenant, name = excluded.name, brand = excluded.brand`,
          [what.id, what.mine ? ours : theirs, textOf(what.words), `b${what.words}`],
        )
        await owner.query(what.undone ? 'rollback' : 'commit')
        return
      case 'delete':
        await owner.query(`delete from ${table} where id = $1`, [what.id])
        return
      case 'rename':
        await owner.query(
          `update ${table} set id = $2 where id = $1 and not exists (select from ${table} where id = $2)`,
          [what.id, what.to],
        )
        return
      case 'truncate':
        await owner.query(`truncate ${table}`)
        return
      case 'alter':
        await owner.query(`alter table ${table} alter column brand type varchar(50)`)
        return
      case 'collect':
        await place.pool.query('select iu_core.fn_search_rows_collect()')
        return
      case 'claim': {
        const { steering, hand } = this.workers[what.worker]!
        if (!steering.ended) return
        await place.due()
        const rows = await hand.claim(2)
        if (rows.length > 0) await steering.begin(() => hand.work(rows))
        return
      }
      case 'advance':
        return this.workers[what.worker]!.steering.advance()
      case 'finish':
        return this.workers[what.worker]!.steering.toEnd()
      case 'crash': {
        const working = this.workers[what.worker]!
        this.workers[what.worker] = begin()
        await lapse(working.hand)
        if (working.late) this.sleepers.push(working)
        return
      }
      case 'late': {
        const working = this.workers[what.worker]!
        if (working.steering.ended) return
        working.late = true
        await lapse(working.hand)
        return
      }
      case 'embedder':
        place.faults.embedderAway = what.away
        return
      case 'store':
        place.faults.storeAway = what.away
    }
  }

  async end(): Promise<void> {
    Object.assign(place.faults, { embedderAway: false, storeAway: false })
    for (const { steering } of [...this.workers, ...this.sleepers]) await steering.toEnd()
    await db.owner(
      `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where status = 'processing'`,
    )
    await settleTables(place)
    await db.owner(
      `update iu_core.search_point set changed_at = changed_at - interval '11 minutes' where state = 'removed'`,
    )
    const { projection } = place.worker()
    while ((await projection.purge(await liveCollections(place.pool), 50)) > 0);
    await settleTables(place)
  }

  async check(): Promise<void> {
    const { rows: wanted } = await owner.query<{ key: string; tenant: string; text: string; brand: string }>(
      `select id::text as key, tenant, btrim(name) as text, brand from ${this.table} order by id`,
    )
    // As their owner: administrators of Stagedoor may not read the table.
    const { rows: chunks } = await owner.query<{
      chunk_id: string
      row_id: string
      key: string
      tenant: string
      piece: string
      hash: string
      brand: string
    }>(
      `select c.chunk_id, c.row_id, r.key[1] as key, c.workspace_id as tenant, c.content_hash_at_embedding as hash, r.filters ->> 'brand' as brand,
              substr(btrim(s.name), c.from_char + 1, c.to_char - c.from_char) as piece
         from iu_core.search_chunk c join iu_core.search_row r using (row_id) join iu_core.search_table t using (table_id)
         left join (select * from ${this.table}) as s on s.id = r.key[1]::int
        where t.code = $1 order by r.key, c.position`,
      [this.code],
    )
    const found = new Map(chunks.map(({ key, tenant, brand }) => [key, { tenant, brand }]))
    expect(found).toEqual(
      new Map(
        wanted.filter(({ text }) => text !== '').map(({ key, tenant, brand }) => [key, { tenant, brand }]),
      ),
    )
    for (const { key, text } of wanted.filter(({ text }) => text !== ''))
      expect(
        chunks
          .filter((one) => one.key === key)
          .map(({ piece }) => piece)
          .join('\n\n'),
      ).toBe(text)
    const held = [...place.store.of(await activeName(place.pool)).values()]
    const own = new Set(
      (await db.owner<{ row_id: string }>('select row_id from iu_core.search_row')).map(
        ({ row_id }) => row_id,
      ),
    )
    const sorted = <T extends { id: string }>(all: T[]) => all.sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(
      sorted(
        held
          .filter(({ payload }) => payload.row_id !== undefined)
          .map(({ id, vector, payload }) => ({
            id,
            vector,
            row: payload.row_id,
            tenant: payload.workspace_id,
          })),
      ),
    ).toEqual(
      sorted(
        chunks.map((one) => ({
          id: one.chunk_id,
          vector: vectorOf(one.piece),
          row: one.row_id,
          tenant: one.tenant,
        })),
      ),
    )
    expect(own.size).toBeGreaterThanOrEqual(found.size)
    expect(
      await db.owner(`select from iu_core.search_point where state <> 'written' and row_id is not null`),
    ).toEqual([])
  }

  /** So that the next run begins without its rows; what was removed leaves search completely. */
  async remove(): Promise<void> {
    await removeSearchTable(db.pool(MIGRATOR), this.code)
    await settleTables(place)
    await db.owner(
      `update iu_core.search_point set changed_at = changed_at - interval '11 minutes' where state = 'removed'`,
    )
    const { projection } = place.worker()
    while ((await projection.purge(await liveCollections(place.pool), 50)) > 0);
    await db.owner(
      `update iu_core.vector_outbox set changed_at = changed_at - interval '11 minutes' where row_id is not null`,
    )
    await settleTables(place)
    for (const left of ['search_row', 'search_table', 'search_row_change'])
      expect(await db.owner(`select * from iu_core.${left}`)).toEqual([])
    expect(await db.owner('select from iu_core.search_chunk where row_id is not null')).toEqual([])
    await owner.query(`drop table ${this.table}`)
  }
}

it('writes, deletes, other keys and workspaces, rollbacks, deaths at every boundary, outages, late workers: search ends equal to the table', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      const run = new Run()
      await run.start()
      for (const what of steps) await run.step(what)
      await run.end()
      await run.check()
      await run.remove()
    }),
    { numRuns: cases(6, 20), endOnFailure: true },
  )
})

/** Every alias that our statements use, and names that need quotes. */
const NAMES = [
  ...[
    't',
    'r',
    'x',
    'f',
    'n',
    'i',
    'd',
    'q',
    's',
    'y',
    'p',
    'k',
    'e',
    'c',
    'v',
    'w',
    'j',
    'key',
    'wanted',
    'row_id',
    'title',
    'body',
  ],
  ...[
    'filters',
    'workspace_id',
    'operation',
    'watched',
    'value',
    'events',
    'content',
    'token',
    'stagedoor_new',
    'stagedoor_old',
    'n0',
  ],
  ...[
    'a%s',
    'quo"te',
    "apo'strophe",
    'Upper',
    'with space',
    'back\\slash',
    '$1',
    'select',
    'đặc',
    'to_jsonb',
    'array',
    'public',
  ],
]
const TYPES = [
  'text',
  'int',
  'varchar(40)',
  'numeric',
  'uuid',
  'date',
  'timestamptz',
  'char(8)',
  'bigint',
] as const
const VALUES: Record<(typeof TYPES)[number], string> = {
  text: `md5(g::text)`,
  int: 'g',
  'varchar(40)': `'v' || g`,
  numeric: 'g + 0.50',
  uuid: `md5(g::text)::uuid`,
  date: `date '2026-01-01' + g`,
  timestamptz: `timestamptz '2026-01-01 10:00:00.123456+07' + g * interval '1 hour'`,
  'char(8)': `'c' || g`,
  bigint: '9007199254740993 + g',
}

it('no name of a column, table or schema meets one of ours', async () => {
  const name = fc.constantFrom(...NAMES)
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { minLength: 5, maxLength: 6 }),
      fc.array(fc.constantFrom(...TYPES), { minLength: 2, maxLength: 2 }),
      name,
      name,
      fc.boolean(),
      async (columns, types, schema, tableName, partitioned) => {
        const quoted = (one: string) => `"${one.replaceAll('"', '""')}"`
        const space = schema === 'public' ? 'public' : quoted(`s ${schema}`)
        const source = `${space}.${quoted(tableName)}`
        const [first, second, text, title, filter] = columns.map(quoted) as [
          string,
          string,
          string,
          string,
          string,
        ]
        if (space !== 'public')
          await owner.query(
            `create schema ${space}; grant usage on schema ${space} to vector_worker, workflow_admin`,
          )
        await owner.query(`create table ${source} (${first} ${types[0]}, ${second} ${types[1]}, ${text} text, ${title} text, ${filter} text,
          primary key (${first}, ${second}))${partitioned ? ` partition by hash (${first})` : ''}`)
        if (partitioned)
          for (const part of [0, 1])
            await owner.query(
              `create table ${space}.part_${part} partition of ${source} for values with (modulus 2, remainder ${part}); grant trigger on ${space}.part_${part} to workflow_admin`,
            )
        const value = (type: (typeof TYPES)[number]) => VALUES[type]
        const rows = (from: number, to: number, says: string) =>
          `insert into ${source} select ${value(types[0]!)}, ${value(types[1]!)}, '${says} ' || g, 'title ' || g, 'kind ' || g % 2 from generate_series(${from}, ${to}) g`
        await owner.query(rows(1, 12, 'early'))
        await allowSearch(owner, source)
        const code = await activate(db, {
          source,
          text: [columns[2]!],
          title: columns[3]!,
          filter: [columns[4]!],
          workspace_id: ours,
        })
        await settleTables(place)
        await owner.query(rows(13, 20, 'late'))
        await owner.query(
          `update ${source} set ${text} = 'edited' where ${title} = 'title 3'; delete from ${source} where ${title} = 'title 4'`,
        )
        await settleTables(place)
        const rowsOf = await db.owner<{ rows: string }>(
          `select count(distinct row_id)::text as rows from iu_core.search_chunk c join iu_core.search_row r using (row_id) join iu_core.search_table t using (table_id) where t.code = $1`,
          [code],
        )
        expect(rowsOf).toEqual([{ rows: '19' }])
        const found = await db
          .pool('stagedoor_worker')
          .query<{ chunk_id: string }>('select chunk_id from iu_core.fn_search_lexical($1, $2, 100)', [
            ours,
            'edited',
          ])
        expect(found.rows).toHaveLength(1)
        const { rows: read } = await place.pool.query(
          `select title, body, filters, problem from iu_core.fn_search_rows_read(null, array(select row_id from iu_core.search_chunk where chunk_id = $1))`,
          [found.rows[0]!.chunk_id],
        )
        expect(read).toEqual([
          {
            title: 'title 3',
            body: 'title 3\n\nedited',
            filters: { [columns[4]!]: 'kind 1' },
            problem: null,
          },
        ])
        await removeSearchTable(db.pool(MIGRATOR), code)
        await settleTables(place)
        await owner.query(`drop table ${source}`)
        if (space !== 'public') await owner.query(`drop schema ${space}`)
      },
    ),
    { numRuns: cases(12, 50), endOnFailure: true },
  )
})

/** The cut is set-based: ten thousand pieces take seconds. The limits are those of a very busy machine; alone it takes a thirtieth. */
// @module-tag long
import { beforeAll, expect, it } from 'vitest'
import { cutFromManifest } from '../../src/units/cut.ts'
import { member, type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { approved } from './documents.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

const documentOf = (pieces: number, changed: (index: number) => boolean = () => false) =>
  Array.from(
    { length: pieces },
    (_, index) =>
      `${index % 10 === 0 ? '##' : '###'} Section ${index}\n\nWhat section ${index} says${changed(index) ? ', changed' : ''}. ${'And more of it. '.repeat(20)}\n`,
  ).join('\n')

it.each([
  [40, 5_000],
  [10_000, 90_000],
])(
  'cuts %d pieces in one transaction',
  async (pieces, limit) => {
    const sourceRef = `${pieces}.md`
    const time = async (source: string) => {
      const { staging_record_id, digest } = await approved(place, source, { sourceRef })
      const began = performance.now()
      const cut = await cutFromManifest(place.operator.session, staging_record_id, digest)
      const ms = performance.now() - began
      expect(ms).toBeLessThan(limit)
      return cut
    }
    expect(await time(documentOf(pieces))).toMatchObject({ created: pieces })
    expect(await time(documentOf(pieces, (index) => index % 10 === 3))).toMatchObject({
      versioned: pieces / 10,
    })
    expect(await time(`## First of all\n\nNew.\n\n${documentOf(pieces - 1)}`)).toMatchObject({ created: 1 })
    expect(await time('## Nothing else\n\nLeft.\n')).toMatchObject({ retired: pieces })
  },
  600_000,
)

it('takes no longer where there are 100,000 other units, and leaves no bad plans behind', async () => {
  // Without triggers and outbox, in a tenth of the time: what counts is that they are there.
  await db.pool('postgres').query(`begin; set local session_replication_role = replica;
    with bulk as (select iu_core.fn_time_uuid() as unit_id, iu_core.fn_time_uuid() as version_id, n from generate_series(1, 100000) n),
         version as (insert into iu_core.unit_version (unit_version_id, unit_id, version_no, unit_kind, title, body, content_hash, edited_by)
                     select version_id, unit_id, 1, 'note', 'bulk', 'x', 'x', 'test' from bulk)
    insert into iu_core.information_unit (
      unit_id, workspace_id, canonical_address, unit_kind, source_ref, owner_actor, current_version_id, content_hash, title)
    select unit_id, '${place.workspace}', 'bulk/' || n, 'note', 'test', 'test', version_id, 'x', 'bulk' from bulk;
    commit;
    analyze iu_core.information_unit, iu_core.unit_version`)
  const { session } = await member(db, place.workspace, 'operator')
  const sections = Array.from({ length: 20 }, (_, index) => index)
  const source = (order: readonly number[]) =>
    sections
      .map(
        (s) =>
          `## Sec ${s}\n\nSection ${s}.\n\n${order.map((k) => `### Sub ${s} ${k}\n\nSub ${k} of ${s}.\n`).join('\n')}`,
      )
      .join('\n')
  /** Of whole units how many were read one after the other, by this transaction. */
  const scanned = async (work: () => Promise<unknown>) => {
    const sql = `select seq_tup_read::int as rows from pg_stat_xact_user_tables where relid = 'iu_core.information_unit'::regclass`
    await session.query('begin')
    await work()
    const { rows } = await session.query<{ rows: number }>(sql)
    await session.query('commit')
    return rows[0]!.rows
  }
  const sourceRef = 'plans.md'
  const texts = [source([0, 1, 2]), source([1, 0, 2]), source([1, 0])]
  // Two changed, and one of them with another parent.
  texts.push(texts[2]!.replace('Section 3.', 'Section three.').replace('### Sub 4 1', '## Sub 4 1'))
  for (const text of texts) {
    const { staging_record_id, digest } = await approved(place, text, { sourceRef })
    expect(await scanned(() => cutFromManifest(session, staging_record_id, digest))).toBe(0)
  }
  const { rows } = await session.query<{ container: string; units: string[] }>(
    `select container_id as container, array_agg(unit_id order by position desc) as units from iu_core.information_unit
      where lifecycle_status = 'draft' and container_id = (
        select unit_id from iu_core.information_unit where workspace_id = $1 and canonical_address = 'plans/sec-3')
      group by 1`,
    [place.workspace],
  )
  const { container, units } = rows[0]!
  expect(
    await scanned(() => session.query('select iu_core.fn_unit_reorder($1, $2)', [container, units])),
  ).toBe(0)
})

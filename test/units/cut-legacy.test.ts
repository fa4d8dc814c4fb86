/** VA-7: the document of the old knowledge base stays as it is, by whatever way somebody tries; the units lie beside it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { readMarking } from '../../src/app/marking.ts'
import { unitTool } from '../../src/app/tools/unit.ts'
import { ROLES } from '../../src/kernel/postgres/migrate/bootstrap.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { approved, cut, cutDocument, HANDBOOK, mark, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

const put = async (ref: string, body: string, title = 'Legacy page') => {
  const { rows } = await place.service.session.query<{ id: string }>(
    'select iu_core.fn_document_put($1, $2, $3, $4) as id',
    [place.workspace, ref, title, body],
  )
  return rows[0]!.id
}
/** All of the row, its time of change among it, and the collection that belongs to it. */
const legacy = async (document: string) => ({
  row: (await db.owner('select d.* from iu_core.kb_document d where document_id = $1', [document]))[0],
  collection: await db.owner(`select * from iu_core.search_collection where state = 'legacy'`),
})
async function unchanged<T>(document: string, work: () => Promise<T>): Promise<T> {
  const before = await legacy(document)
  const result = await work()
  expect(await legacy(document)).toEqual(before)
  return result
}

describe('a cut under the source of a document of the old knowledge base', () => {
  it('makes units and leaves body, origin and title as they are, and says so before and after', async () => {
    const document = await put('legacy.md', 'Legacy original words marmalade.')
    await unchanged(document, async () => {
      const staged = await approved(place, HANDBOOK, { sourceRef: 'legacy.md' })
      const marking = await readMarking(place.operator.session, staged.staging_record_id)
      expect(marking.legacy).toMatchObject({ document_id: document, is_same: false })
      const done = await cut(place, staged)
      expect(done).toMatchObject({ document_id: document, legacy_kept: true })
      expect(done.created).toBeGreaterThan(3)
    })
    const [beside] = await db.owner('select * from iu_core.kb_document_cut where document_id = $1', [
      document,
    ])
    expect(beside).toMatchObject({ body: HANDBOOK, title: 'Handbook', cut_by: place.operator.actor })
  })

  it('cut again changes the units alone, retires what was removed, and refuses what was approved before the cut', async () => {
    const document = await put('recut.md', 'Old text of the page.')
    await cutDocument(place, HANDBOOK, { sourceRef: 'recut.md', address: 'recut' })
    const second = HANDBOOK.replace('Twenty-five', 'Thirty').replace(
      '## Expenses\n\nKeep the receipts.\n',
      '',
    )
    const early = await approved(place, HANDBOOK.replace('How we', 'What we'), {
      sourceRef: 'recut.md',
      address: 'recut',
    })
    await unchanged(document, async () => {
      const done = await cutDocument(place, second, { sourceRef: 'recut.md', address: 'recut' })
      expect(done).toMatchObject({ versioned: 1, retired: 1, legacy_kept: true })
      expect(await sqlstateOf(cut(place, early))).toBe('SD909')
      const same = await cutDocument(place, second, {
        sourceRef: 'recut.md',
        address: 'recut',
        title: 'A new title',
      })
      expect(same.units).toEqual([expect.objectContaining({ what: 'versioned', canonical_address: 'recut' })])
    })
    const units = await unitsOf(db.pool('postgres'), place.workspace, 'recut.md')
    expect(units.get('recut/leave')?.body).toContain('Thirty')
  })

  it('of a removed one does not bring it back, and its units are not called drifted', async () => {
    const document = await put('removed.md', 'Was here once.')
    await place.service.session.query('select iu_core.fn_document_delete($1)', [document])
    const done = await unchanged(document, () =>
      cutDocument(place, HANDBOOK, { sourceRef: 'removed.md', address: 'removed' }),
    )
    const { rows } = await place.worker.session.query<{ drift: string }>(
      'select drift from iu_core.fn_unit_check($1)',
      [done.units.map(({ unit_id }) => unit_id)],
    )
    expect(new Set(rows.map(({ drift }) => drift))).toEqual(new Set(['none']))
  })

  it('is not undone by the other order: cut first, then put, the text of the cut stays known', async () => {
    const done = await cutDocument(place, HANDBOOK, { sourceRef: 'later.md', address: 'later' })
    expect(done.legacy_kept).toBeUndefined()
    expect(await put('later.md', 'What the knowledge base says.')).toBe(done.document_id)
    const [beside] = await db.owner('select body from iu_core.kb_document_cut where document_id = $1', [
      done.document_id,
    ])
    expect(beside).toEqual({ body: HANDBOOK })
    await unchanged(done.document_id, () =>
      cutDocument(place, HANDBOOK.replace('Twenty-five', 'Forty'), {
        sourceRef: 'later.md',
        address: 'later',
      }),
    )
  })

  it('by the unit tool of a playbook leaves it as it is', async () => {
    const document = await put('tool.md', 'The tool does not write here.')
    const staged = await approved(place, HANDBOOK, { sourceRef: 'tool.md', address: 'tool' })
    const tool = unitTool({ pool: db.pool('stagedoor_worker') })
    const context = contextOf({ workspace_id: place.workspace, started_by: place.operator.actor })
    await unchanged(document, () =>
      tool(undefined, { action: 'cut', record: staged.staging_record_id, digest: staged.digest }, context),
    )
  })

  it('races with the knowledge base’s own update: either order, the page says what was put', async () => {
    for (let round = 0; round < 5; round++) {
      const ref = `race-${round}.md`
      const staged = await approved(place, HANDBOOK, { sourceRef: ref, address: `race-${round}` })
      await Promise.all([cut(place, staged), put(ref, 'What was put.')])
      const [row] = await db.owner(
        `select d.body, d.origin, c.body as cut from iu_core.kb_document d join iu_core.kb_document_cut c using (document_id)
          where d.source_ref = $1`,
        [ref],
      )
      expect(row).toEqual({ body: 'What was put.', origin: 'knowledge_base', cut: HANDBOOK })
    }
  })
})

describe('a document of the old knowledge base', () => {
  it('is written directly by no role of ours', async () => {
    const document = await put('roles.md', 'Nobody writes here.')
    const superuser = await db.session('postgres')
    const statements = [
      `update iu_core.kb_document set body = 'x' where document_id = '${document}'`,
      `delete from iu_core.kb_document where document_id = '${document}'`,
      `update iu_core.search_collection set dimension = 8 where state = 'legacy'`,
      `update iu_core.kb_document_cut set body = 'x'`,
    ]
    await unchanged(document, async () => {
      for (const { name } of ROLES.filter(({ name }) => name !== 'workflow_admin')) {
        await superuser.query(`set role ${name}`)
        for (const sql of statements)
          expect(await sqlstateOf(superuser.query(sql)), `${name}: ${sql}`).toBe('42501')
        await superuser.query('reset role')
      }
    })
  })

  it.each([
    `body = 'x'`,
    `content_hash = 'x'`,
    `title = 'x'`,
    `language = 'de'`,
    `origin = 'cut'`,
    `source_ref = 'elsewhere'`,
    'workspace_id = gen_random_uuid()',
    'deleted_at = now()',
    'updated_at = now()',
  ])('refuses its owner, too: set %s', async (set) => {
    const document = await put(`owner-${set}`, 'Nobody writes here.')
    await unchanged(document, async () => {
      expect(
        await sqlstateOf(
          db.owner(`update iu_core.kb_document set ${set} where document_id = $1`, [document]),
        ),
      ).toBe('SD919')
      expect(
        await sqlstateOf(db.owner('delete from iu_core.kb_document where document_id = $1', [document])),
      ).toBe('SD919')
      expect(
        await sqlstateOf(
          db.owner(`insert into iu_core.kb_document (workspace_id, source_ref, title, body, content_hash, updated_by)
                    select workspace_id, source_ref, 'x', 'x', 'x', 'x' from iu_core.kb_document where document_id = '${document}'
                    on conflict (workspace_id, source_ref) do update set body = excluded.body`),
        ),
      ).toBe('SD919')
    })
    expect(await sqlstateOf(db.owner('truncate iu_core.kb_document cascade'))).toBe('SD002')
    for (const sql of [
      `update iu_core.search_collection set dimension = 8 where state = 'legacy'`,
      `delete from iu_core.search_collection where state = 'legacy'`,
      'truncate iu_core.search_collection cascade',
    ])
      expect(await sqlstateOf(db.owner(sql)), sql).toBe('SD916')
  })

  it('keeps its source, workspace and origin in its own update, which two may make at once', async () => {
    await Promise.all(
      ['one', 'two', 'three'].map(async (text) => {
        const session = await db.session('stagedoor_worker')
        await session.query('select iu_core.fn_document_put($1, $2, $3, $4)', [
          place.workspace,
          'both.md',
          'Both',
          text,
        ])
      }),
    )
    const document = await put('both.md', 'four')
    expect((await legacy(document)).row).toMatchObject({ body: 'four', origin: 'knowledge_base' })
  })

  it('is not written by marking either', async () => {
    const document = await put('marked.md', 'Only marked.')
    await unchanged(document, () => mark(place, HANDBOOK, { sourceRef: 'marked.md', address: 'marked' }))
  })
})

/** A unit is found by its words from the moment of its commit, before search has taken it in. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { search } from '../../src/search/query.ts'
import type { SearchFilters } from '../../src/search/question.ts'
import { createVectorSearch } from '../../src/search/vector-search.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { anAddress, call, create, edit, enact, useLife } from '../units/life.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'
import { rowOf, stateOf, useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let viewer: Member

beforeAll(async () => {
  viewer = await createMember(db, life.workspace, 'viewer')
})
beforeEach(() => place.settle())

const ask = (text: string, filters: SearchFilters = {}) =>
  search(
    {
      transaction: (work) => db.as(viewer, work),
      vectorSearch: createVectorSearch({ pool: db.pool('stagedoor_worker'), config: NOTHING_CONFIGURED }),
    },
    { workspaceId: life.workspace, text, filters },
  )
const found = async (text: string, filters?: SearchFilters) =>
  (await ask(text, filters)).hits.map(({ unit_id, freshness, version_no }) => ({
    unit_id,
    freshness,
    version_no,
  }))
const kept = async (unit: string) =>
  (await db.owner('select from iu_core.search_pending where unit_id = $1', [unit])).length

describe('a unit that search has not taken in yet', () => {
  it('is found by its words at once, marked pending, and nothing is embedded earlier for it', async () => {
    const embedded = place.embedder.embeddedTexts.length
    const { unit_id } = await create(life, { body: 'The capybara is fed at noon.' })
    const { hits, legs } = await ask('when is a capybara fed?')
    expect(hits).toMatchObject([
      {
        unit_id,
        freshness: 'pending',
        version_no: 1,
        current_version_no: 1,
        snippet: 'The capybara is fed at noon.',
      },
    ])
    expect(hits[0]!.highlights.length).toBeGreaterThan(0)
    expect(hits[0]!.warnings).toEqual([expect.stringMatching(/about 2 minutes/)])
    expect(legs.lexical).toBe(1)
    expect(place.embedder.embeddedTexts).toHaveLength(embedded)
    expect(await rowOf(db, unit_id)).toMatchObject({ status: 'pending' })
    await place.settle()
    expect(await found('capybara')).toEqual([{ unit_id, freshness: 'current', version_no: 1 }])
    expect(await kept(unit_id)).toBe(0)
  })

  it('edited, is found by its new words with its new text and by the old ones with a warning; once each', async () => {
    const { unit_id } = await create(life, { body: 'A walrus on the beach.', p_title: 'Animals' })
    await place.settle()
    await edit(life.operator, unit_id, 1, { p_body: 'A narwhal on the beach.' })
    expect(await found('narwhal')).toEqual([{ unit_id, freshness: 'pending', version_no: 2 }])
    expect(await found('walrus')).toEqual([{ unit_id, freshness: 'pending', version_no: 1 }])
    expect(await found('beach')).toHaveLength(1)
    await edit(life.operator, unit_id, 2, { p_body: 'A walrus on the beach.' })
    expect(await kept(unit_id)).toBe(0)
    await place.settle()
    expect(await found('narwhal')).toEqual([])
  })

  it.each([
    ['Tapire schlafen.', 'tapire', 'de'],
    ['Nghỉ phép hằng năm.', 'nghi phep', 'vi'],
    ['Quokkas are jumping.', 'jump quokka', 'en'],
    ['An okapi eats leaves.', 'okap*', 'en'],
    ['The fossa climbs trees slowly.', '"climbs trees"', 'en'],
    [`It's O'Brien\\Axolotl here.`, `o'brien\\axolotl`, 'en'],
  ])('is found as others are: %s by %s', async (body, question, language) => {
    const { unit_id } = await create(life, { body, p_language: language })
    expect((await found(question)).map((hit) => hit.unit_id)).toEqual([unit_id])
  })

  it('is not found by a phrase that it does not have, by filters that leave it out, or by the words of nobody', async () => {
    const { unit_id } = await create(life, { body: 'A pangolin climbs a tree.', p_unit_kind: 'note' })
    expect((await ask('"tree climbs"')).warnings[0]).toMatch(/without the quotes/)
    expect(await found('pangolin', { kind: 'table' })).toEqual([])
    expect(await found('pangolin', { lifecycle: 'enacted' })).toEqual([])
    expect(await found('pangolin', { language: 'de' })).toEqual([])
    expect(await found('pangolin', { source: 'document' })).toEqual([])
    expect((await found('pangolin', { kind: 'note', language: 'en' }))[0]).toMatchObject({ unit_id })
    expect(await found('xylophone')).toEqual([])
  })

  it('is not found once it is deleted, retired or superseded, and is again once it is restored', async () => {
    const one = await create(life, { body: 'A gharial swims.' })
    await call(life.operator, 'fn_unit_delete', { p_unit_id: one.unit_id })
    expect(await found('gharial')).toEqual([])
    await call(life.operator, 'fn_unit_restore', { p_unit_id: one.unit_id })
    expect(await found('gharial')).toHaveLength(1)
    await call(life.reviewer, 'fn_unit_retire', { p_unit_id: one.unit_id })
    expect(await found('gharial')).toEqual([])
  })

  it('is ranked among the others by how much its words say', async () => {
    for (let n = 0; n < 5; n++) await create(life, { body: `Ledger ${n} is closed on Fridays.` })
    await place.settle()
    const { unit_id } = await create(life, { body: 'The dugong ledger.' })
    expect((await found('dugong ledger'))[0]).toMatchObject({ unit_id, freshness: 'pending' })
    expect(await found('dugong ledger')).toHaveLength(6)
  })

  it('is found by its words when it is a dead letter', async () => {
    const { unit_id } = await create(life, { body: 'A coati is POISON.' })
    await db.owner(`update iu_core.vector_outbox set status = 'dead_letter' where unit_id = $1`, [unit_id])
    expect(await found('coati')).toMatchObject([{ unit_id, freshness: 'error' }])
    await call(life.service, 'fn_vector_replay', {})
  })

  it('is never another workspace’s, and nothing of staging can be one', async () => {
    await create(life, { body: 'A serval hides.' })
    expect(
      await sqlstateOf(
        call(life.stranger, 'fn_search_pending', { p_workspace_id: life.workspace, p_query: 'serval' }),
      ),
    ).toBe('SD201')
    const theirs = await call(life.stranger, 'fn_search_pending', {
      p_workspace_id: life.elsewhere,
      p_query: 'serval',
    })
    expect(theirs).toBeUndefined()
    const references = await db.owner<{ target: string }>(
      `select confrelid::regclass::text as target from pg_constraint
        where conrelid = 'iu_core.search_pending'::regclass and contype = 'f' order by 1`,
    )
    expect(references.map(({ target }) => target)).toEqual([
      'iu_core.information_unit',
      'iu_core.unit_version',
    ])
  })

  it('survives the race of an edit with the projection of what was before', async () => {
    const { unit_id } = await create(life, { body: 'Kea one.' })
    await place.due()
    const editing = await db.session('stagedoor_worker')
    await editing.query('begin')
    await editing.query('select iu_core.fn_unit_edit($1, 1, $2)', [unit_id, 'Kakapo two.'])
    const projected = place.worker().once()
    await editing.query('commit')
    await projected
    expect((await found('kakapo')).map((hit) => hit.unit_id)).toEqual([unit_id])
    await place.settle()
    expect(await kept(unit_id)).toBe(0)
  })
})

describe('enacting a unit', () => {
  it('leaves its freshness: search has its text, so no document stands in for it', async () => {
    const { unit_id } = await create(life, { address: anAddress(), body: 'Rest on Sundays, says the lemur.' })
    await place.settle()
    const { rows } = await life.service.session.query<{ id: string }>(
      'select iu_core.fn_document_put($1, $2, $3, $4) as id',
      [life.workspace, 'kb:lemur', 'Lemurs', 'The old lemur page.'],
    )
    await db.owner(
      `insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, position, title, content_hash, cut_run_id)
       select $2, unit_id, canonical_address, 1, title, content_hash, gen_random_uuid() from iu_core.information_unit where unit_id = $1`,
      [unit_id, rows[0]!.id],
    )
    await place.settle()
    await enact(life.reviewer, unit_id)
    expect(await stateOf(db, unit_id)).toBe('current')
    expect((await ask('sundays lemur')).hits[0]).toMatchObject({
      source: 'unit',
      unit_id,
      freshness: 'current',
    })
  })

  it('with a text that search has not taken in yet leaves it pending', async () => {
    const { unit_id } = await create(life, { body: 'An aye-aye taps.' })
    await enact(life.reviewer, unit_id)
    expect(await stateOf(db, unit_id)).toBe('pending')
  })
})

describe('the windows of the projection', () => {
  const set = (quiet: string | null, remove: string | null = null, who = life.service) =>
    call<{ fn_vector_policy_set: boolean }>(who, 'fn_vector_policy_set', {
      p_quiet_window: quiet,
      p_delete_delay: remove,
      p_reason: 'a test',
    })

  it('change within their bounds by back-end code alone, and every change leaves a line', async () => {
    expect((await set('150 seconds', '45 seconds')).fn_vector_policy_set).toBe(true)
    expect((await set('150 seconds')).fn_vector_policy_set).toBe(false)
    const lines = await db.owner(
      `select key, old_value, new_value, actor, reason from iu_core.dot_config_audit where key like 'vector_policy.%' order by key`,
    )
    expect(lines).toEqual([
      {
        key: 'vector_policy.delete_delay',
        old_value: '00:00:30',
        new_value: '00:00:45',
        actor: 'importer',
        reason: 'a test',
      },
      {
        key: 'vector_policy.quiet_window',
        old_value: '00:02:00',
        new_value: '00:02:30',
        actor: 'importer',
        reason: 'a test',
      },
    ])
    await set('120 seconds', '30 seconds')
    for (const [quiet, remove] of [
      ['119 seconds', null],
      ['181 seconds', null],
      [null, '29 seconds'],
      [null, '61 seconds'],
    ] as const)
      expect(await sqlstateOf(set(quiet, remove))).toBe('SD001')
    expect(await sqlstateOf(set('150 seconds', null, life.operator))).toBe('42501')
  })

  it.each([
    `delete_delay = '5 s'`,
    `delete_delay = '61 s'`,
    `quiet_window = '119 s'`,
    `quiet_window = '181 s'`,
  ])('are bounded for the owner, too: %s', async (change) => {
    expect(await sqlstateOf(db.owner(`update iu_core.vector_policy set ${change}`))).toBe('23514')
  })
})

describe('words in quotes that no text has as they stand', () => {
  it('are asked again without the quotes, and the answer says so', async () => {
    const { unit_id } = await create(life, { body: 'Animals are welcome on Fridays.' })
    for (const settled of [false, true]) {
      if (settled) await place.settle()
      const { hits, warnings } = await ask('"animals fridays" welcome office')
      expect(hits[0]).toMatchObject({ unit_id })
      expect(warnings[0]).toMatch(/without the quotes/)
      expect((await ask('"animals are welcome"')).warnings).toEqual([])
    }
  })

  it('find nothing where no word of them does', async () => {
    expect(await ask('"zzyzx qwfpgj"')).toMatchObject({ hits: [], warnings: [] })
  })
})

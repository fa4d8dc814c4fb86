/** How units are created: one, or ten thousand at once; all or nothing. */
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import {
  anAddress,
  call,
  create,
  edit,
  events,
  outbox,
  refusal,
  row,
  sha256,
  useLife,
  versions,
} from './life.ts'

const db = useDatabase()
const life = useLife(db)

beforeAll(async () => {
  await db.owner(
    `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by, retired_at)
     values (null, 'safety', 'test', null), ($1, 'leave', 'test', null), ($1, 'fax', 'test', now()), ($2, 'secret', 'test', null)`,
    [life.workspace, life.elsewhere],
  )
})

it('gives a unit its fifteen fields, its first version, one outbox row and one event', async () => {
  const body = '# Leave\n\nTwenty-five days.'
  const created = await create(life, { address: 'handbook/leave', body, p_unit_kind: 'section' })
  expect(created.content_hash).toBe(sha256(body))
  expect(await row(db, created.unit_id)).toMatchObject({
    unit_id: created.unit_id,
    workspace_id: life.workspace,
    canonical_address: 'handbook/leave',
    unit_kind: 'section',
    source_ref: `actor:${life.operator.actor}`,
    owner_actor: life.operator.actor,
    created_at: expect.any(Date),
    lifecycle_status: 'draft',
    current_version_id: created.unit_version_id,
    version_no: 1,
    title: 'Leave',
    content_hash: sha256(body),
    content_profile: {},
    deleted_at: null,
  })
  expect(await versions(db, created.unit_id)).toEqual([
    {
      version_no: 1,
      title: 'Leave',
      language: 'en',
      body,
      content_hash: sha256(body),
      note: null,
      edited_by: life.operator.actor,
    },
  ])
  expect(await outbox(db, created.unit_id)).toEqual({
    operation: 'upsert',
    content_hash: sha256(body),
    generation: '1',
    status: 'pending',
    wait: 120,
  })
  expect(await events(db, created.unit_id)).toEqual([
    {
      type: 'birth_registry.entity_born',
      event_stream: 'section',
      canonical_address: 'handbook/leave',
      workspace_id: life.workspace,
      actor: life.operator.actor,
      safe_payload: {
        unit_id: created.unit_id,
        unit_kind: 'section',
        unit_version_id: created.unit_version_id,
        version_no: 1,
        content_hash: sha256(body),
      },
    },
  ])
})

it.each([
  ['its first heading', 'Intro first.\n\n## Days off ##\n\n# Later', 'Days off'],
  [
    'its first line where there is no heading',
    '\n\n  Nobody works on Sundays.\nNor on Mondays.',
    'Nobody works on Sundays.',
  ],
  ['120 characters of a long line', 'x'.repeat(300), 'x'.repeat(120)],
  ['what looks like no heading as it is', '#hashtag', '#hashtag'],
  ['an empty heading’s next line', '#\n\nText', '#'],
  ['text behind many blank lines', `${'\n'.repeat(5000)}Late`, 'Late'],
])('calls a unit without a title after %s', async (_, body, title) => {
  expect((await row(db, (await create(life, { body })).unit_id)).title).toBe(title)
})

it('takes title, language, source, profile and id as given', async () => {
  const given = '01890000-0000-7000-8000-000000000001'
  const { unit_id } = await create(life, {
    p_title: 'Ruhe',
    p_language: 'de-AT',
    p_source_ref: 'file:handbuch.md',
    p_profile: { summary: 'rest', topic_labels: ['safety', 'leave'] },
    p_unit_id: given,
  })
  expect(unit_id).toBe(given)
  expect(await row(db, given)).toMatchObject({
    title: 'Ruhe',
    source_ref: 'file:handbuch.md',
    content_profile: { summary: 'rest', topic_labels: ['safety', 'leave'] },
  })
  expect((await versions(db, given))[0]).toMatchObject({ language: 'de-AT', title: 'Ruhe' })
  expect(await sqlstateOf(create(life, { p_unit_id: given }))).toBe('SD001')
})

it('puts a unit last into its container', async () => {
  const { unit_id: container } = await create(life, { p_unit_kind: 'document' })
  const first = await create(life, { p_container_id: container })
  const second = await create(life, { p_container_id: container })
  expect((await row(db, first.unit_id)).position).toBe(1)
  expect(await row(db, second.unit_id)).toMatchObject({ container_id: container, position: 2 })
  expect((await events(db, second.unit_id))[0]!.safe_payload).toMatchObject({ container_id: container })
})

describe('refuses, and leaves nothing behind:', () => {
  const BIG = 'x'.repeat(20 * 1024 * 1024)
  it.each([
    ['no text', { body: '' }, { code: 'SD912', reason: 'cannot be empty' }],
    ['blanks', { body: ' \n\t ' }, { code: 'SD912', reason: 'cannot be empty' }],
    ['20 MB', { body: BIG }, { code: 'SD912', reason: `has at most 1048576 bytes, this has ${BIG.length}` }],
    ['one byte too many', { body: `${'é'.repeat(524_288)}x` }, { code: 'SD912' }],
    ['a NUL', { body: 'a\0b' }, { code: '22021' }],
    ['no address', { p_canonical_address: null }, { code: 'SD001' }],
    ['an address with capitals', { address: 'Handbook' }, { code: 'SD001' }],
    ['an address with an empty segment', { address: 'a//b' }, { code: 'SD001' }],
    ['an address of 401 characters', { address: 'a'.repeat(401) }, { code: 'SD001' }],
    ['a blank title', { p_title: ' ' }, { code: 'SD001' }],
    ['a title of 501 characters', { p_title: 'x'.repeat(501) }, { code: 'SD001' }],
    ['a language that is none', { p_language: 'English' }, { code: 'SD001' }],
    ['an unknown kind', { p_unit_kind: 'poem' }, { code: 'SD001' }],
    ['a blank source', { p_source_ref: ' ' }, { code: 'SD001' }],
    ['a profile that is a list', { p_profile: '[]' }, { code: 'SD001' }],
    ['a profile of 70 kB', { p_profile: { x: BIG.slice(0, 70_000) } }, { code: 'SD001' }],
    [
      'core keys',
      { p_profile: { title: 'x', body: 'y', mood: 'z' } },
      { code: 'SD911', keys: 'body, title' },
    ],
    [
      'unknown topics',
      { p_profile: { topic_labels: ['safety', 'x', 'y'] } },
      { code: 'SD907', topics: 'x, y' },
    ],
    ['a retired topic', { p_profile: { topic_labels: ['fax'] } }, { code: 'SD907', topics: 'fax' }],
    ['a topic of others', { p_profile: { topic_labels: ['secret'] } }, { code: 'SD907', topics: 'secret' }],
    ['topics that are no list', { p_profile: { topic_labels: 'safety' } }, { code: 'SD001' }],
    ['topics that are no strings', { p_profile: { topic_labels: [7] } }, { code: 'SD001' }],
    ['a topic twice', { p_profile: { topic_labels: ['leave', 'leave'] } }, { code: 'SD001' }],
    ['a container that is not there', { p_container_id: sha256('x').slice(0, 32) }, { code: 'SD901' }],
  ])('%s', async (_, unit, expected) => {
    const { address = anAddress(), ...more } = unit as { address?: string }
    expect(await refusal(create(life, { address, ...more }))).toMatchObject(expected)
    expect(
      await db.owner('select from iu_core.information_unit where canonical_address = $1', [address]),
    ).toEqual([])
    expect(
      await db.owner('select from iu_core.event_outbox where canonical_address = $1', [address]),
    ).toEqual([])
  })

  it('an address that is taken, also by a unit that was deleted', async () => {
    const { unit_id } = await create(life, { address: 'once' })
    expect(await refusal(create(life, { address: 'once' }))).toEqual({ code: 'SD904', address: 'once' })
    await call(life.operator, 'fn_unit_delete', { p_unit_id: unit_id })
    expect(await refusal(create(life, { address: 'once' }))).toEqual({ code: 'SD904', address: 'once' })
    await call(life.stranger, 'fn_unit_create', {
      p_workspace_id: life.elsewhere,
      p_canonical_address: 'once',
      p_body: 'Addresses of workspaces never meet.',
    })
  })

  it('a container of others, or one that has gone', async () => {
    const theirs = await call<{ unit_id: string }>(life.stranger, 'fn_unit_create', {
      p_workspace_id: life.elsewhere,
      p_canonical_address: 'theirs',
      p_body: 'x',
    })
    expect(await refusal(create(life, { p_container_id: theirs.unit_id }))).toEqual({
      code: 'SD901',
      unit: theirs.unit_id,
    })
    const gone = await create(life)
    await call(life.operator, 'fn_unit_delete', { p_unit_id: gone.unit_id })
    expect(await refusal(create(life, { p_container_id: gone.unit_id }))).toEqual({
      code: 'SD903',
      unit: gone.unit_id,
      status: 'deleted',
    })
  })
})

it('lets nobody create who may not: viewers, agents, strangers; nor back-end code without a workspace', async () => {
  expect(await sqlstateOf(create(life, {}, life.viewer))).toBe('SD202')
  expect(await sqlstateOf(create(life, {}, life.agent))).toBe('42501')
  expect(await sqlstateOf(create(life, {}, life.stranger))).toBe('SD201')
  expect(await sqlstateOf(create(life, { p_workspace_id: null }, life.service))).toBe('SD001')
  const nowhere = '00000000-0000-4000-8000-000000000000'
  expect(await sqlstateOf(create(life, { p_workspace_id: nowhere }, life.service))).toBe('SD001')
  expect((await create(life, {}, life.service)).unit_id).toBeTruthy()
})

describe('many at once', () => {
  const batch = (units: unknown, who = life.operator) =>
    who.session.query<{ unit_id: string; canonical_address: string }>(
      'select * from iu_core.fn_unit_create_batch($1, $2)',
      [life.workspace, JSON.stringify(units)],
    )

  it('come in their order, with their places in the container, staggered in the outbox, with an event each', async () => {
    const { unit_id: container } = await create(life, { p_unit_kind: 'document' })
    await create(life, { p_container_id: container })
    const { rows } = await batch([
      { canonical_address: 'batch/z', body: '# Zed\n\ntext', container_id: container },
      {
        canonical_address: 'batch/a',
        body: 'Ah',
        title: 'A',
        unit_kind: 'table',
        language: 'vi',
        source_ref: 's',
      },
      {
        canonical_address: 'batch/m',
        body: 'Em',
        container_id: container,
        profile: { topic_labels: ['leave'] },
      },
      { canonical_address: 'batch/n', body: 'En', container_id: container, position: 7 },
    ])
    expect(rows.map((one) => one.canonical_address)).toEqual(['batch/z', 'batch/a', 'batch/m', 'batch/n'])
    const units = await Promise.all(rows.map((one) => row(db, one.unit_id)))
    expect(units).toMatchObject([
      { title: 'Zed', unit_kind: 'note', container_id: container, position: 2, version_no: 1 },
      { title: 'A', unit_kind: 'table', container_id: null, position: 0, source_ref: 's' },
      { title: 'Em', container_id: container, position: 3, content_profile: { topic_labels: ['leave'] } },
      { title: 'En', container_id: container, position: 7, owner_actor: life.operator.actor },
    ])
    expect(units.map((unit) => unit.content_hash)).toEqual(
      ['# Zed\n\ntext', 'Ah', 'Em', 'En'].map((body) => sha256(body)),
    )
    expect(await versions(db, rows[1]!.unit_id)).toMatchObject([
      { language: 'vi', edited_by: life.operator.actor },
    ])
    const waits = await Promise.all(rows.map(async (one) => (await outbox(db, one.unit_id))!.wait))
    expect(waits).toEqual([120, 120.05, 120.1, 120.15])
    for (const one of rows)
      expect(await events(db, one.unit_id)).toMatchObject([
        {
          type: 'birth_registry.entity_born',
          actor: life.operator.actor,
          safe_payload: { unit_id: one.unit_id },
        },
      ])
    expect((await events(db, rows[1]!.unit_id))[0]!.event_stream).toBe('table')
  })

  it('are all refused with the one that is wrong', async () => {
    const good = { canonical_address: 'batch/good', body: 'x' }
    await create(life, { address: 'batch/taken' })
    for (const [bad, expected] of [
      [
        { canonical_address: 'batch/taken', body: 'x' },
        { code: 'SD904', address: 'batch/taken' },
      ],
      [
        { canonical_address: 'batch/good', body: 'y' },
        { code: 'SD904', address: 'batch/good' },
      ],
      [{ canonical_address: 'batch/b', body: '' }, { code: 'SD912' }],
      [{ canonical_address: 'batch/b' }, { code: 'SD912' }],
      [
        { canonical_address: 'batch/b', body: 'x', profile: { drift: 1 } },
        { code: 'SD911', keys: 'drift' },
      ],
      [{ canonical_address: 'batch/b', body: 'x', profile: { topic_labels: ['no'] } }, { code: 'SD907' }],
      [{ canonical_address: 'batch/b', body: 'x', container_id: life.workspace }, { code: 'SD901' }],
      [{ canonical_address: 'batch/b', body: 'x', unit_id: life.workspace }, { code: 'SD001' }],
      [{ canonical_address: 'batch/b', body: 'x', profile: [] }, { code: 'SD001' }],
      [{ canonical_address: 'batch/b', body: 'x', position: -5 }, { code: 'SD001' }],
      [{ canonical_address: 'batch/b', body: 'x', position: 1.5 }, { code: 'SD001' }],
      [{ canonical_address: 'batch/b', body: 'x', position: 2_147_483_647 }, { code: 'SD001' }],
      ['not an object', { code: 'SD001' }],
    ] as const)
      expect(await refusal(batch([good, bad]))).toMatchObject(expected)
    expect(await sqlstateOf(batch({}))).toBe('SD001')
    expect(
      await sqlstateOf(
        life.operator.session.query(
          `select iu_core.fn_unit_create_batch($1, '[{"canonical_address": "batch/b", "body": "\\ud800"}]')`,
          [life.workspace],
        ),
      ),
    ).toBe('22P02')
    expect(await sqlstateOf(batch(Array(10_001).fill(good)))).toBe('SD001')
    expect(await sqlstateOf(batch([good], life.viewer))).toBe('SD202')
    expect(
      await db.owner(`select from iu_core.information_unit where canonical_address = 'batch/good'`),
    ).toEqual([])
    expect((await batch([])).rows).toEqual([])
  })

  it('are 10,000 if need be, in one transaction', { tags: 'long' }, async () => {
    const units = Array.from({ length: 10_000 }, (_, n) => ({
      canonical_address: `bulk/${n}`,
      body: `Rule ${n}`,
    }))
    const { rows } = await batch(units)
    expect(rows).toHaveLength(10_000)
    const [seen] = await db.owner(
      `select count(*)::int as units, count(distinct o.earliest_run_at)::int as moments, count(distinct e.id)::int as events
         from iu_core.information_unit u
         join iu_core.unit_version v on v.unit_version_id = u.current_version_id and v.content_hash = u.content_hash
         join iu_core.vector_outbox o on o.unit_id = u.unit_id
         join iu_core.event_outbox e on e.event_subject_ref = u.unit_id::text
        where u.canonical_address like 'bulk/%'`,
    )
    // Nobody waits longer than the longest wait: 120 s of quiet and 50 ms for each reach it before the last.
    expect(seen).toEqual({ units: 10_000, moments: 9601, events: 10_000 })
  })
})

it('a position that no function gives is refused whoever writes it', async () => {
  const { unit_id } = await create(life)
  for (const position of [-1, 2_000_000_001])
    expect(
      await sqlstateOf(
        db.owner('update iu_core.information_unit set position = $2 where unit_id = $1', [unit_id, position]),
      ),
    ).toBe('23514')
})

describe('on behalf of another', () => {
  const ann = 'user:ann'
  const acts = (who: typeof life.service, unit: string): [string, () => Promise<unknown>][] => [
    ['fn_unit_create', () => create(life, { p_actor: ann }, who)],
    [
      'fn_unit_create_batch',
      () =>
        call(who, 'fn_unit_create_batch', {
          p_workspace_id: life.workspace,
          p_units: JSON.stringify([{ canonical_address: anAddress(), body: 'x' }]),
          p_actor: ann,
        }),
    ],
    ['fn_unit_edit', () => edit(who, unit, 1, { p_body: 'Second', p_actor: ann })],
    [
      'fn_unit_edit_slice',
      () =>
        call(who, 'fn_unit_edit_slice', {
          ...{ p_unit_id: unit, p_expected_version: 2, p_from: 0, p_to: 0, p_text: 'The ', p_actor: ann },
        }),
    ],
    [
      'fn_unit_profile_patch',
      () => call(who, 'fn_unit_profile_patch', { p_unit_id: unit, p_patch: { a: 1 }, p_actor: ann }),
    ],
    [
      'fn_unit_edge_add',
      () =>
        call(who, 'fn_unit_edge_add', {
          ...{ p_from_unit_id: unit, p_edge_type: 'refers_to', p_target_ref: 'x', p_actor: ann },
        }),
    ],
  ]

  it('a service acts, and each row says for whom, and who really did', async () => {
    const { unit_id } = await create(life)
    const [before] = await db.owner<{ seq: string }>('select max(seq) as seq from iu_core.event_outbox')
    for (const [, act] of acts(life.service, unit_id)) await act()
    const via = life.service.actor
    expect(
      await db.owner(
        'select event_type, actor, actor_via from iu_core.event_outbox where seq > $1 order by seq',
        [before!.seq],
      ),
    ).toEqual(
      [
        ...['entity_born', 'entity_born', 'unit_versioned', 'unit_versioned'],
        ...['unit_profile_changed', 'edge_added'],
      ].map((event_type) => ({ event_type, actor: ann, actor_via: via })),
    )
    const [rows] = await db.owner(
      `select (select array_agg(distinct source_ref || ' ' || owner_via) from iu_core.information_unit where owner_actor = $2) as units,
              (select array_agg(distinct edited_via) from iu_core.unit_version where edited_by = $2) as versions,
              (select array_agg(created_by || ' ' || created_via) from iu_core.universal_edges where from_unit_id = $1) as edges`,
      [unit_id, ann],
    )
    expect(rows).toEqual({ units: [`actor:${ann} ${via}`], versions: [via], edges: [`${ann} ${via}`] })
  })

  it('nobody else does', async () => {
    const { unit_id } = await create(life)
    for (const [name, act] of acts(life.operator, unit_id))
      expect(await sqlstateOf(act()), name).toBe('SD203')
  })
})

/** Edits of drafts: each is a version for good, and an edit of an old one is refused. */
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import {
  call,
  create,
  edit,
  enact,
  events,
  outbox,
  refusal,
  row,
  sha256,
  useLife,
  versions,
  type Written,
} from './life.ts'

const db = useDatabase()
const life = useLife(db)

const slice = (unit: string, version: number, from: number | null, to: number, text: string | null) =>
  call<Written>(life.operator, 'fn_unit_edit_slice', {
    p_unit_id: unit,
    p_expected_version: version,
    p_from: from,
    p_to: to,
    p_text: text,
  })

it('makes a version of a new text and keeps the old one readable', async () => {
  const { unit_id, content_hash } = await create(life, { body: 'First' })
  const written = await edit(life.reviewer, unit_id, 1, { p_body: 'Second', p_note: 'clearer' })
  expect(written).toMatchObject({ version_no: 2, content_hash: sha256('Second'), changed: true })
  expect(await versions(db, unit_id)).toMatchObject([
    { version_no: 1, body: 'First', title: 'First', content_hash, note: null },
    { version_no: 2, body: 'Second', title: 'First', note: 'clearer', edited_by: life.reviewer.actor },
  ])
  expect(await row(db, unit_id)).toMatchObject({
    version_no: 2,
    current_version_id: written.unit_version_id,
    content_hash: sha256('Second'),
  })
  expect((await events(db, unit_id)).slice(1)).toMatchObject([
    {
      type: 'iu.unit_versioned',
      actor: life.reviewer.actor,
      workspace_id: life.workspace,
      safe_payload: {
        unit_id,
        version_no: 2,
        unit_version_id: written.unit_version_id,
        content_hash: sha256('Second'),
        previous_hash: content_hash,
      },
    },
  ])
})

it('makes a version of a new title or language alone, and enqueues it: both decide which words are searched', async () => {
  const { unit_id } = await create(life, { body: 'Text' })
  await edit(life.operator, unit_id, 1, { p_title: 'A title' })
  expect(await edit(life.operator, unit_id, 2, { p_language: 'vi' })).toMatchObject({
    version_no: 3,
    changed: true,
  })
  expect(await versions(db, unit_id)).toMatchObject([
    { title: 'Text', language: 'en', body: 'Text' },
    { title: 'A title', language: 'en', body: 'Text' },
    { title: 'A title', language: 'vi', body: 'Text' },
  ])
  expect(await row(db, unit_id)).toMatchObject({ title: 'A title', content_hash: sha256('Text') })
  expect(await outbox(db, unit_id)).toMatchObject({ generation: '3' })
})

it('makes nothing of an edit that changes nothing', async () => {
  const { unit_id, unit_version_id, content_hash } = await create(life, { body: 'Text', p_title: 'T' })
  for (const change of [
    {},
    { p_body: 'Text' },
    { p_title: 'T', p_language: 'en', p_body: 'Text', p_note: 'n' },
  ])
    expect(await edit(life.operator, unit_id, 1, change)).toEqual({
      version_no: 1,
      unit_version_id,
      content_hash,
      changed: false,
    })
  expect(await slice(unit_id, 1, 1, 2, 'e')).toMatchObject({ version_no: 1, changed: false })
  expect(await versions(db, unit_id)).toHaveLength(1)
  expect(await events(db, unit_id)).toHaveLength(1)
  expect(await outbox(db, unit_id)).toMatchObject({ generation: '1' })
})

it('reports both versions and hashes to whoever edits an old version, and writes nothing', async () => {
  const { unit_id } = await create(life, { body: 'One' })
  await edit(life.operator, unit_id, 1, { p_body: 'Two' })
  const conflict = {
    code: 'SD902',
    unit: unit_id,
    expected_version: 1,
    expected_hash: sha256('One'),
    current_version: 2,
    current_hash: sha256('Two'),
  }
  expect(await refusal(edit(life.reviewer, unit_id, 1, { p_body: 'Mine' }))).toEqual(conflict)
  expect(await refusal(slice(unit_id, 1, 0, 1, 'x'))).toEqual(conflict)
  expect(await refusal(edit(life.operator, unit_id, 3, { p_body: 'Mine' }))).toMatchObject({
    code: 'SD902',
    expected_version: 3,
    expected_hash: null,
  })
  expect(await versions(db, unit_id)).toHaveLength(2)
})

describe('a slice', () => {
  it.each([
    ['in the middle', 2, 4, 'XYZ', '01XYZ456789'],
    ['at the beginning', 0, 3, '', '3456789'],
    ['of nothing, which inserts', 5, 5, '–', '01234–56789'],
    ['at the end, which appends', 10, 10, '!', '0123456789!'],
    ['that is everything', 0, 10, 'new', 'new'],
  ])('%s', async (_, from, to, text, result) => {
    const { unit_id } = await create(life, { body: '0123456789' })
    expect(await slice(unit_id, 1, from, to, text)).toMatchObject({
      version_no: 2,
      content_hash: sha256(result),
    })
    expect((await versions(db, unit_id))[1]!.body).toBe(result)
  })

  it('counts characters, not bytes nor halves of surrogate pairs', async () => {
    const { unit_id } = await create(life, { body: 'Đỗ 🐘 Hà' })
    await slice(unit_id, 1, 3, 4, '🦉')
    expect((await versions(db, unit_id))[1]!.body).toBe('Đỗ 🦉 Hà')
  })

  it.each([
    [-1, 2],
    [3, 2],
    [0, 11],
    [11, 11],
  ])('from %i to %i is out of range', async (from, to) => {
    const { unit_id } = await create(life, { body: '0123456789' })
    expect(await refusal(slice(unit_id, 1, from, to, 'x'))).toEqual({ code: 'SD906', from, to, length: 10 })
  })

  it('is refused without its ends or text, and if nothing would be left', async () => {
    const { unit_id } = await create(life, { body: '0123' })
    expect(await sqlstateOf(slice(unit_id, 1, null, 2, 'x'))).toBe('SD001')
    expect(await sqlstateOf(slice(unit_id, 1, 0, 2, null))).toBe('SD001')
    expect(await sqlstateOf(slice(unit_id, 1, 0, 4, ' '))).toBe('SD912')
  })
})

describe('an edit is refused', () => {
  it.each([
    ['without a version', null, { p_body: 'x' }, 'SD001'],
    ['with an empty text', 1, { p_body: '' }, 'SD912'],
    ['with 20 MB', 1, { p_body: 'x'.repeat(20 * 1024 * 1024) }, 'SD912'],
    ['with a NUL', 1, { p_body: 'a\0' }, '22021'],
    ['with a blank title', 1, { p_title: '\t' }, 'SD001'],
    ['with a language that is none', 1, { p_language: '??' }, 'SD001'],
    ['with a note of 2001 characters', 1, { p_body: 'x', p_note: 'n'.repeat(2001) }, 'SD001'],
  ])('%s', async (_, version, change, state) => {
    const { unit_id } = await create(life)
    expect(await sqlstateOf(edit(life.operator, unit_id, version, change))).toBe(state)
    expect(await versions(db, unit_id)).toHaveLength(1)
  })

  it('of a unit that is enacted, retired, superseded or deleted, whichever version is named', async () => {
    const ids: Record<string, string> = {}
    for (const status of ['enacted', 'retired', 'superseded', 'deleted', 'successor'])
      ids[status] = (await create(life)).unit_id
    for (const status of ['enacted', 'superseded', 'successor']) await enact(life.reviewer, ids[status]!)
    await call(life.reviewer, 'fn_unit_supersede', {
      p_unit_id: ids.superseded,
      p_successor_id: ids.successor,
      p_apr_ref: 'apr-2',
    })
    await call(life.reviewer, 'fn_unit_retire', { p_unit_id: ids.retired })
    await call(life.operator, 'fn_unit_delete', { p_unit_id: ids.deleted })
    for (const status of ['enacted', 'retired', 'superseded', 'deleted']) {
      const locked = { code: 'SD903', unit: ids[status], status }
      expect(await refusal(edit(life.reviewer, ids[status]!, 1, { p_body: 'x' }))).toEqual(locked)
      expect(await refusal(edit(life.service, ids[status]!, 9, { p_title: 'x' }))).toEqual(locked)
      expect(await refusal(slice(ids[status]!, 1, 0, 1, 'x'))).toEqual(locked)
    }
  })

  it('of those who may not, and of a unit of others as if it were not there', async () => {
    const { unit_id } = await create(life)
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect(await sqlstateOf(edit(life.viewer, unit_id, 1, { p_body: 'x' }))).toBe('SD202')
    expect(await sqlstateOf(edit(life.agent, unit_id, 1, { p_body: 'x' }))).toBe('42501')
    expect(await refusal(edit(life.stranger, unit_id, 1, { p_body: 'x' }))).toEqual({
      code: 'SD901',
      unit: unit_id,
    })
    expect(await refusal(edit(life.operator, unknown, 1, { p_body: 'x' }))).toEqual({
      code: 'SD901',
      unit: unknown,
    })
    expect(await refusal(edit(life.service, unknown, 1, { p_body: 'x' }))).toEqual({
      code: 'SD901',
      unit: unknown,
    })
  })
})

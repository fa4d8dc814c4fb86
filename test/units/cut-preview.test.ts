/** The preview that a reviewer gets of a cut, and that the cut does just that. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { readMarking } from '../../src/app/marking.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { approve, cut, cutDocument, enact, mark, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace
let sourceRef: string
let documents = 0

beforeAll(async () => {
  place = await workplace(db)
})
beforeEach(() => {
  documents += 1
  sourceRef = `book-${documents}.md`
})

const NAMES = ['same', 'draft', 'edited', 'enacted', 'retired', 'deleted', 'gone', 'kept', 'elsewhere']
const at = (name: string) => `book-${documents}/${name}`
const section = (name: string, more = '') => `## ${name}\n\nWords of the section ${name}${more}.`
const act = (fn: string, name: string, more = '') =>
  place.reviewer.session.query(
    `select iu_core.${fn}(unit_id${more}) from iu_core.information_unit where workspace_id = $1 and canonical_address = $2`,
    [place.workspace, at(name)],
  )

/** Units in every state, and a document in which the pieces of most of them changed. */
async function changedDocument() {
  await cutDocument(place, `${NAMES.map((name) => section(name)).join('\n\n')}\n`, { sourceRef })
  await enact(place, at('enacted'), at('kept'))
  await act('fn_unit_edit', 'edited', `, 1, 'Written by hand.'`)
  await act('fn_unit_retire', 'retired')
  await act('fn_unit_delete', 'deleted')
  await act(
    'fn_unit_move',
    'elsewhere',
    `, (select c.unit_id from iu_core.information_unit c where c.workspace_id = $1 and c.canonical_address = '${at('same')}')`,
  )
  const changed = ['draft', 'edited', 'enacted', 'retired', 'deleted']
  const names = NAMES.filter((name) => name !== 'gone' && name !== 'kept')
  const sections = names.map((name) => section(name, changed.includes(name) ? ', and more' : ''))
  return mark(place, `${sections.join('\n\n')}\n\n## new\n\nNobody has said anything like it before.\n`, {
    sourceRef,
  })
}

it('says of each piece what becomes of its unit, by what that is now', async () => {
  const staged = await changedDocument()
  const { pieces, removed } = await readMarking(place.reviewer.session, staged.staging_record_id)
  const preview = Object.fromEntries(pieces.map(({ title, preview }) => [title, preview]))
  const held = (name: string, status: string) => ({ unit: at(name), status, version_no: 1 })
  expect(preview).toEqual({
    same: { what: 'unchanged', ...held('same', 'draft') },
    draft: { what: 'versioned', ...held('draft', 'draft') },
    edited: { what: 'versioned', ...held('edited', 'draft'), version_no: 2, replaced_version: 2 },
    enacted: { what: 'successor', ...held('enacted', 'enacted'), new_address: at('enacted~2') },
    retired: { what: 'successor', ...held('retired', 'retired'), new_address: at('retired~2') },
    deleted: { what: 'successor', ...held('deleted', 'deleted'), new_address: at('deleted~2') },
    elsewhere: { what: 'unchanged', ...held('elsewhere', 'draft'), kept_in: at('same') },
    new: { what: 'created' },
  })
  expect(removed.map(({ address, retired, kept }) => [address, retired, kept])).toEqual([
    [at('gone'), [at('gone')], []],
    [at('kept'), [], [at('kept')]],
  ])

  await approve(place, staged)
  const done = await cut(place, staged)
  expect(done.units.map(({ canonical_address, what }) => [canonical_address, what])).toEqual([
    ...pieces.flatMap(({ address, preview: { what, new_address } }) =>
      what === 'unchanged' ? [] : [[new_address ?? address, what]],
    ),
    [at('gone'), 'retired'],
  ])
})

it('a changed piece of a deleted or retired unit is a draft that can be enacted, superseding nobody', async () => {
  const staged = await changedDocument()
  await approve(place, staged)
  await cut(place, staged)
  const units = () => unitsOf(db.pool('postgres'), place.workspace, sourceRef)
  const now = await units()
  expect(now.get(at('enacted~2'))).toMatchObject({ status: 'draft', supersedes: at('enacted') })
  for (const name of ['deleted~2', 'retired~2'])
    expect(now.get(at(name))).toMatchObject({ status: 'draft', supersedes: null })
  await enact(place, at('deleted~2'), at('retired~2'))
  expect((await units()).get(at('deleted~2'))).toMatchObject({ status: 'enacted' })
  // And the deleted one may still come back.
  await act('fn_unit_restore', 'deleted')
})

it('is for members: others, and what is no manifest, are refused', async () => {
  const staged = await mark(place, `${section('one')}\n`, { sourceRef })
  const ask = (workspace: string | null, manifest: object | null) =>
    [
      'select iu_core.fn_cut_preview($1, $2) as preview',
      [workspace, manifest && JSON.stringify(manifest)],
    ] as const
  const stranger = await createMember(db, await createWorkspace(db, 'Others'), 'reviewer')
  const asked = (manifest: object | null, workspace: string | null = place.workspace) => {
    const [sql, values] = ask(workspace, manifest)
    return sqlstateOf(place.operator.session.query(sql, [...values]))
  }
  expect(
    await sqlstateOf(
      db.as(stranger, (client) =>
        client.query(ask('', null)[0], [place.workspace, JSON.stringify(staged.manifest)]),
      ),
    ),
  ).toBe('SD201')
  expect(await asked({ pieces: 'all' })).toBe('SD001')
  expect(await asked(null)).toBe('SD001')
  expect(await asked(staged.manifest, null)).toBe('SD201')
})

/** Text of a document that its manifest has in no piece: whoever decides is shown it, and the cut says so. */
import { beforeAll, expect, it } from 'vitest'
import { readMarking, stageEditedManifest } from '../../src/app/marking.ts'
import { leftOutOf } from '../../src/units/cut.ts'
import type { MarkManifest } from '../../src/units/manifest.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { approve, cut, cutDocument, mark, within } from './documents.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

const SOURCE = `---
title: Rules
---

# Rules

How it is.

---

## Leave

Twenty-eight days of leave a year for everybody here.

## Pay

On the 25th of every month, in euros – or before.
`
const staged = (manifest: MarkManifest, source = SOURCE) =>
  stageEditedManifest(within(place.operator.session), { workspace: place.workspace, manifest, source })
const without = (manifest: MarkManifest, ...names: string[]): MarkManifest => ({
  ...manifest,
  pieces: manifest.pieces.filter(({ address }) => !names.some((name) => address.endsWith(name))),
})

it('is reported when it is staged, to the reviewer and by the cut, with its lines', async () => {
  const { manifest } = await mark(place, SOURCE, { sourceRef: 'rules.md' })
  const marked = await staged(without(manifest, '/pay'))
  const text = '## Pay\n\nOn the 25th of every month, in euros – or before.'
  const bytes = Buffer.byteLength(text)
  const from = Buffer.from(SOURCE).indexOf('## Pay')
  const part = { from, to: from + bytes, first_line: 15, last_line: 17 }
  const left_out = { bytes, parts: [{ ...part, text }] }
  expect(marked.left_out).toEqual(left_out)
  expect((await readMarking(place.reviewer.session, marked.staging_record_id)).left_out).toEqual(left_out)
  await approve(place, marked)
  expect(await cut(place, marked)).toMatchObject({ created: 2, left_out: { bytes, parts: [part] } })
})

it('is none where all of it is in pieces; front matter, rules and blank lines say nothing', async () => {
  const marked = await mark(place, SOURCE, { sourceRef: 'whole.md' })
  expect(marked.left_out).toBeNull()
  expect((await readMarking(place.reviewer.session, marked.staging_record_id)).left_out).toBeNull()
  await approve(place, marked)
  expect(await cut(place, marked)).not.toHaveProperty('left_out')
})

it.each<[string, string, string[]]>([
  [
    'front matter, and a second one after it',
    '---\na: 1\n---\nText\n\n---\nb: 2\n---\n[piece]',
    ['Text\n\n---\nb: 2\n---'],
  ],
  ['rules of any form', '* * *\n\n___\n[piece]\n  ---\n\n- - - -\n', []],
  ['what only looks like a rule', '--\n[piece]\n--- x', ['--', '--- x']],
  [
    'what is before, between and behind',
    'before\n[piece]\n\n  é between\n\n[piece] behind',
    ['before', 'é between', 'behind'],
  ],
])('%s', async (_name, pattern, texts) => {
  const pieces: { from: number; to: number }[] = []
  for (let at = pattern.indexOf('[piece]'); at >= 0; at = pattern.indexOf('[piece]', at + 1)) {
    const from = Buffer.byteLength(pattern.slice(0, at))
    pieces.push({ from, to: from + '[piece]'.length })
  }
  const found = await leftOutOf(place.agent.session, pattern, pieces)
  expect(found?.parts.map(({ text }) => text) ?? []).toEqual(texts)
  for (const { text, first_line: first, last_line: last } of found?.parts ?? []) {
    expect(
      pattern
        .split('\n')
        .slice(first - 1, last)
        .join('\n'),
    ).toContain(text)
  }
})

it('a piece that is none any more: lost by the document, left out by the manifest, or within another piece', async () => {
  const sourceRef = 'gone.md'
  const source = `${SOURCE}\n## Lost\n\nThis goes away entirely, with all of its words.\n`
  await cutDocument(place, source, { sourceRef })
  const { manifest } = await mark(place, SOURCE, { sourceRef })
  const [, leave, pay] = manifest.pieces
  const changed = SOURCE.replace('25th', '26th')
  const merged = await staged({ ...manifest, pieces: [manifest.pieces[0]!, { ...leave!, to: pay!.to }] })
  const where = ({ report }: typeof merged) =>
    Object.fromEntries(report.removed.map(({ address, text_is }) => [address, text_is]))
  expect(where(merged)).toEqual({ 'gone/lost': 'removed', 'gone/pay': 'in_another_piece' })
  // Though it changed at the same time.
  const next = await mark(place, changed, { sourceRef })
  const left = await staged(without(next.manifest, '/pay'), changed)
  expect(where(left)).toEqual({ 'gone/lost': 'removed', 'gone/pay': 'in_no_piece' })
  const { removed } = await readMarking(place.reviewer.session, left.staging_record_id)
  expect(removed).toContainEqual(
    expect.objectContaining({ address: 'gone/pay', text_is: 'in_no_piece', retired: ['gone/pay'], kept: [] }),
  )
})

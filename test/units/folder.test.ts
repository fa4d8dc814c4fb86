/** A folder of documents: marked one by one, approved by one digest; and a document that has not changed makes no new record. */
import { beforeAll, expect, it } from 'vitest'
import { approveFolder, folderDigest, markedInFolder } from '../../src/app/marking.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { cutDocument, mark as markDocument } from './documents.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

const mark = (sourceRef: string, source: string) => markDocument(place, source, { sourceRef })
const waiting = (folder: string) => markedInFolder(place.reviewer.session, place.workspace, folder, 'pending')
const approve = (folder: string, digest: string) =>
  approveFolder(place.reviewer.session, place.workspace, folder, digest)

it('a document that has not changed since its cut makes no new record; a changed one does', async () => {
  const source = '# A\n\nText.\n\n## B\n\nMore.\n'
  await cutDocument(place, source, { sourceRef: 'same/README.md' })
  const again = await mark('same/README.md', source)
  expect(again).toMatchObject({ created: false, lifecycle_status: 'consumed' })
  expect((await mark('same/README.md', source)).staging_record_id).toBe(again.staging_record_id)
  expect(await waiting('same')).toEqual([])
  expect(await mark('same/README.md', source.replace('More', 'Less'))).toMatchObject({
    created: true,
    lifecycle_status: 'pending',
  })
})

it('one review approves what waits in a folder, exactly as it was seen', async () => {
  await mark('docs/a/README.md', '# A\n\nOne.\n')
  await mark('docs/b/README.md', '# B\n\nTwo.\n')
  await mark('docs2/README.md', '# C\n\nThree.\n')
  const seen = await waiting('docs')
  expect(seen.map(({ source_ref }) => source_ref)).toEqual(['docs/a/README.md', 'docs/b/README.md'])
  await mark('docs/b/README.md', '# B\n\nTwo and a half.\n')
  await expect(approve('docs', folderDigest(seen))).rejects.toMatchObject({ code: 'argument_invalid' })
  const now = await waiting('docs')
  expect(now).toHaveLength(2)
  await expect(
    approveFolder(place.operator.session, place.workspace, 'docs', folderDigest(now)),
  ).rejects.toThrow()
  expect(await waiting('docs')).toEqual(now)
  expect(await approve('docs', folderDigest(now))).toHaveLength(2)
  expect(await waiting('docs')).toEqual([])
  expect(await waiting('docs2')).toHaveLength(1)
  await expect(approve('docs', folderDigest([]))).rejects.toMatchObject({ code: 'argument_invalid' })
})

it('two documents of one name in two folders are cut side by side', async () => {
  for (const folder of ['left', 'right'])
    await cutDocument(place, `# ${folder}\n\nText of ${folder}.\n`, {
      sourceRef: `twins/${folder}/README.md`,
    })
  const { rows } = await place.operator.session.query<{ canonical_address: string }>(
    `select canonical_address from iu_core.information_unit where starts_with(canonical_address, 'twins.') order by 1`,
  )
  expect(rows.map(({ canonical_address }) => canonical_address)).toEqual(
    expect.arrayContaining(['twins.left.readme', 'twins.right.readme']),
  )
})

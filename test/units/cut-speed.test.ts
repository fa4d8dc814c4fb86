/** The cut is set-based: ten thousand pieces take seconds. The limits are those of a busy machine; alone it takes a tenth. */
import { beforeAll, expect, it } from 'vitest'
import { cutFromManifest } from '../../src/units/cut.ts'
import { type Workplace, workplace } from '../staging/people.ts'
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
  [40, 1_000],
  [10_000, 30_000],
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
    expect(await time(documentOf(pieces))).toMatchObject({ born: pieces })
    expect(await time(documentOf(pieces, (index) => index % 10 === 3))).toMatchObject({
      versioned: pieces / 10,
    })
    expect(await time(`## First of all\n\nNew.\n\n${documentOf(pieces - 1)}`)).toMatchObject({ born: 1 })
  },
  120_000,
)

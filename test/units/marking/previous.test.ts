/** A document that was cut before keeps its addresses, whatever happened to it since. */
import { describe, expect, it } from 'vitest'
import { type Marking, markDocument } from '../../../src/units/marking/mark.ts'
import type { PreviousPiece } from '../../../src/units/marking/previous.ts'

const sourceRef = 'handbook.md'

/** As previousPieces() returns it after a cut. */
function piecesOf({ manifest, source }: Marking): PreviousPiece[] {
  const bytes = Buffer.from(source)
  return manifest.pieces.map(({ address, hash, title, kind, parent, from, to }) => ({
    address,
    hash,
    title,
    kind,
    parent,
    text: bytes.subarray(from, to).toString(),
  }))
}

/** Address and change of each piece of `now`, which was `before` when it was cut. */
function remarked(before: string, now: string): string[] {
  const previous = piecesOf(markDocument(before, { sourceRef }))
  const { report } = markDocument(now, { sourceRef, previous })
  const removed = report.removed.map(({ address }) => `gone ${address}`)
  return [...report.pieces.map(({ address, change }) => `${change} ${address}`), ...removed]
}

const A = '## Leave\n\nTwenty-five days, and the holidays of the land that you live in.'
const B = '## Expenses\n\nKeep the receipts, and send them before the month is over.'
const C = '## Travel\n\nTake the train where it takes less than five hours.'
const doc = (...sections: string[]) => `${sections.join('\n\n')}\n`

describe('addresses stay', () => {
  it('when sections change places', () => {
    expect(remarked(doc(A, B, C), doc(C, A, B))).toEqual([
      'moved handbook/travel',
      'same handbook/leave',
      'same handbook/expenses',
    ])
  })

  it('when a heading is renamed', () => {
    expect(remarked(doc(A, B), doc(A.replace('Leave', 'Holidays and absence'), B))).toEqual([
      'changed handbook/leave',
      'same handbook/expenses',
    ])
  })

  it('when a heading is renamed that has nothing but sections in it', () => {
    const inner = '### Sick leave\n\nTell us in the morning.'
    expect(remarked(doc('## Leave', inner), doc('## Absence', inner))).toEqual([
      'changed handbook/leave',
      'same handbook/leave/sick-leave',
    ])
  })

  it('when another section of the same name comes before', () => {
    const other = '## Leave\n\nOf absence, unpaid: ask whoever leads you, a month before.'
    expect(remarked(doc(A, B), doc(other, A, B))).toEqual([
      'new handbook/leave-2',
      'same handbook/leave',
      'same handbook/expenses',
    ])
    // Though the old one is changed at the same time.
    expect(remarked(doc(A, B), doc(other, A.replace('Twenty-five', 'Thirty'), B))).toEqual([
      'new handbook/leave-2',
      'changed handbook/leave',
      'same handbook/expenses',
    ])
  })

  it('when the old one gets another name at the same time: the words say who it is, not the address', () => {
    const stranger = '## Leave\n\nOf absence, unpaid: ask whoever leads you, a month before.'
    const renamed = A.replace('Leave', 'Annual leave').replace('you live in', 'you mostly live in')
    expect(remarked(doc(A, B), doc(stranger, renamed, B))).toEqual([
      'new handbook/leave-2',
      'changed handbook/leave',
      'same handbook/expenses',
    ])
    const second = '## Leave\n\nFor parents: twelve months within the first three years of the child.'
    expect(
      remarked(doc(A, second, B), doc(stranger, A, second.replace('## Leave', '## Parental leave'), B)),
    ).toEqual([
      'new handbook/leave-3',
      'same handbook/leave',
      'changed handbook/leave-2',
      'same handbook/expenses',
    ])
    // Written again in its place, it is still the same section.
    expect(remarked(doc(A, B), doc(stranger, B))).toEqual([
      'changed handbook/leave',
      'same handbook/expenses',
    ])
  })

  it('when the first of two sections of the same name goes', () => {
    const other = A.replace(/Twenty[\s\S]*/, 'Something else altogether is said here.')
    expect(remarked(doc(A, other, B), doc(other.replace('else', 'different'), B))).toEqual([
      'changed handbook/leave-2',
      'same handbook/expenses',
      'gone handbook/leave',
    ])
  })

  it('when a section goes into another', () => {
    expect(remarked(doc(A, B), doc(A, B.replace('##', '###')))).toEqual([
      'same handbook/leave',
      'changed handbook/expenses',
    ])
  })

  it('when everything is rewritten under the same headings', () => {
    expect(remarked(doc(A, B), doc('## Leave\n\nNone.', '## Expenses\n\nNever.'))).toEqual([
      'changed handbook/leave',
      'changed handbook/expenses',
    ])
  })

  it('of equal texts, each in its section', () => {
    const faq = '### Questions\n\nAsk.'
    const before = doc(A, faq, B, faq, C)
    expect(remarked(before, doc(B, faq, C, A, faq)).filter((one) => one.includes('questions'))).toEqual([
      'same handbook/expenses/questions',
      'moved handbook/leave/questions',
    ])
  })
})

it('does not take one number of a title for another', () => {
  const release = (number: string) =>
    `## Version ${number}\n\nWhat came with ${number}, of which nothing was there before.`
  expect(remarked(doc(release('1.2')), doc(release('1.3'), release('1.2')))).toEqual([
    'new handbook/version-1-3',
    'same handbook/version-1-2',
  ])
})

it('gives a new section no address that another one had, and one that is back its own', () => {
  const dropped = { ...piecesOf(markDocument(doc(A), { sourceRef }))[0]!, dropped: true }
  const previous = [...piecesOf(markDocument(doc(B), { sourceRef })), dropped]
  const marked = (now: string) => markDocument(now, { sourceRef, previous }).report
  expect(marked(doc(B, '## Leave\n\nQuite another thing.')).pieces[1]).toMatchObject({
    address: 'handbook/leave-2',
    change: 'new',
  })
  expect(marked(doc(B, A)).pieces[1]).toMatchObject({ address: 'handbook/leave', change: 'new' })
  expect(marked(doc(B)).removed).toEqual([])
})

it('takes little time for ten thousand pieces that all changed', () => {
  const document = (word: string) =>
    doc(
      ...Array.from(
        { length: 10_000 },
        (_, n) => `## Section ${n}\n\nSection ${n} says ${word} of ${n * 7} and ${n * 13}.`,
      ),
    )
  const previous = piecesOf(markDocument(document('much'), { sourceRef }))
  const began = process.cpuUsage()
  const { report } = markDocument(document('little').replaceAll('## Section', '## Chapter'), {
    sourceRef,
    previous,
  })
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(10)
  expect(report.pieces.filter(({ change }) => change === 'changed').length).toBeGreaterThan(9_900)
})

describe('ten thousand pieces take little time', () => {
  const many = (section: (n: number) => string) => doc(...Array.from({ length: 9_990 }, (_, n) => section(n)))
  const timed = (before: string, now: string) => {
    // From the last to the first, so that looking from the beginning finds each at the very end.
    const previous = piecesOf(markDocument(before, { sourceRef })).reverse()
    const once = () => {
      const began = process.cpuUsage()
      markDocument(now, { sourceRef })
      const alone = process.cpuUsage(began).user
      const { report } = markDocument(now, { sourceRef, previous })
      // The parser's own time is the same with and without the cut before.
      return { seconds: (process.cpuUsage(began).user - 2 * alone) / 1e6, report }
    }
    let best = once()
    // The parser's two times differ, on a busy machine by more than what is measured: a slow search is slow each time.
    for (let again = 0; again < 4 && best.seconds >= 1; again++) best = once()
    return best
  }

  it('that are all equal', () => {
    const text = many(() => '## Note\n\nNothing to tell.')
    const { seconds, report } = timed(text, text)
    expect(report.pieces.every(({ change }) => change === 'same' || change === 'moved')).toBe(true)
    expect(seconds).toBeLessThan(1)
  })

  it('that all have one title, and all changed', () => {
    const { seconds, report } = timed(
      many((n) => `## Note\n\nBefore ${n}.`),
      many((n) => `## Note\n\nAfterwards ${n * 3}.`),
    )
    expect(report.pieces.every(({ change }) => change === 'changed')).toBe(true)
    expect(seconds).toBeLessThan(1)
  })
})

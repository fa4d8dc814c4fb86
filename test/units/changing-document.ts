/** A document that changes, and a model of which of its sections a cut has to touch. */
import * as fc from 'fast-check'

export interface Section {
  readonly id: number
  /** Copies share that of their original: their texts stay alike. */
  readonly family: number
  depth: 2 | 3
  title: string
  body: string
  /** Where its units are, after the first cut that had it. */
  address?: string
  /** As it was cut last. */
  cutText?: string
  /** Whether its unit is enacted, and whether a draft has come beside it. */
  enacted: boolean
  successor: boolean
  /** The same text as another one: which of them is the new one nobody can say. */
  copy?: boolean
}

export type Change =
  | { do: 'insert' | 'twin'; at: number; seed: number }
  | { do: 'delete' | 'duplicate' | 'enact' | 'deepen'; at: number }
  | { do: 'edit' | 'rename'; at: number; seed: number }
  | { do: 'move'; at: number; to: number }
  | { do: 'nothing' }

const place = fc.nat(1000)
export const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constantFrom('insert' as const, 'twin' as const), at: place, seed: fc.nat(100_000) }),
  fc.record({
    do: fc.constantFrom('delete' as const, 'duplicate' as const, 'enact' as const, 'deepen' as const),
    at: place,
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('edit' as const, 'rename' as const),
      at: place,
      seed: fc.nat(100_000),
    }),
  },
  fc.record({ do: fc.constant('move' as const), at: place, to: place }),
  fc.constant({ do: 'nothing' as const }),
)

const TITLES = [
  'FAQ',
  'Notes',
  'Nghỉ phép',
  'Leave',
  'Expenses',
  '経費',
  'Version 1.2',
  'Version 1.3',
  'Travel & hotels',
]
const WORDS =
  'days weeks people office receipts manager morning travel budget phone summer hotel invoice team'.split(' ')

export class ChangingDocument {
  readonly sections: Section[] = []
  readonly deleted: Section[] = []
  /** Of sections that an earlier cut no longer had. */
  readonly droppedFamilies = new Set<number>()
  #ids = 0

  constructor(size: number) {
    for (let seed = 1; seed <= size; seed += 1)
      this.#insert(this.sections.length, TITLES[seed % TITLES.length]!, seed)
  }

  get text(): string {
    return `# Handbook\n\nHow we work.\n\n${this.sections.map(textOf).join('\n\n')}\n`
  }

  /** Whether a new section is a copy of one that was dropped: then it may be that one, come back, and gets its successor. */
  get mayHaveComeBack(): boolean {
    return this.sections.some(
      ({ cutText, family }) => cutText === undefined && this.droppedFamilies.has(family),
    )
  }

  forgetDeleted(): void {
    for (const { family } of this.deleted.splice(0)) this.droppedFamilies.add(family)
  }

  /** Gives copies words of their own. Returns whether there were any. */
  untwin(): boolean {
    const copies = this.sections.filter(({ copy }) => copy)
    for (const section of copies) {
      section.body = `${section.body} Copied${section.id}.`
      section.copy = false
    }
    return copies.length > 0
  }

  apply(change: Change): void {
    if (change.do === 'nothing') return
    const at = change.at % (this.sections.length + 1)
    const section = this.sections[change.at % this.sections.length]
    if (change.do === 'insert') this.#insert(at, TITLES[change.seed % TITLES.length]!, change.seed)
    if (section === undefined) return
    const index = this.sections.indexOf(section)
    if (change.do === 'twin') this.#insert(index, section.title, change.seed)
    if (change.do === 'duplicate')
      this.sections.splice(index, 0, { ...copyOf(section), id: this.#ids++, copy: true })
    if (change.do === 'delete' && this.sections.length > 3)
      this.deleted.push(...this.sections.splice(index, 1))
    if (change.do === 'edit')
      section.body = `${section.body} Then${change.seed} something${change.seed} more.`
    if (change.do === 'rename') section.title = `${TITLES[change.seed % TITLES.length]} ${change.seed}`
    if (change.do === 'deepen') section.depth = section.depth === 2 ? 3 : 2
    if (change.do === 'move') {
      this.sections.splice(index, 1)
      this.sections.splice(change.to % (this.sections.length + 1), 0, section)
    }
  }

  #insert(at: number, title: string, seed: number): void {
    const body = Array.from(
      { length: 24 },
      (_, n) => `${WORDS[(seed + n * 5) % WORDS.length]}${seed}x${this.#ids}`,
    ).join(' ')
    const depth = seed % 3 === 0 ? 3 : 2
    const id = this.#ids++
    this.sections.splice(at, 0, { id, family: id, depth, title, body, enacted: false, successor: false })
  }
}

export function textOf({ depth, title, body }: Section): string {
  return `${'#'.repeat(depth)} ${title}\n\n${body}.`
}

function copyOf({ family, depth, title, body }: Section): Omit<Section, 'id'> {
  return { family, depth, title, body, enacted: false, successor: false }
}

export interface Expected {
  created: number
  versioned: number
  successors: number
  retired: number
  kept: number
  unchanged: number
}

/** What the next cut has to do, from what was cut last. */
export function expected({ sections, deleted }: ChangingDocument): Expected {
  // The title's own piece never changes.
  const counts = { created: 0, versioned: 0, successors: 0, retired: 0, kept: 0, unchanged: 1 }
  for (const section of sections) {
    if (section.cutText === undefined) counts.created += 1
    else if (section.cutText === textOf(section)) counts.unchanged += 1
    else if (section.enacted && !section.successor) counts.successors += 1
    else counts.versioned += 1
  }
  for (const { cutText, enacted, successor } of deleted) {
    if (cutText === undefined) continue
    if (enacted) counts.kept += 1
    if (!enacted || successor) counts.retired += 1
  }
  return counts
}

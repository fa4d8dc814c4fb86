/** Random steps for the reference model: mostly sensible, so that sequences get somewhere, and now and then not. */
import fc from 'fast-check'
import { NAMES, type Name, type Outbox, type Profile } from './reference-model.ts'

export type Seen = 'current' | 'older' | 'newer'
export type Step =
  | { do: 'create'; by: Name; address: number; body: string; profile: Profile }
  | { do: 'edit'; by: Name; on: number; sees: Seen; body: string | null; title: string | null }
  | { do: 'slice'; by: Name; on: number; sees: Seen; from: number; length: number; text: string }
  | { do: 'profile'; by: Name; on: number; patch: Profile }
  | { do: 'change_kind'; by: Name; on: number; kind: string; apr: string }
  | { do: 'edge'; by: Name; on: number; type: string; target: number }
  | { do: 'delete edge'; by: Name; on: number }
  | { do: 'retire' | 'delete' | 'restore'; by: Name; on: number }
  | { do: 'enact'; by: Name; on: number; sees: Seen; apr: string }
  /** successor: how many units further. */
  | { do: 'supersede'; by: Name; on: number; successor: number; apr: string }
  | { do: 'work'; on: number; status: Outbox['status'] }

const by = (...usual: Name[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
  )
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
const writer = by('otto', 'ada', 'importer')
const decider = by('ada', 'importer')
const on = fc.nat(2)
const sees = mostly<Seen>('current', 'older', 'newer')
const body = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('Rest on Sundays.', 'Đỗ 🐘 works.', '# Leave\n\nTwo weeks.', 'Two\nlines'),
  },
  { weight: 1, arbitrary: fc.constant(' ') },
)
const topics = fc.constantFrom(['leave'], ['leave', 'safety'], ['safety'], ['pets'], ['fax', 'leave'])
const patch: fc.Arbitrary<Profile> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ a: fc.constantFrom(1, 2, null) }) },
  { weight: 2, arbitrary: fc.record({ a: fc.constantFrom(1, 2), topic_labels: topics }) },
  { weight: 1, arbitrary: fc.constantFrom<Profile>({}, { topic_labels: null }, { title: 'x' }) },
)
const apr = fc.constantFrom('apr-1', 'apr-2', 'apr-3')
const step = <T extends Step['do'], R extends object>(
  name: T,
  fields: { [key in keyof R]: fc.Arbitrary<R[key]> },
) => fc.record({ do: fc.constant(name), ...fields }) as unknown as fc.Arbitrary<Step>

const create = step('create', {
  by: writer,
  address: fc.nat(3),
  body,
  profile: fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    { weight: 2, arbitrary: patch.filter(isWhole) },
  ),
})

/** A new unit has nothing to take out. */
function isWhole(profile: Profile): boolean {
  return !Object.values(profile).includes(null)
}

const any: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: create },
  {
    weight: 5,
    arbitrary: step('edit', {
      by: writer,
      on,
      sees,
      body: fc.option(body),
      title: fc.option(fc.constantFrom('A title', 'Another', ' ')),
    }),
  },
  {
    weight: 3,
    arbitrary: step('slice', {
      by: writer,
      on,
      sees,
      from: fc.integer({ min: -1, max: 12 }),
      length: fc.integer({ min: -1, max: 8 }),
      text: fc.constantFrom('', 'x', '🦉'),
    }),
  },
  { weight: 3, arbitrary: step('profile', { by: writer, on, patch }) },
  {
    weight: 1,
    arbitrary: step('change_kind', { by: decider, on, kind: fc.constantFrom('table', 'note'), apr }),
  },
  {
    weight: 3,
    arbitrary: step('edge', {
      by: writer,
      on,
      type: fc.constantFrom('refers_to', 'part_of'),
      target: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: step('delete edge', { by: writer, on }) },
  { weight: 4, arbitrary: step('enact', { by: decider, on, sees, apr }) },
  { weight: 3, arbitrary: step('supersede', { by: decider, on, successor: mostly(1, 0, 2), apr }) },
  { weight: 1, arbitrary: step('retire', { by: decider, on }) },
  { weight: 2, arbitrary: step('delete', { by: writer, on }) },
  { weight: 2, arbitrary: step('restore', { by: writer, on }) },
  {
    weight: 2,
    arbitrary: step('work', { on, status: fc.constantFrom('processing', 'done', 'dead_letter') }),
  },
)

/** Two units to begin with, in half of the sequences enacted, or few would get to what comes then. */
const BEGINNING = [0, 1].map(
  (address): Step => ({ do: 'create', by: 'otto', address, body: 'Rest on Sundays.', profile: {} }),
)
const ENACTED = [0, 1].map((on): Step => ({ do: 'enact', by: 'ada', on, sees: 'current', apr: 'apr-1' }))
export const sequence: fc.Arbitrary<Step[]> = fc
  .tuple(fc.constantFrom([], ENACTED), fc.array(any, { minLength: 6, maxLength: 24, size: 'max' }))
  .map(([enacted, steps]) => [...BEGINNING, ...enacted, ...steps])

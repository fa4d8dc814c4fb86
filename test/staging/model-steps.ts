/** Random steps for the reference model: mostly sensible, so that sequences get somewhere, and now and then not. */
import fc from 'fast-check'
import { ITEMS, KINDS, type Kind, NAMES, type Name, type RunName } from './reference-model.ts'

export type Step =
  | { do: 'create'; by: Name; kind: Kind; key: string | undefined; content: number; owner: Name | undefined }
  | { do: 'approve'; by: Name; on: number; sees: 'right' | 'wrong'; as: Name | undefined }
  | { do: 'reject'; by: Name; on: number; reason: string }
  | { do: 'withdraw' | 'unregister'; by: Name; on: number }
  | { do: 'tick'; by: Name; on: number; item: string; ticked: boolean }
  | { do: 'consume'; by: Name; on: number; run: RunName; sees: 'right' | 'wrong' | undefined }
  | { do: 'expire'; by: Name }
  | { do: 'cleanup'; by: Name; dryRun: boolean }
  | { do: 'gate'; gate: 'writes' | 'cleanup'; open: boolean }
  | { do: 'pass expiry' | 'pass retention' | 'tamper'; on: number }

/** Mostly those who may, so that sequences get somewhere; everybody else now and then. */
const by = (...usual: Name[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
  )
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
const on = fc.nat(2)

const create = fc.record({
  do: fc.constant('create' as const),
  by: by('ada', 'otto', 'bot', 'importer'),
  kind: fc.constantFrom(...(Object.keys(KINDS) as Kind[])),
  key: fc.constantFrom(undefined, 'monday', 'tuesday'),
  content: mostly(1, 2),
  owner: mostly<Name | undefined>(undefined, 'ada', 'bot', 'importer'),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: create },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      by: by('ada', 'grace', 'importer'),
      on,
      sees: mostly<'right' | 'wrong'>('right', 'wrong'),
      as: mostly<Name | undefined>(undefined, 'ada', 'grace', 'bot'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reject' as const),
      by: by('grace', 'importer'),
      on,
      reason: mostly('wrong week', ' '),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('withdraw' as const),
      by: by('ada', 'otto', 'bot', 'importer'),
      on,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('unregister' as const), by: by('importer', 'worker'), on }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('tick' as const),
      by: by('grace'),
      on,
      item: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom<string>(...ITEMS) },
        { weight: 1, arbitrary: fc.constant('nothing') },
      ),
      ticked: mostly(true, false),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('consume' as const),
      by: by('otto', 'worker'),
      on,
      run: mostly<RunName>('running', 'ended', 'unknown', 'elsewhere'),
      sees: mostly<'right' | 'wrong' | undefined>(undefined, 'right', 'wrong'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('expire' as const), by: by('worker') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('cleanup' as const),
      by: by('worker'),
      dryRun: mostly(false, true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('gate' as const),
      gate: fc.constantFrom('writes' as const, 'cleanup' as const),
      open: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass expiry' as const), on }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass retention' as const), on }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tamper' as const), on }) },
)

/** Something to act on first. */
export const sequence = fc
  .tuple(fc.array(create, { minLength: 1, maxLength: 3 }), fc.array(step, { minLength: 4, maxLength: 16 }))
  .map((both): Step[] => both.flat())

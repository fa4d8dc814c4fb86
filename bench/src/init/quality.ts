/** How many columns `init` gets right without a hand, on the corpus of schema shapes. */
import { fileURLToPath } from 'node:url'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { closeDuck, profileFile, proposeDataset, readTable } from '../product.ts'
import { medianOf } from '../statistics.ts'
import { type Judged, judgeShape, readShapes, sharesOf } from './shapes.ts'

const FOLDER = fileURLToPath(new URL('../../../test/fixtures/schemas', import.meta.url))

export const initQuality: Benchmark = {
  name: 'init-quality',
  about:
    'columns that `init` maps right without a hand, asks about, and gets wrong, on tables after well-known schemas',
  unit: 'corpora',
  size: { full: 1, quick: 1 },
  // The same every time: nothing in it is left to chance.
  rounds: { full: 1, quick: 1 },
  freshDatabase: 'contender',
  contenders: [{ name: 'init', about: 'catalogue and file of each shape', run: judgeAll }],
  summarise: (rounds) => {
    const of = (field: string) => medianOf(rounds, 'init', field)
    const fields = [
      'shapes',
      'columns',
      'right',
      'asked',
      'missed',
      'wrong',
      'wrong_and_sure',
      'held_out_right',
      'held_out_wrong',
    ]
    return Object.fromEntries(fields.map((field) => [field, of(field)]))
  },
  criteria: [
    { field: 'right', bar: atLeast(0.85) },
    // The last third, which nobody tunes on: below the bar something broke, the goal is that of the whole.
    { field: 'held_out_right', bar: atLeast(0.75), goal: atLeast(0.85) },
    { field: 'wrong_and_sure', bar: atMost(0), correctness: true },
  ],
}

async function judgeAll({ database }: Task): Promise<Figures> {
  const shapes = readShapes(FOLDER)
  const session = await database.superuser()
  const all: Judged[] = []
  const heldOut: Judged[] = []
  for (const shape of shapes) {
    await session.query('begin')
    await session.query(shape.ddl)
    const judged = await judgeShape(shape, {
      readTable: (named) => readTable(session, named),
      profileFile,
      proposeDataset,
    })
    await session.query('rollback')
    all.push(...judged)
    if (shape.heldOut) heldOut.push(...judged)
  }
  await session.end()
  await closeDuck()
  for (const { shape, header, expected, proposed, certainty, verdict } of all)
    if (verdict !== 'right')
      console.error(
        `  ${verdict.padEnd(14)} ${shape}: “${header}” → ${proposed ?? '–'} (${certainty}), expected ${expected ?? '–'}`,
      )
  const held = sharesOf(heldOut)
  return {
    shapes: shapes.length,
    columns: all.length,
    ...sharesOf(all),
    held_out_right: held.right,
    held_out_wrong: held.wrong + held.wrong_and_sure,
  }
}

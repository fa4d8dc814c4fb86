/**
 * A product list into an ordinary table with an identity key, compared with the same rows by plain SQL; one line repaired; and
 * `stagedoor init` with a file of 100 MB, as a person runs it.
 */
import { join } from 'node:path'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { backEndActor, repairUpload } from '../product.ts'
import { median, medianOf, perSecond, worstOf } from '../statistics.ts'
import { runCli } from './cli.ts'
import { throughPlainSql } from './plain-sql.ts'
import { countProducts, ingestProducts, openShop, writeProducts } from './shop.ts'

const REPAIRS = 5

export const ownTable: Benchmark = {
  name: 'own-table',
  about:
    'a product list: read, check, look up categories, plan, promote into an identity table, compared with plain SQL',
  unit: 'lines',
  size: { full: 100_000, quick: 25_000 },
  rounds: { full: 3, quick: 3 },
  freshDatabase: 'contender',
  contenders: [
    {
      name: 'pipeline',
      about: 'the whole way, with plan and lineage; foreign keys checked at once',
      run: (task) => throughPipeline(task, true),
    },
    {
      name: 'row_checks',
      about: 'the whole way, foreign keys checked row by row',
      run: (task) => throughPipeline(task, false),
    },
    { name: 'floor', about: 'ready-made rows: COPY, INSERT … ON CONFLICT, UPDATE', run: throughPlainSql },
    {
      name: 'init',
      about: '`stagedoor init` with a file of 100 MB, from its start to its end',
      run: throughInit,
    },
    { name: 'repair', about: 'one cell corrected, its line planned again', run: throughRepair },
  ],
  summarise(rounds) {
    const rows_per_s = medianOf(rounds, 'pipeline', 'rows_per_s')
    const floor_rows_per_s = medianOf(rounds, 'floor', 'rows_per_s')
    return {
      rows_per_s,
      floor_rows_per_s,
      ratio_floor: rows_per_s / floor_rows_per_s,
      ratio_floor_row_checks: medianOf(rounds, 'row_checks', 'rows_per_s') / floor_rows_per_s,
      replan_one_ms: medianOf(rounds, 'repair', 'replan_one_ms'),
      init_100mb_s: medianOf(rounds, 'init', 's'),
      rows_missing:
        worstOf(rounds, 'pipeline', 'rows_missing') + worstOf(rounds, 'row_checks', 'rows_missing'),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(1), goal: atLeast(1.4) },
    { field: 'ratio_floor_row_checks', bar: atLeast(0.85) },
    { field: 'replan_one_ms', bar: atMost(300), goal: atMost(150) },
    { field: 'init_100mb_s', bar: atMost(10), goal: atMost(6) },
    { field: 'rows_missing', bar: atMost(0), correctness: true },
  ],
}

async function throughPipeline({ database, size, round }: Task, checksInBulk: boolean): Promise<Figures> {
  const shop = await openShop(database, size, round + 1, checksInBulk)
  try {
    const started = performance.now()
    await ingestProducts(shop, 'promoted')
    const elapsed = performance.now() - started
    const written = await countProducts(shop)
    return { rows_per_s: perSecond(size, elapsed), ms: elapsed, rows_missing: size - written }
  } finally {
    await shop.end()
  }
}

const INIT_BYTES = 100_000_000

/** A process of its own, as a person starts it; the server runs, and the shop's own dataset is replaced. */
async function throughInit({ database, round }: Task): Promise<Figures> {
  const shop = await openShop(database, 1, round + 1)
  try {
    const file = join(shop.home, 'list.csv')
    const lines = writeProducts(file, { seed: round + 1, bytes: INIT_BYTES })
    const started = performance.now()
    const { planned_lines } = await runCli(shop, [
      ...['init', 'public.products', file, '--workspace', shop.workspace, '--yes', '--force', '--json'],
      ...['--output', join(shop.home, 'products.dataset.json')],
    ])
    return { s: (performance.now() - started) / 1000, lines, planned_lines: Number(planned_lines) }
  } finally {
    await shop.end()
  }
}

/** The first repair opens DuckDB again and is not counted. */
async function throughRepair({ database, size, round }: Task): Promise<Figures> {
  const shop = await openShop(database, size, round + 1)
  try {
    const upload = await ingestProducts(shop, 'planned')
    const took: number[] = []
    for (let n = 0; n <= REPAIRS; n++) {
      const started = performance.now()
      await repairUpload(shop.pool, backEndActor(shop.pool), {
        upload: upload.upload_id,
        corrections: [{ line: 100 + n, values: { Price: `${n + 1}.25` } }],
      })
      if (n > 0) took.push(performance.now() - started)
    }
    return { replan_one_ms: median(took) }
  } finally {
    await shop.end()
  }
}

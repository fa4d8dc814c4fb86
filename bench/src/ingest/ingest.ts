/** A Meta-like export from the file to production, compared with the least that any importer must write. */
import type { Benchmark, Contender } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { asTheSeedExpects } from './expectations.ts'
import { throughFloor } from './floor.ts'
import { throughPipeline } from './pipeline.ts'

const whole: Contender = {
  name: 'pipeline',
  about: 'the whole way, with plan and lineage',
  run: throughPipeline,
}

export const ingest: Benchmark = {
  name: 'ingest',
  about:
    'a Meta export: read, check, stage, resolve, plan, promote, lineage, event, compared with bare COPY and INSERT',
  unit: 'lines',
  size: { full: 100_000, quick: 25_000 },
  rounds: { full: 3, quick: 3 },
  freshDatabase: 'contender',
  contenders: [
    whole,
    { name: 'floor', about: 'ready-made rows: COPY, INSERT … ON CONFLICT, UPDATE', run: throughFloor },
    { name: 'seed', about: 'what the seed expected of single steps', run: asTheSeedExpects },
  ],
  // Whether memory grows with the file shows in a large one only; a ratio needs rounds, not size.
  atScale: { size: 1_000_000, contender: whole },
  summarise(rounds, million) {
    const rows_per_s = medianOf(rounds, 'pipeline', 'rows_per_s')
    const floor_rows_per_s = medianOf(rounds, 'floor', 'rows_per_s')
    return {
      rows_per_s,
      floor_rows_per_s,
      ratio_floor: rows_per_s / floor_rows_per_s,
      peak_rss_mb: Math.max(worstOf(rounds, 'pipeline', 'peak_rss_mb'), million?.peak_rss_mb ?? 0),
      ...(million && { rows_per_s_million: million.rows_per_s! }),
      staged_1000_ms: medianOf(rounds, 'seed', 'staged_1000_ms'),
      staged_ms: medianOf(rounds, 'pipeline', 'read_ms') + medianOf(rounds, 'pipeline', 'stage_ms'),
      planned_and_promoted_ms:
        medianOf(rounds, 'pipeline', 'plan_ms') + medianOf(rounds, 'pipeline', 'promote_ms'),
      lookup_ms: medianOf(rounds, 'seed', 'lookup_ms'),
      cleanup_rows_per_s: medianOf(rounds, 'seed', 'cleanup_rows_per_s'),
      rows_missing: worstOf(rounds, 'pipeline', 'rows_missing') + (million?.rows_missing ?? 0),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(0.5), goal: atLeast(1.5) },
    { field: 'peak_rss_mb', bar: atMost(400) },
    { field: 'rows_missing', bar: atMost(0), correctness: true },
  ],
}

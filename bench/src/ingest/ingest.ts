/** A Meta-like export from the file to production, compared with the least that any importer must write. */
import type { Benchmark, Contender } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { asTheSeedExpects } from './expectations.ts'
import { throughFloor, throughSameTable } from './floor.ts'
import { throughOwnProcess, throughPipeline, throughRowChecks } from './pipeline.ts'
import { throughCli, throughHttp } from './surfaces.ts'

const whole: Contender = {
  name: 'pipeline',
  about: 'the whole way, with plan and lineage; foreign keys checked at once',
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
    {
      name: 'row_checks',
      about: 'the whole way, foreign keys checked row by row',
      run: throughRowChecks,
    },
    { name: 'floor', about: 'ready-made rows: COPY, INSERT … ON CONFLICT, UPDATE', run: throughFloor },
    {
      name: 'same_table',
      about: 'the floor into the table of the pipeline, with foreign keys and CHECKs',
      run: throughSameTable,
    },
    {
      name: 'cli',
      about: '`stagedoor ingest FILE`, from the start of the process to its end',
      run: throughCli,
    },
    {
      name: 'http',
      about: 'sent as a form to `stagedoor start`, read by its job, approved by a second person, promoted',
      run: throughHttp,
    },
    { name: 'seed', about: 'what the seed expected of single steps', run: asTheSeedExpects },
  ],
  // Whether memory grows with the file shows in a large one only; a ratio needs rounds, not size.
  atScale: { size: 1_000_000, contender: { ...whole, run: throughOwnProcess } },
  summarise(rounds, million) {
    const rows_per_s = medianOf(rounds, 'pipeline', 'rows_per_s')
    const floor_rows_per_s = medianOf(rounds, 'floor', 'rows_per_s')
    return {
      rows_per_s,
      floor_rows_per_s,
      ratio_floor: rows_per_s / floor_rows_per_s,
      ratio_floor_row_checks: medianOf(rounds, 'row_checks', 'rows_per_s') / floor_rows_per_s,
      ratio_same_table: rows_per_s / medianOf(rounds, 'same_table', 'rows_per_s'),
      cpu_ms: medianOf(rounds, 'pipeline', 'node_cpu_ms') + medianOf(rounds, 'pipeline', 'postgres_cpu_ms'),
      floor_cpu_ms: medianOf(rounds, 'floor', 'postgres_cpu_ms'),
      // Of the million in its own process; that of the rounds also holds what all contenders before them left behind.
      peak_rss_mb: million?.peak_rss_mb ?? worstOf(rounds, 'pipeline', 'peak_rss_mb'),
      ...(million && { rows_per_s_million: million.rows_per_s!, million_s: million.ms! / 1000 }),
      cli_rows_per_s: medianOf(rounds, 'cli', 'rows_per_s'),
      http_rows_per_s: medianOf(rounds, 'http', 'rows_per_s'),
      cli_staged_1000_ms: medianOf(rounds, 'cli', 'staged_1000_ms'),
      http_staged_1000_ms: medianOf(rounds, 'http', 'staged_1000_ms'),
      ratio_floor_cli: medianOf(rounds, 'cli', 'rows_per_s') / floor_rows_per_s,
      ratio_floor_http: medianOf(rounds, 'http', 'rows_per_s') / floor_rows_per_s,
      staged_1000_ms: medianOf(rounds, 'seed', 'staged_1000_ms'),
      staged_ms: medianOf(rounds, 'pipeline', 'read_ms') + medianOf(rounds, 'pipeline', 'stage_ms'),
      planned_and_promoted_ms:
        medianOf(rounds, 'pipeline', 'plan_ms') + medianOf(rounds, 'pipeline', 'promote_ms'),
      lookup_ms: medianOf(rounds, 'seed', 'lookup_ms'),
      cleanup_rows_per_s: medianOf(rounds, 'seed', 'cleanup_rows_per_s'),
      rows_missing:
        worstOf(rounds, 'pipeline', 'rows_missing') +
        worstOf(rounds, 'row_checks', 'rows_missing') +
        worstOf(rounds, 'cli', 'rows_missing') +
        worstOf(rounds, 'http', 'rows_missing') +
        (million?.rows_missing ?? 0),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(1), goal: atLeast(1.4) },
    { field: 'ratio_floor_row_checks', bar: atLeast(0.85) },
    { field: 'peak_rss_mb', bar: atMost(300) },
    { field: 'staged_1000_ms', bar: atMost(60) },
    { field: 'million_s', bar: atMost(45), onlyFull: true },
    { field: 'rows_missing', bar: atMost(0), correctness: true },
  ],
}

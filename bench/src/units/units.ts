/** Units written and read by eight clients while consumers and workers run and nothing embeds; and 10,000 in one call. */
import type { Benchmark } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { WRITES } from './clients.ts'
import { byPlainSql } from './floor.ts'
import { inBulk, pacedFunctions, throughFunctions } from './functions.ts'

export const units: Benchmark = {
  name: 'units',
  about:
    'create, slice edit, profile, edge and reads by 8 clients, workers running, compared with the bare rows by plain SQL',
  unit: 'units',
  size: { full: 5000, quick: 800 },
  rounds: { full: 5, quick: 3 },
  freshDatabase: 'contender',
  contenders: [
    { name: 'functions', about: 'one call an operation, flat out', run: throughFunctions },
    {
      name: 'paced',
      about: 'the same at 200 writes and 400 reads a second, the waiting counted',
      run: pacedFunctions,
    },
    { name: 'floor', about: 'the same rows by plain SQL, statement by statement', run: byPlainSql },
    { name: 'bulk', about: '10,000 units in one call', run: (task) => inBulk({ ...task, size: 10_000 }) },
  ],
  summarise(rounds) {
    const writes_per_s = medianOf(rounds, 'functions', 'writes_per_s')
    const floor_writes_per_s = medianOf(rounds, 'floor', 'writes_per_s')
    return {
      writes_per_s,
      floor_writes_per_s,
      ratio_floor: writes_per_s / floor_writes_per_s,
      write_p50_ms: medianOf(rounds, 'functions', 'write_p50_ms'),
      // Of the worst operation.
      write_p99_ms: Math.max(...WRITES.map((write) => medianOf(rounds, 'functions', `${write}_p99_ms`))),
      floor_write_p99_ms: Math.max(...WRITES.map((write) => medianOf(rounds, 'floor', `${write}_p99_ms`))),
      read_p50_ms: medianOf(rounds, 'functions', 'read_p50_ms'),
      read_p99_ms: medianOf(rounds, 'functions', 'read_p99_ms'),
      paced_writes_per_s: medianOf(rounds, 'paced', 'paced_writes_per_s'),
      write_p99_paced_ms: Math.max(...WRITES.map((write) => medianOf(rounds, 'paced', `${write}_p99_ms`))),
      read_p99_paced_ms: medianOf(rounds, 'paced', 'read_p99_ms'),
      bulk_units_per_s: medianOf(rounds, 'bulk', 'bulk_units_per_s'),
      wrong_reads: worstOf(rounds, 'functions', 'wrong_reads') + worstOf(rounds, 'paced', 'wrong_reads'),
      bulk_missing: worstOf(rounds, 'bulk', 'bulk_missing'),
    }
  },
  criteria: [
    { field: 'write_p99_ms', bar: atMost(10) },
    { field: 'read_p99_ms', bar: atMost(5) },
    // What one waits who is not one of eight that wait for each other (paced.ts).
    { field: 'write_p99_paced_ms', bar: atMost(10) },
    { field: 'read_p99_paced_ms', bar: atMost(5) },
    { field: 'ratio_floor', bar: atLeast(0), goal: atLeast(0.9) },
    { field: 'wrong_reads', bar: atMost(0), correctness: true },
    { field: 'bulk_missing', bar: atMost(0), correctness: true },
  ],
}

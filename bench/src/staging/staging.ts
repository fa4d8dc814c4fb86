/**
 * The lifecycle of a record: created, approved by somebody else, consumed by a run. The floor to compare it with: the same rows in
 * the same tables by plain INSERT and UPDATE, in as many transactions (`ratio_floor`). Ours is one call a transaction,
 * so the floor is also measured with each transaction packed into one statement, which nobody would write but which
 * has as few round trips as we have (`ratio_packed`).
 */
import type { Benchmark } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { inOneStatement, inStatements } from './floor.ts'
import { throughFunctions } from './functions.ts'

export const staging: Benchmark = {
  name: 'staging',
  about:
    'create → approve → consume of 5,000 records with 4 KiB JSON, compared with the same rows by plain SQL',
  unit: 'records',
  size: { full: 5000, quick: 800 },
  rounds: { full: 5, quick: 5 },
  freshDatabase: 'contender',
  contenders: [
    { name: 'functions', about: 'three calls a record', run: throughFunctions },
    { name: 'floor', about: 'the same rows by plain SQL, statement by statement', run: inStatements },
    { name: 'packed', about: 'the same, each transaction as one statement', run: inOneStatement },
  ],
  summarise(rounds) {
    const records_per_s = medianOf(rounds, 'functions', 'records_per_s')
    const floor_records_per_s = medianOf(rounds, 'floor', 'records_per_s')
    const packed_records_per_s = medianOf(rounds, 'packed', 'records_per_s')
    return {
      records_per_s,
      floor_records_per_s,
      ratio_floor: records_per_s / floor_records_per_s,
      packed_records_per_s,
      ratio_packed: records_per_s / packed_records_per_s,
      wrong_digests: worstOf(rounds, 'functions', 'wrong_digests'),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(0.9), goal: atLeast(1) },
    { field: 'ratio_packed', bar: atLeast(0.5), goal: atLeast(0.9) },
    { field: 'wrong_digests', bar: atMost(0), correctness: true },
  ],
}

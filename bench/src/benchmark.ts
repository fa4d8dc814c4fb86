/** What a benchmark is: contenders that do comparable work, and the figures that count. */
import type { Criterion } from './criteria.ts'
import type { Report } from './harness.ts'
import type { BenchDatabase } from './server.ts'

/** Options that choose a variant of a benchmark. */
export const VARIANTS = ['nats', 'measure', 'sizes', 'all', 'fifth'] as const
export type Variant = (typeof VARIANTS)[number]

/** Named numbers. The names are those of the JSON line. */
export type Figures = Readonly<Record<string, number>>

/** The figures of one round: `prepare` under its own name, then each contender under its name. */
export type Round = Readonly<Record<string, Figures>>

export interface Task {
  readonly database: BenchDatabase
  /** One more on the same server, for a contender that compares two. It drops it. */
  readonly freshDatabase: () => Promise<BenchDatabase>
  /** How many items: events, rows, jobs. */
  readonly size: number
  /** From 0; a seed for work that varies but must vary alike for all. */
  readonly round: number
  /** The folder of `--data`. */
  readonly data?: string
  /** `--language`: of the collection's texts; found out where it is missing. */
  readonly language?: string
}

export interface Contender {
  readonly name: string
  readonly about: string
  run(task: Task): Promise<Figures>
}

export interface Benchmark {
  readonly name: string
  /** How a person calls it, where that is not the name. */
  readonly command?: string
  /** One line for the list. */
  readonly about: string
  /** What `size` counts. */
  readonly unit: string
  readonly size: { readonly full: number; readonly quick: number }
  readonly rounds: { readonly full: number; readonly quick: number }
  /** How many rounds, where the folder of `--data` says it. */
  roundsOf?(data: string): number
  /** It measures a collection of the user's own, `--data DIR`, all of it: `size` does not apply. */
  readonly takesData?: true
  /** What is measured needs no tenth of the work before it, or has none. */
  readonly warmUp?: false
  /** Settings of the server beyond the usual ones, for what would not fit: many sessions. */
  readonly settings?: Readonly<Record<string, string>>
  /** `round`: the contenders of a round work on the same rows. `contender`: each gets a database of its own. */
  readonly freshDatabase: 'round' | 'contender'
  /** Makes what the contenders start from; its figures count as those of a contender called `prepare`. */
  prepare?(task: Task): Promise<Figures>
  readonly contenders: readonly Contender[]
  /** One pass more, after the rounds of a full run and at a size of its own: for what shows only there. */
  readonly atScale?: { readonly size: number; readonly contender: Contender }
  /** The fields of the JSON line, from all rounds; `atScale` has figures in a full run only. */
  summarise(rounds: readonly Round[], atScale?: Figures): Figures
  readonly criteria: readonly Criterion[]
  /** `--nats`, `--measure`, `--sizes`: the same with something added or left out, recorded under a name of its own. */
  readonly variants?: Readonly<Partial<Record<Variant, Benchmark>>>
  /** With `--record`: files that follow from the figures. */
  onRecord?(report: Report): void
  /** Below the tables: what a person wants to read besides. */
  epilogue?(report: Report): string
  /** Versions of the peers, by package name. */
  peers?(): Promise<Readonly<Record<string, string>>>
}

/** `bench <name> [--data DIR] [--quick] [--json] [--record]` */
import { parseArgs } from 'node:util'
import { type Benchmark, VARIANTS } from './benchmark.ts'
import { BenchError, EXIT_BAD_INPUT } from './errors.ts'

export interface Arguments {
  /** Undefined: a person asks what there is. */
  readonly benchmark: Benchmark | undefined
  readonly quick: boolean
  readonly json: boolean
  readonly record: boolean
  /** The folder of the collection that is measured, for benchmarks that take one. */
  readonly data: string | undefined
  /** Of the texts of the collection. */
  readonly language: string | undefined
  /** Undefined: as many as the benchmark has. */
  readonly rounds: number | undefined
}

const MAX_ROUNDS = 100

export function readArguments(argv: readonly string[], benchmarks: readonly Benchmark[]): Arguments {
  const { values, positionals } = parse(argv)
  const { quick = false, json = false, record = false, help = false, data, language } = values
  const [name, ...more] = positionals
  if (more.length > 0) throw badInput(`One benchmark at a time, not also ${more.join(', ')}.`, benchmarks)
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (help) return { benchmark: undefined, quick, json, record, data, language, rounds }
  const named = benchmarks.find((candidate) => candidate.name === name)
  if (name !== undefined && !named) throw badInput(`There is no benchmark called ${name}.`, benchmarks)
  const benchmark = VARIANTS.filter((variant) => values[variant]).reduce<Benchmark | undefined>(
    (chosen, variant) => {
      const other = chosen?.variants?.[variant]
      if (chosen && !other) throw badInput(`${chosen.name} has no --${variant}.`, benchmarks)
      return other
    },
    named,
  )
  if (quick && record) {
    throw badInput('--record keeps full runs only: leave --quick out, or --record.', benchmarks)
  }
  if (benchmark?.takesData && data === undefined) {
    throw badInput(`${benchmark.name} measures a collection: --data DIR says where it is.`, benchmarks)
  }
  if (benchmark && !benchmark.takesData && data !== undefined) {
    throw badInput(`${benchmark.name} makes its own data; leave --data out.`, benchmarks)
  }
  if (language !== undefined && !/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(language)) {
    throw badInput(`${language} is not a language: it is a tag such as en or pt-BR.`, benchmarks)
  }
  if (language !== undefined && !benchmark?.takesData) {
    throw badInput('--language is of the collection of --data.', benchmarks)
  }
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= MAX_ROUNDS)) {
    throw badInput(`--rounds is a whole number from 1 to ${MAX_ROUNDS}.`, benchmarks)
  }
  return { benchmark, quick, json, record, data, language, rounds }
}

export function usage(benchmarks: readonly Benchmark[]): string {
  const width = Math.max(...benchmarks.map(({ name }) => name.length))
  return [
    SYNOPSIS,
    '',
    ...benchmarks.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
    `  ${'plots'.padEnd(width)}  no benchmark: writes the plots of bench/RESULTS.md into docs/images`,
    '',
    '  --data    folder of the collection, for those that measure one',
    '  --language  of its texts, such as de; default: found out',
    '  --all     each collection in a folder of --data, for search-quality',
    '  --nats    also with NATS, for fanout',
    '  --measure only the parameters, for model',
    '  --sizes   how it grows with the corpus, beside other engines, for search',
    '  --rounds  how many, instead of as many as the benchmark has',
    '  --fifth   at a fifth of the sizes, for growth',
    '  --quick   less work: done within 45 seconds on 2 cores',
    '  --json    one JSON object on the last line of stdout instead of a table',
    '  --record  keep this run in bench/RESULTS.md, and its plots',
  ].join('\n')
}

function parse(argv: readonly string[]) {
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        quick: flag,
        json: flag,
        record: flag,
        help: flag,
        nats: flag,
        measure: flag,
        all: flag,
        fifth: flag,
        language: { type: 'string' },
        sizes: flag,
        data: { type: 'string' },
        rounds: { type: 'string' },
      },
    })
  } catch (cause) {
    const [message] = (cause as Error).message.split('. ')
    throw new BenchError(`${message}.`, { remedy: SYNOPSIS, exitCode: EXIT_BAD_INPUT, cause })
  }
}

const SYNOPSIS =
  'npm run -s bench -- <name> [--nats] [--measure] [--sizes] [--all] [--fifth] [--data DIR] [--language L] [--rounds N] [--quick] [--json] [--record]'

function badInput(message: string, benchmarks: readonly Benchmark[]): BenchError {
  const names = benchmarks.map(({ name }) => name).join(', ')
  return new BenchError(message, { remedy: `${SYNOPSIS}\nBenchmarks: ${names}`, exitCode: EXIT_BAD_INPUT })
}

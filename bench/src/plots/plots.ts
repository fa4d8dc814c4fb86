/** `npm run -s bench -- plots`: the pictures of docs/images that are made from bench/RESULTS.md, and from nothing else. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { RESULTS_FILE, type RecordedResult, readResults } from '../results.ts'
import { type Bar, type BarPanel, barChart, curveChart } from './draw.ts'

const IMAGES = new URL('../../../docs/images/', import.meta.url)

type Results = ReadonlyMap<string, RecordedResult>

/** Writes the plots. Returns the names of the files. */
export function writePlots(resultsFile: string = RESULTS_FILE): string[] {
  const plots = plotsOf(readFileSync(resultsFile, 'utf8'))
  for (const [name, text] of Object.entries(plots)) writeFileSync(fileURLToPath(new URL(name, IMAGES)), text)
  return Object.keys(plots)
}

/** The plots by the names of their files. A plot whose benchmark has no section yet is left out. */
export function plotsOf(resultsText: string): Record<string, string> {
  const results = readResults(resultsText)
  const plots = {
    'benchmark-peers.svg': peers(results),
    'benchmark-floors.svg': floors(results),
    'benchmark-growth.svg': growth(results),
  }
  return Object.fromEntries(
    Object.entries(plots).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

function peers(results: Results): string | undefined {
  const panels = [
    panelOf(results, 'jobs', 'drain_per_s', 'Jobs without work, started and completed', 'jobs/s', QUEUES),
    panelOf(
      results,
      'jobs',
      'latency_p50_ms',
      'From enqueue to start of one job, median; less is better',
      'ms',
      QUEUES,
    ),
    panelOf(results, 'steps', 'steps_per_s', 'Durable steps of executions, 100 at once', 'steps/s', ENGINES),
    panelOf(results, 'fanout', 'shards_per_s', 'One step over 10,000 items, two workers', 'items/s', ENGINES),
  ].filter((panel) => panel !== undefined)
  if (panels.length === 0) return undefined
  return barChart(
    {
      title: 'Beside job queues and workflow engines',
      about:
        'Each measured in one run on one server, the peers in the mode that is best for them. Median of the rounds.',
      footer: `Thin lines: least and greatest round. ${machineOf(results, 'jobs')}`,
    },
    panels,
  )
}

const QUEUES = { stagedoor: 'Stagedoor', pgboss: 'pg-boss', graphile: 'graphile-worker' }
const ENGINES = { stagedoor: 'Stagedoor', dbos: 'DBOS' }
const PACKAGES: Readonly<Record<string, string>> = {
  stagedoor: 'stagedoor',
  pgboss: 'pg-boss',
  graphile: 'graphile-worker',
  dbos: '@dbos-inc/dbos-sdk',
}

function panelOf(
  results: Results,
  name: string,
  field: string,
  title: string,
  unit: string,
  contenders: Readonly<Record<string, string>>,
): BarPanel | undefined {
  const result = results.get(name)
  if (!result) return undefined
  const bars = Object.entries(contenders).flatMap(([contender, label]): Bar[] => {
    const figure = result.figures[contender === 'stagedoor' ? field : `${contender}_${field}`]
    if (figure === undefined) return []
    const version = result.versions[PACKAGES[contender]!]
    return [
      {
        label: version ? `${label} ${version}` : label,
        value: figure,
        range: rangeOf(result, `${contender} ${field}`),
        ours: contender === 'stagedoor',
      },
    ]
  })
  return { title, note: noteOf(result), unit, bars }
}

/** Benchmarks whose floor is the same work in plain SQL. `of` takes the share out of the figures. */
const FLOORS: readonly {
  name: string
  label: string
  of: (figures: RecordedResult['figures']) => number | undefined
}[] = [
  { name: 'outbox', label: 'Events read in order', of: (f) => f.ratio_floor },
  { name: 'ingest', label: 'A file into tables', of: (f) => f.ratio_floor },
  { name: 'own-table', label: 'A file into your table', of: (f) => f.ratio_floor },
  { name: 'staging', label: 'Held records', of: (f) => f.ratio_floor },
  { name: 'dispatch', label: 'Events into jobs', of: (f) => f.ratio_floor },
  {
    name: 'route',
    label: 'Writes with a route',
    of: (f) => (f.overhead_ratio ? 1 / f.overhead_ratio : undefined),
  },
  { name: 'units', label: 'Units', of: (f) => f.ratio_floor },
  { name: 'projection', label: 'State of executions', of: (f) => f.ratio_floor },
]

function floors(results: Results): string | undefined {
  const bars = FLOORS.flatMap(({ name, label, of }): Bar[] => {
    const result = results.get(name)
    const value = result && of(result.figures)
    return value === undefined ? [] : [{ label, value, ours: true, note: result!.date }]
  })
  if (bars.length === 0) return undefined
  return barChart(
    {
      title: 'Beside plain SQL that promises nothing',
      about:
        'Rate of Stagedoor divided by the rate of the same rows written or read by plain SQL, in the same run.',
      footer: `More is better. What each is compared with: bench/RESULTS.md. ${machineOf(results, 'outbox')}`,
    },
    [
      {
        title: 'Share of the rate of plain SQL',
        note: '1 = as fast as the bare statements, without plan, review, undo, lineage, history or order',
        unit: 'times',
        bars,
        mark: { at: 1, label: 'plain SQL' },
      },
    ],
  )
}

/** What the growth benchmark calls its paths is what a reader sees, but for these. */
function growth(results: Results): string | undefined {
  const result = results.get('growth')
  if (!result) return undefined
  const paths = Object.keys(result.figures).flatMap((field) => /^(.+)_ratio$/.exec(field)?.[1] ?? [])
  const curves = paths
    .filter((path) => path !== 'worst')
    .map((path) => ({
      title: path.replaceAll('_', ' '),
      points: [
        [0, 1],
        [0.2, result.figures[`${path}_ratio_at_fifth`] ?? Number.NaN],
        [1, result.figures[`${path}_ratio`]!],
      ].filter(([, y]) => Number.isFinite(y)) as [number, number][],
    }))
  const millions = (share: number): string => `${((result.size * share) / 1e6).toLocaleString('en-US')} M`
  return curveChart(
    {
      title: 'Hot paths as the tables grow',
      about: `Time of a path on large tables divided by its time on small ones. ${noteOf(result)}`,
      footer: `x: events in the outbox; jobs, staged lines and executions grow with them. ${machineOf(results, 'growth')}`,
    },
    {
      curves,
      xTicks: [
        [0, '0'],
        [0.2, millions(0.2)],
        [1, millions(1)],
      ],
      yUnit: 'Time divided by the time on small tables',
      mark: { at: 1.2, label: 'the limit, 1.2' },
    },
  )
}

function rangeOf({ raw }: RecordedResult, row: string): [number, number] | undefined {
  const values = raw[row]
  return values && values.length > 1 ? [Math.min(...values), Math.max(...values)] : undefined
}

const noteOf = ({ amount, rounds, date }: RecordedResult): string =>
  `${amount}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${date}`

const machineOf = (results: Results, name: string): string => {
  const result = results.get(name)
  return result
    ? `${result.machine.split(', ').slice(0, 3).join(', ')}; PostgreSQL ${result.versions.postgres}.`
    : ''
}

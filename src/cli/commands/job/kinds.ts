/** Kinds of jobs: how full each is, how it is treated, paused or not. */
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import {
  type JobKind,
  type KindSettings,
  listKinds,
  pauseKind,
  resumeKind,
  setKind,
} from '../../../jobs/queue.ts'
import { type KindStatistics, queueStatistics } from '../../../jobs/statistics.ts'
import { acting } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { table } from '../../output.ts'
import { count } from '../upload/layout.ts'

export function kindsCommand(): Command {
  return new Command('kinds')
    .description('the kinds of jobs: how many wait, run and are dead, and how each is treated')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const { kinds, statistics } = await acting(options, async (client) => ({
        kinds: await listKinds(client),
        statistics: await queueStatistics(client),
      }))
      const counts = new Map(statistics.map((one) => [one.job_kind, one]))
      const merged = kinds.map((kind) => ({ ...kind, ...(counts.get(kind.job_kind) ?? NONE) }))
      output.result(merged, () => output.line(kindTable(merged)))
    })
}

const NONE: Omit<KindStatistics, 'job_kind'> = {
  waiting: 0,
  later: 0,
  running: 0,
  dead: 0,
  oldest_due_s: null,
}

function kindTable(kinds: readonly (JobKind & KindStatistics)[]): string {
  const some = (number: number) => (number === 0 ? '·' : count(number))
  return table(
    [
      ['kind', 'due', 'later', 'running', 'dead', 'treated'],
      ...kinds.map((kind) => [
        kind.job_kind,
        some(kind.waiting),
        some(kind.later),
        some(kind.running),
        some(kind.dead),
        treatmentOf(kind),
      ]),
    ],
    (cell, column, row) => {
      if (row === 0 || column === 5) return cell.startsWith('paused') ? pc.yellow(cell) : pc.dim(cell)
      if (column === 4 && cell.trim() !== '·') return pc.red(cell)
      return cell
    },
  )
}

/** Only what is not as always. */
function treatmentOf(kind: JobKind): string {
  return [
    kind.paused_at && `paused by ${kind.paused_by}`,
    kind.concurrency && `${kind.concurrency} at once`,
    kind.rate && `${kind.rate} in ${kind.rate_period}`,
    kind.serial_by && `one at a time by ${kind.serial_by}`,
    kind.fair_by && `in turns by ${kind.fair_by}`,
    kind.key_mode !== 'keep' && kind.key_mode,
    kind.max_attempts !== 8 && (kind.max_attempts === 1 ? 'one attempt' : `${kind.max_attempts} attempts`),
    kind.timeout && `at most ${kind.timeout}`,
    kind.description,
  ]
    .filter(Boolean)
    .join(' · ')
}

const SETTINGS = [
  'description',
  'max_attempts',
  'max_crashes',
  'backoff',
  'backoff_most',
  'timeout',
  'concurrency',
  'rate',
  'rate_period',
  'serial_by',
  'fair_by',
  'key_mode',
  'debounce',
  'debounce_most',
  'key_retention',
]

const ABOUT: Readonly<Record<string, string>> = {
  description: 'for people',
  max_attempts: 'attempts before a job is a dead letter',
  max_crashes: 'deaths of its worker before a job is a dead letter',
  backoff: 'wait after the first failure, doubled each time',
  backoff_most: 'longest wait between two attempts',
  timeout: 'how long one attempt may take',
  concurrency: 'how many run at once, over all workers',
  rate: 'how many begin in a rate-period',
  rate_period: 'the time that rate counts in',
  serial_by: 'one at a time for each source_ref, target_ref or payload_ref',
  fair_by: 'in turns for each source_ref, target_ref or payload_ref',
  key_mode: 'keep, replace or debounce',
  debounce: 'wait for more of the same key',
  debounce_most: 'longest such wait',
  key_retention: 'how long a key is remembered',
}

export function kindCommand(): Command {
  const kind = new Command('kind').description('how jobs of one kind are treated')
  const set = kind
    .command('set')
    .description('change settings of a kind; what is not named stays')
    .argument('<kind>', 'it is registered where it is new')
    .argument('[setting=value...]', 'the same settings in short', settings, {})
  for (const name of SETTINGS) set.option(`--${flagOf(name)} <value>`, ABOUT[name])
  set
    .addHelpText(
      'after',
      `
"none" takes a limit away. Each flag can also be written as setting=value: ${SETTINGS.join(', ')}.

  $ stagedoor job kind set send_report --max-attempts 3 --backoff "10 seconds" --timeout "2 minutes"
  $ stagedoor job kind set send_report max_attempts=3 backoff="10 seconds" timeout="2 minutes"
  $ stagedoor job kind set crawl concurrency=4 rate=100 rate_period="1 minute" fair_by=source_ref
  $ stagedoor job kind set rebuild_index key_mode=debounce debounce="5 seconds"
  $ stagedoor job kind set crawl concurrency=none`,
    )
    .action(async (name: string, short: KindSettings, flags: Record<string, string>, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const given = { ...short, ...fromFlags(flags) }
      if (Object.keys(given).length === 0) {
        throw new StagedoorError(
          'argument_invalid',
          { reason: 'No setting is named' },
          { hint: 'Name one, as --max-attempts 3. `stagedoor job kind set --help` lists them.' },
        )
      }
      const set = await acting(options, async (client) => {
        await setKind(client, name, given)
        return (await listKinds(client)).find(({ job_kind }) => job_kind === name)!
      })
      output.result(set, () => output.line(`${pc.green('✔')} ${name}: ${treatmentOf(set) || 'as always'}`))
    })
  return kind
}

function settings(given: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const [name, ...rest] = given.split('=')
  if (!SETTINGS.includes(name!) || rest.length === 0) {
    const reason = `${given} is no setting of a kind; they are ${SETTINGS.join(', ')}`
    throw new StagedoorError(
      'argument_invalid',
      { reason },
      { hint: 'Write setting=value, as max_attempts=3.' },
    )
  }
  return { ...before, [name!]: parseSetting(rest.join('=')) }
}

function parseSetting(given: string): string | number | null {
  return given === 'none' ? null : /^\d+$/.test(given) ? Number(given) : given
}

function flagOf(setting: string): string {
  return setting.replaceAll('_', '-')
}

function fromFlags(flags: Readonly<Record<string, string>>): Record<string, unknown> {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(
    SETTINGS.flatMap((name) => {
      const given = flags[camel(name)]
      return given === undefined ? [] : [[name, parseSetting(given)]]
    }),
  )
}

export function pauseCommand(): Command {
  return steer('pause', pauseKind, 'nothing more of this kind is begun; what runs goes on', (kind) => [
    `${kind} is paused. What runs goes on; nothing more is begun.`,
    `  Next: stagedoor job resume ${kind}`,
  ])
}

export function resumeCommand(): Command {
  return steer('resume', resumeKind, 'jobs of a paused kind are begun again', (kind) => [
    `${kind} is running again.`,
  ])
}

function steer(
  name: string,
  change: (client: Parameters<typeof pauseKind>[0], kind: string) => Promise<unknown>,
  description: string,
  said: (kind: string) => [string, ...string[]],
): Command {
  return new Command(name)
    .description(description)
    .argument('<kind>', 'as `stagedoor job kinds` shows it')
    .action(async (kind: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      await acting(options, (client) => change(client, kind))
      output.result({ job_kind: kind, paused: name === 'pause' }, () => {
        const [first, ...more] = said(kind)
        output.line(`${pc.green('✔')} ${first}`)
        for (const line of more) output.line(pc.dim(line))
      })
    })
}

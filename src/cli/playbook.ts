/** `stagedoor playbook`: check, register, list and draw playbooks. */
import { writeFile } from 'node:fs/promises'
import pc from 'picocolors'
import type { Playbook, Step, Wait } from '../executions/playbook/definition.ts'
import { type Problem, playbookInvalid } from '../executions/playbook/findings.ts'
import {
  checkWithCatalog,
  diffPlaybook,
  disablePlaybook,
  enablePlaybook,
  findPlaybook,
  getPlaybook,
  listPlaybooks,
  listPlaybookVersions,
  type PlaybookDetail,
  registerPlaybook,
} from '../executions/playbooks.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { didYouMean } from '../kernel/text.ts'
import { integerFrom, readBytesInput } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, formatCount, formatDuration, joinWords } from './format.ts'
import { type Output, paintDiff } from './terminal.ts'
import { printableLine, screenWidth, truncate, truncateLine } from './text.ts'

export const playbookCommand = () =>
  commandGroup(
    'playbook',
    'playbooks: check, register, list, disable',
    [
      registerCommand(),
      checkCommand(),
      listCommand(),
      showCommand(),
      versionsCommand(),
      diffCommand(),
      schemaCommand(),
      switchCommand('disable', 'no version of it is started; running executions go on', disablePlaybook),
      switchCommand('enable', 'it can be started again', enablePlaybook),
    ],
    `
  $ stagedoor playbook schema --write playbook.schema.json   for completion in your editor
  $ stagedoor playbook check playbook.yaml
  $ stagedoor run playbook.yaml --set n=10000
  $ stagedoor playbook register playbook.yaml --open-to-members

The language: docs/guides/playbooks.md`,
  )

const EXAMPLE = `name: hello
steps:
  - step: greet
    tool: sql
    args: { query: "select 'hello' as said" }`

const listCommand = () =>
  command('list', 'the playbooks that are registered, each in its newest version')
    .actor()
    .run(async ({ output, transaction }) => {
      const playbooks = await transaction((client) => listPlaybooks(client, { limit: 1000 }))
      output.list(
        playbooks,
        [
          { title: 'name', value: (one) => one.name },
          { title: 'version', value: (one) => one.version },
          {
            title: 'started by',
            value: (one) => (one.disabled_at ? 'disabled' : one.open_to_members ? 'members' : 'back end'),
            paint: (cell, { disabled_at }) => (disabled_at ? pc.yellow(cell) : cell),
          },
          { title: 'age', value: (one) => formatAge(one.created_at), dim: true },
          { value: (one) => one.description, dim: true, shrinkTo: 20 },
        ],
        `No playbook here. Write one:\n${pc.cyan(EXAMPLE.replaceAll(/^/gm, '  '))}`,
      )
      output.next(playbooks.length === 0 && ['And run it', 'stagedoor run hello.yaml'])
    })

const showCommand = () =>
  command('show', 'one playbook: what it takes, its steps as a picture')
    .argument('<name>', 'of the playbook')
    .option('--version <n>', 'default: the newest', integerFrom(1))
    .option('--text', 'as it was written')
    .actor()
    .run(async ({ options, output, transaction }, name) => {
      const found = await transaction((client) => getPlaybook(client, name, options.version))
      output.result(found, () => {
        if (options.text) output.line(found.content.trimEnd())
        else printPlaybook(output, found)
      })
    })

const versionsCommand = () =>
  command('versions', 'the versions of a playbook, newest first')
    .argument('<name>', 'of the playbook')
    .limit()
    .option('--before <n>', 'the page after this version', integerFrom(1))
    .actor()
    .run(async ({ options, output, transaction }, name) => {
      const versions = await transaction((client) => listPlaybookVersions(client, name, options))
      output.list(
        versions,
        [
          { title: 'version', value: (one) => one.version, align: 'right' },
          { title: 'age', value: (one) => formatAge(one.created_at) },
          { title: 'registered by', value: (one) => one.registered_by },
          { title: 'what it does', value: (one) => one.description, dim: true, shrinkTo: 20 },
        ],
        'No version is left.',
        versions.length === options.limit &&
          pc.dim(`\nThe page after it: --before ${versions.at(-1)!.version}`),
      )
    })

const diffCommand = () =>
  command('diff', 'what changed between two versions of a playbook')
    .argument('<name>', 'of the playbook')
    .argument('[from]', 'version; default: the one before', integerFrom(1))
    .argument('[to]', 'version; default: the newest', integerFrom(1))
    .actor()
    .run(async ({ output, transaction }, name, from, to) => {
      const diff = await transaction((client) => diffPlaybook(client, name, { from, to }))
      output.result(diff, () =>
        output.line(diff.patch === '' ? 'Their texts are the same.' : paintDiff(diff.patch)),
      )
    })

function printPlaybook(output: Output, found: PlaybookDetail): void {
  const { name, version, playbook, open_to_members, disabled_at, registered_by, created_at } = found
  output.line(`${pc.bold(name)}  version ${version}${disabled_at ? pc.yellow('  disabled') : ''}`)
  if (playbook.description !== undefined) output.line(printableLine(playbook.description))
  const who = open_to_members ? 'members and the back end' : 'the back end'
  output.dim(`registered ${formatAge(created_at)} ago by ${registered_by}; started by ${who}`)
  const json = (value: unknown, taken: number) => truncateLine(JSON.stringify(value), screenWidth() - taken)
  const args = Object.entries(playbook.args)
  if (args.length > 0) {
    output.line(`\n${pc.bold('Takes')}, unless said otherwise`)
    output.records(args, [
      { value: ([arg]) => `  ${arg}` },
      { value: ([, value]) => json(value, 30), dim: true },
    ])
  }
  output.line()
  for (const line of playbookDiagram(playbook)) output.line(line)
  if (playbook.output !== undefined)
    output.line(`\n${pc.bold('Gives')}  ${pc.dim(json(playbook.output, 10))}`)
  const set = args.length === 0 ? '' : ` --set ${args[0]![0]}=…`
  output.next(['Run it', `stagedoor run ${name}${set}`])
}

// The steps of a playbook as a small picture: boxes in the order of the text, arrows to what follows.

function playbookDiagram({ steps, start }: Playbook): string[] {
  const width = Math.max(8, ...steps.map(({ step }) => step.length))
  const entered = steps[0]?.step === start ? [] : [`  ${pc.dim('starts at')} ${start}`]
  const lines = steps.flatMap((step, index) => {
    const following = steps[index + 1]?.step
    return [...boxOf(step, width, arrowBelow(step, following)), ...arcLines(step, width, following)]
  })
  return [...entered, ...lines]
}

/** One arc, always taken, to the step below: nothing needs to be said. */
function arrowBelow({ next }: Step, following: string | undefined): boolean {
  return next.arcs.length === 1 && next.arcs[0]!.when === undefined && next.arcs[0]!.step === following
}

function boxOf(step: Step, width: number, below: boolean): string[] {
  const edge = '─'.repeat(width + 2)
  const middle = Math.floor((width + 2) / 2)
  const goesOn = below || step.next.arcs.length > 0
  const foot = goesOn ? `${'─'.repeat(middle)}┬${'─'.repeat(width + 1 - middle)}` : edge
  const room = Math.max(20, screenWidth() - width - 9)
  const [first = '', ...more] = aboutOf(step)
  const line = (name: string, about: string) =>
    `  ${pc.dim('│')} ${pc.bold(name.padEnd(width))} ${pc.dim('│')} ${about}`
  const fitted = (text: string) => truncate(printableLine(text), room)
  return [
    pc.dim(`  ┌${edge}┐`),
    line(step.step, fitted(first)),
    ...more.map((text) => line('', pc.dim(fitted(text)))),
    pc.dim(`  └${foot}┘`),
  ]
}

function arcLines(step: Step, width: number, following: string | undefined): string[] {
  const pad = ' '.repeat(3 + Math.floor((width + 2) / 2))
  const { arcs, mode } = step.next
  if (arrowBelow(step, following)) return [pc.dim(`${pad}▼`)]
  return arcs.map(({ when, step: to }, index) => {
    const corner = index === arcs.length - 1 ? '└' : '├'
    const always = mode === 'exclusive' && index > 0 ? 'otherwise' : 'always'
    const condition = when === undefined ? (arcs.length === 1 ? '' : `${always} `) : `${printableLine(when)} `
    return `${pc.dim(`${pad}${corner}─ ${condition}→`)} ${to}`
  })
}

function aboutOf(step: Step): string[] {
  const does = step.wait
    ? waitText(step.wait)
    : step.tools.map(({ tool, call }) => (call === undefined ? tool : `${tool} ${call}`)).join(', then ')
  const more = [
    step.loop && loopText(step.loop),
    step.retry.attempts > 1 && `${step.retry.attempts} attempts`,
    step.timeout_ms !== undefined && `at most ${formatDuration(step.timeout_ms)} each`,
    step.on_error === 'continue' && 'continues when it fails',
  ]
  return [does, step.description ?? '', joinWords(more, ' · ')].filter((line) => line !== '')
}

function loopText({ mode, in: collection, max_in_flight, allow_partial }: NonNullable<Step['loop']>): string {
  const over =
    typeof collection === 'string' ? collection : `${formatCount((collection as unknown[]).length)} items`
  const flight = mode === 'sequential' ? '' : `, up to ${formatCount(max_in_flight)} out at a time`
  return `for each of ${over}: ${mode}${flight}${allow_partial ? ', some may fail' : ''}`
}

function waitText(wait: Wait): string {
  switch (wait.kind) {
    case 'timer':
      return wait.until === undefined
        ? `waits ${formatDuration(wait.for_ms ?? 0)}`
        : `waits until ${wait.until}`
    case 'event':
      return `waits for ${wait.domain}.${wait.type}${wait.subject === undefined ? '' : ` of ${wait.subject}`}${timeoutText(wait)}`
    case 'approval':
      return `waits for a decision on the staging record ${wait.record}${timeoutText(wait)}`
    case 'request':
      return 'asks for an approval, and waits for the decision'
  }
}

function timeoutText({ timeout_ms }: { timeout_ms?: number }): string {
  return timeout_ms === undefined ? '' : `, at most ${formatDuration(timeout_ms)}`
}

const registerCommand = () =>
  command('register', 'register a playbook: a new version, if its text is new')
    .argument('<file>', 'YAML or JSON')
    .option(
      '--open-to-members',
      'those who may operate in a workspace may start it there; otherwise only the back end',
    )
    .option('--no-open-to-members', 'revoke that')
    .examples('Executions that run keep the version that they began with.')
    .run(async ({ options, output, transaction }, file) => {
      // Commander has no default for it, because both forms are declared.
      const asked = options.openToMembers as boolean | undefined
      const text = await readPlaybookFile(file)
      const { registered, before, problems } = await transaction(async (client) => {
        const { playbook, problems } = await requireValid(client, file, text)
        const before = await findPlaybook(client, playbook.name)
        const open = asked ?? before?.open_to_members ?? false
        const registered = await registerPlaybook(client, text, { openToMembers: open })
        return { registered, before, problems }
      })
      const isNew = registered.catalog_id !== before?.catalog_id
      output.result({ ...registered, is_new: isNew }, () => {
        for (const line of problemLines(file, text, problems)) output.line(line)
        const { name, version, open_to_members, disabled } = registered
        const who = open_to_members ? 'members may start it' : 'the back end starts it'
        output.done(
          `${pc.bold(name)} version ${version} ${isNew ? 'is registered' : 'has this text already'}; ${who}.`,
        )
        if (disabled) output.line(pc.yellow(`  It is disabled: \`stagedoor playbook enable ${name}\``))
        output.next(['Run it', `stagedoor run ${name}`], ['See its steps', `stagedoor playbook show ${name}`])
      })
    })

const switchCommand = (name: 'disable' | 'enable', description: string, work: typeof disablePlaybook) =>
  command(name, description)
    .argument('<name>', 'of the playbook')
    .run(async ({ output, transaction }, playbook) => {
      await transaction((client) => work(client, playbook))
      const disabled = name === 'disable'
      output.result({ name: playbook, disabled }, `${pc.bold(playbook)} is ${name}d.`)
    })

const checkCommand = () =>
  command('check', 'everything that is wrong with a playbook, each with its line; registers nothing')
    .argument('<file...>', 'YAML or JSON')
    .option('--handlers <file>', 'also say which handlers are missing there')
    .run(async ({ options, output }, files) => {
      const { parsePlaybook } = await import('../executions/playbook/parse.ts')
      const handlers = options.handlers === undefined ? {} : { handlers: await namesIn(options.handlers) }
      const texts = await Promise.all(files.map(readPlaybookFile))
      const checked = files.map((file, index) => {
        const text = texts[index]!
        return { file, text, ...parsePlaybook(text, handlers) }
      })
      const errors = checked
        .flatMap(({ problems }) => problems)
        .filter(({ severity }) => severity === 'error')
      output.result(
        checked.map(({ file, problems, playbook }) => ({ file, ok: playbook !== undefined, problems })),
        () => {
          for (const { file, text, problems, playbook } of checked) {
            for (const line of problemLines(file, text, problems)) output.line(line)
            if (playbook === undefined) continue
            const steps = playbook.steps.length === 1 ? 'one step' : `${playbook.steps.length} steps`
            output.done(`${file}: ${pc.bold(playbook.name)}, ${steps}`)
          }
          if (errors.length > 0)
            output.line(pc.red(errors.length === 1 ? 'One error' : `${errors.length} errors`))
        },
      )
      if (errors.length > 0) process.exitCode = 2
    })

async function namesIn(file: string): Promise<string[]> {
  const { loadPlaybookHandlers } = await import('../executions/tools/tool.ts')
  return Object.keys((await loadPlaybookHandlers(file)) ?? {})
}

const schemaCommand = () =>
  command('schema', 'the JSON Schema of playbooks, for completion and checks in your editor')
    .option('--write <file>', 'into this file')
    .examples(
      `  $ stagedoor playbook schema --write playbook.schema.json
Then the first line of a playbook is
  # yaml-language-server: $schema=playbook.schema.json`,
    )
    .run(async ({ options, output }) => {
      const { playbookJsonSchema } = await import('../executions/playbook/schema.ts')
      const text = `${JSON.stringify(playbookJsonSchema(), null, 2)}\n`
      const { write: file } = options
      if (file === undefined) return void process.stdout.write(text)
      await writeFile(file, text)
      output.result({ file }, () => {
        output.done(`Written into ${file}. The first line of a playbook:`)
        output.line(pc.cyan(`  # yaml-language-server: $schema=${file}`))
      })
    })

async function readPlaybookFile(file: string): Promise<string> {
  return (await readBytesInput(file))!.toString('utf8')
}

// What is wrong with a playbook: the line it is in, and a mark below the place.

/** Throws an error that shows every problem in its place. */
export async function requireValid(
  client: Client,
  file: string,
  text: string,
  handlers?: readonly string[],
): Promise<{ playbook: Playbook; problems: readonly Problem[] }> {
  const { playbook, problems } = await checkWithCatalog(client, text, handlers)
  if (playbook !== undefined) return { playbook, problems }
  const { details, hint } = playbookInvalid(file, problems)
  const lines = problemLines(file, text, problems, pc.createColors(false))
  const message = `${file} cannot be used\n\n${lines.join('\n')}`
  throw new StagedoorError('playbook_invalid', details, { message, hint })
}

function problemLines(
  file: string,
  text: string,
  problems: readonly Problem[],
  paint: ReturnType<typeof pc.createColors> = pc,
): string[] {
  const written = text.split(/\r?\n/)
  return problems.flatMap(({ severity, line, column, path, message, remedy }) => {
    const mark = severity === 'error' ? paint.red('✖') : paint.yellow('!')
    const place = line === undefined ? file : `${file}:${line}:${column}`
    const where = path === '' ? '' : `  ${paint.dim(printableLine(path))}`
    return [
      `${mark} ${paint.bold(place)}${where}`,
      `  ${printableLine(message)}${remedy === undefined ? '' : `. ${printableLine(remedy)}`}`,
      ...(line === undefined ? [] : excerpt(written[line - 1] ?? '', line, column ?? 1, paint)),
      '',
    ]
  })
}

/** A long line is shown from a little before the place. */
function excerpt(
  written: string,
  line: number,
  column: number,
  paint: ReturnType<typeof pc.createColors>,
): string[] {
  const gutter = `  ${line} │ `
  const room = Math.max(40, screenWidth() - gutter.length - 2)
  const from = column <= room ? 0 : column - Math.floor(room / 2)
  const shown = printableLine(written.replaceAll('\t', ' ').slice(from, from + room))
  const before = printableLine(written.replaceAll('\t', ' ').slice(from, column - 1)).length
  return [
    `${paint.dim(gutter)}${from > 0 ? '…' : ''}${shown}`,
    `${paint.dim(`${' '.repeat(gutter.length - 2)}│ `)}${' '.repeat(before + (from > 0 ? 1 : 0))}${paint.red('^')}`,
  ]
}

/** Why jobs that start the playbook `named` would fail; undefined if they would not. */
export async function playbookStartProblem(
  db: Queryable,
  named: string | undefined,
  remedyIfUnnamed: string,
): Promise<string | undefined> {
  if (named === undefined) return `Its jobs name no playbook, so each of them will fail. ${remedyIfUnnamed}`
  // A template gets its value from the event.
  if (named.includes('{')) return undefined
  const playbooks = await listPlaybooks(db, { limit: 1000 })
  const found = playbooks.find(({ name }) => name === named)
  if (found?.disabled_at) return `The playbook ${named} is disabled: \`stagedoor playbook enable ${named}\``
  if (found) return undefined
  const names = playbooks.map(({ name }) => name)
  const remedy = didYouMean(named, names) ?? '`stagedoor playbook register FILE` registers it'
  return `There is no playbook ${named} yet, so its jobs will fail. ${remedy}`
}

/** `stagedoor unit`: information units, read by people; what changes them has a file of its own. */
import pc from 'picocolors'
import { API_PREFIX } from '../kernel/version.ts'
import { type Edge, unitEdges } from '../units/edges.ts'
import { diffUnit, type LifecycleChange, unitHistory, type VersionRecord } from '../units/history.ts'
import { checkUnits, type UnitFinding, unitsToCheck } from '../units/lifecycle.ts'
import {
  LIFECYCLE_STATUSES,
  listUnitKinds,
  listUnits,
  readUnit,
  type UnitContext,
  type UnitDetail,
  type UnitFilter,
  type UnitRecord,
  unitContext,
} from '../units/units.ts'
import { integerBetween, integerFrom, parsePastTime } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatBytes, formatRelativeTime, joinWords, plural } from './format.ts'
import { unitName, unitNames } from './ids.ts'
import { type MemberNames, workspaceIfNamed, workspaceOf } from './session.ts'
import {
  type Column,
  type Fact,
  formatFacts,
  formatRecords,
  type NextStep,
  nextPage,
  paintDiff,
} from './terminal.ts'
import { firstLines, printableLine, screenWidth, truncate, truncateLine, wrapIndented } from './text.ts'
import { changeCommands } from './unit-edit.ts'
import { findUnit, openUnit, paintStatus, statusOf, UNIT_KINDS, unitVerb } from './unit-find.ts'

export const unitCommand = () =>
  commandGroup(
    'unit',
    'information units: knowledge in pieces, each with its versions and its lifecycle',
    [
      listCommand(),
      showCommand(),
      ...changeCommands(),
      historyCommand(),
      diffCommand(),
      checkCommand(),
      kindsCommand(),
    ],
    `
  $ stagedoor mark handbook.md                       from a document, through review
  $ stagedoor unit list --under handbook
  $ stagedoor unit show handbook/leave --as-of 2h
  $ stagedoor unit edit handbook/leave --find "28 days" --replace "30 days"
  $ stagedoor unit enact handbook/leave --approval-ref APR-2026-114 --as reviewer

A unit is named by its address or its id.`,
  )

const kindsCommand = () =>
  command('kinds', 'what a unit can be, and what its profile needs then')
    .actor()
    .run(async ({ output, transaction }) => {
      output.list(
        await transaction(listUnitKinds),
        [
          { title: 'kind', value: ({ unit_kind }) => unit_kind, paint: pc.bold },
          { title: 'its profile needs', value: ({ required_profile }) => required_profile.join(', ') || '–' },
          { title: 'what it is', value: ({ description }) => description, dim: true },
        ],
        'No kind of unit is known: `stagedoor migrate` brings those that are shipped.',
      )
    })

const listCommand = () =>
  command('list', 'units by workspace and address; those of a container in their order')
    .option('--under <address>', 'only of this branch', unitName)
    .option('--container <unit>', 'only what is in this one', unitName)
    .option('--kind <kind>', `only these: ${UNIT_KINDS}`)
    .option('--status <status>', 'only these', LIFECYCLE_STATUSES)
    .option('--topic <label>', 'only those that carry it')
    .option('--text <text>', 'only those with this in their title or address')
    .option('--top', 'only those that are in no other')
    .option('--deviates', 'only those in which the checker found something')
    .option('--drifted', 'only those whose document has changed since')
    .option('--deleted', 'only the deleted ones')
    .workspace('only of this one')
    .limit(50)
    .option('--after <unit>', 'the page after this one', unitName)
    .actor()
    .run(async ({ options, output, transaction }) => {
      const { workspace, under, container, kind, status, topic, text, top, deviates, drifted } = options
      const { deleted, limit } = options
      const { units, isFiltered } = await transaction(async (client) => {
        const idOf = async (name: string | undefined) =>
          name === undefined ? undefined : (await findUnit(client, name, workspace)).unit_id
        const filter: UnitFilter = {
          under,
          topic,
          text,
          top,
          deleted,
          kind,
          status,
          conformance: deviates ? 'deviates' : undefined,
          drift: drifted ? 'drifted' : undefined,
          workspaceId: await workspaceIfNamed(client, workspace),
          containerId: await idOf(container),
          after: await idOf(options.after),
        }
        const isFiltered = Object.values(filter).some((given) => given !== undefined)
        return { units: await listUnits(client, { ...filter, limit }), isFiltered }
      })
      const none = () => {
        if (isFiltered) return output.line('No unit matches. `stagedoor unit list` shows all of them.')
        output.line('No unit here yet.')
        output.next(
          ['From a document, through review', 'stagedoor mark handbook.md'],
          ['Or one by itself', 'echo "28 days a year." | stagedoor unit create handbook/leave'],
        )
      }
      output.list(
        units,
        UNIT_COLUMNS,
        none,
        nextPage(units, limit, ({ canonical_address }) => canonical_address),
      )
    })

const UNIT_COLUMNS: Column<UnitRecord>[] = [
  { title: 'address', value: ({ canonical_address }) => truncate(canonical_address, 60) },
  { title: 'kind', value: ({ unit_kind }) => unit_kind, dim: true },
  { title: 'status', value: statusOf, paint: paintStatus },
  { title: 'version', value: ({ version_no }) => version_no },
  { title: 'tier', value: ({ mup_tier }) => mup_tier },
  { title: 'title', value: ({ title }) => title, shrinkTo: 10 },
]

const VERSION = integerFrom(1)

const showCommand = () =>
  unitVerb('show', 'one unit: its text, its status, what it lacks, its edges')
    .option('--version <n>', 'this version', VERSION)
    .option('--as-of <time>', 'as it was then: 2h ago as 2h, or 2026-11-16T08:00:00Z', parsePastTime)
    .option('--text', 'print the text alone, exactly as it is')
    .option('--full', 'do not shorten a long text')
    .run(async (session, name) => {
      const { options, output } = session
      const { version, asOf } = options
      const { unit: found, transaction } = await openUnit(session, name)
      const { unit, edges, context } = await transaction(async (client) => {
        const unit = await readUnit(client, found, { version, asOf })
        const edges = await unitEdges(client, found.unit_id)
        return { unit, edges, context: await unitContext(client, unit.unit_id) }
      })
      if (options.text && !output.json) return void process.stdout.write(unit.version.body)
      const names = await session.memberNames(unit.workspace_id)
      const external = await session.isExternal()
      const text = `\n${textLines(unit.version.body, options.full)}`
      output.result({ ...unit, edges, context }, () => {
        output.line(headline(unit))
        // What is known only as it is now (place, profile, edges, tier) is not shown as if it had been so then.
        const isPast = unit.status_then !== null
        if (isPast) output.dim(`As it was at ${asOf!.toISOString()}.`)
        output.line(`\n${unitFacts(unit, names, context)}`)
        if (isPast) return output.line(`\n${text}`)
        if (edges.out.length + edges.in.length > 0) output.line(`\n${edgeTable(edges)}`)
        if (edges.next !== null) output.dim(`of ${unit.edges_out} edges from it and ${unit.edges_in} to it`)
        output.line(text)
        if (unit.version.version_no === unit.version_no)
          output.next(...unitNextSteps(unit, context.successor?.canonical_address ?? null, external))
      })
    })

function headline(unit: UnitDetail): string {
  const { version } = unit
  const old = version.version_no === unit.version_no ? '' : pc.dim(` of ${unit.version_no}`)
  const kind = unit.status_then === null ? unit.unit_kind : version.unit_kind
  const facts = `${kind} · ${version.language} · ${formatBytes(Buffer.byteLength(version.body))}`
  return `${paintStatus(unit.status_then ?? statusOf(unit))}  ${pc.bold(printableLine(version.title))}  ${pc.dim(unit.canonical_address)}  version ${version.version_no}${old}\n${pc.dim(facts)}`
}

function unitFacts(unit: UnitDetail, names: MemberNames, context: UnitContext): string {
  const { version, topics, status_then } = unit
  const { edited_at, edited_by, note } = version
  const { path, supersedes, superseded_by, successor, origin } = context
  const container = path.at(-1)?.canonical_address ?? unit.container_id
  const { topic_labels: _, ...profile } = unit.content_profile
  const isFirst = unit.version_no === 1 && version.version_no === 1
  const now: Fact[] = [
    ['approval', unit.apr_ref],
    ['supersedes', supersedes?.canonical_address ?? unit.supersedes],
    ['followed by', superseded_by?.canonical_address ?? unit.superseded_by],
    ['successor', successor && `${successor.canonical_address}, a draft`],
    ...origin.map(
      ({ source_ref, piece_address, staging_record_id }): Fact => [
        'piece',
        `${piece_address} of ${source_ref}${staging_record_id === null ? '' : `, cut from record ${staging_record_id}`}`,
      ],
    ),
    ['topics', topics.length > 0 && topics.join(', ')],
    ['profile', Object.keys(profile).length > 0 && JSON.stringify(profile)],
    ['tier', tierText(unit)],
    ['checker', checkerText(unit)],
    ['search', unit.vector_state],
  ]
  const since = `${statusOf(unit)}, version ${unit.version_no}: stagedoor unit show ${unit.canonical_address}`
  const edited = `${formatRelativeTime(edited_at)} by ${names(edited_by)}${note ? `: ${note}` : ''}`
  const facts: Fact[] = [
    ['id', unit.unit_id],
    ['hash', version.content_hash],
    ['in', status_then === null && container && `${container}, place ${unit.position}`],
    ['from', unit.source_ref],
    ['created', `${formatRelativeTime(unit.created_at)} by ${names(unit.owner_actor)}`],
    ['edited', (status_then !== null || !isFirst) && edited],
    ...(status_then === null ? now : [['now', since] as const]),
  ]
  const width = screenWidth() - 14
  return formatFacts(facts.map(([name, value]) => [name, value && truncateLine(String(value), width)]))
}

const TIERS = ['created', 'usable', 'complete']

function tierText({ mup_tier, missing }: UnitRecord): string {
  const lacks = missing.length === 0 ? '' : `; it lacks ${missing.join(', ')}`
  return `${mup_tier} ${TIERS[mup_tier] ?? ''}${lacks}`
}

function checkerText({ conformance, drift, findings, checked_at }: UnitRecord): string {
  if (conformance === null) return 'has not run yet'
  const codes = [...new Set((findings ?? []).map(({ code }) => code))]
  const document = findings?.find(({ code }) => code === 'drifted')?.source_ref
  const from = typeof document === 'string' ? document : 'its document'
  const drifted = drift === 'drifted' ? `, drifted from ${printableLine(from)}` : ''
  const found = codes.length > 0 ? `: ${codes.join(', ')}` : ''
  return `${conformance}${drifted}, ${formatRelativeTime(checked_at!)}${found}`
}

function edgeTable(edges: { out: readonly Edge[]; in: readonly Edge[] }): string {
  const isOut = (edge: Edge) => edges.out.includes(edge)
  return formatRecords(
    [...edges.out, ...edges.in],
    [
      { value: ({ edge_id }) => edge_id, dim: true },
      { value: (edge) => (isOut(edge) ? `— ${edge.edge_type} →` : `← ${edge.edge_type} —`) },
      {
        value: ({ edge_status }) => edge_status,
        paint: (cell, { edge_status }) => (edge_status === 'unverified' ? pc.yellow(cell) : cell),
      },
      {
        value: (edge) => (isOut(edge) ? (edge.to_address ?? edge.target_ref) : edge.from_address),
        shrinkTo: 20,
      },
    ],
  )
}

/** Of a text, unless asked for all of it. */
const MAX_TEXT_LINES = 24

function textLines(text: string, full = false): string {
  const lines = text.trimEnd().split('\n')
  const wrapped = lines.flatMap((line) => wrapIndented(line, screenWidth() - 3))
  const shown = full ? wrapped : firstLines(wrapped, MAX_TEXT_LINES)
  return shown.map((line) => `   ${line}`.trimEnd()).join('\n')
}

function unitNextSteps(unit: UnitDetail, successor: string | null, external: boolean): NextStep[] {
  const { canonical_address: name, version_no: version } = unit
  if (unit.deleted_at !== null) return [['Restore it', `stagedoor unit restore ${name}`]]
  if (unit.lifecycle_status === 'draft')
    return [
      ['Change its text', `stagedoor unit edit ${name} --expect ${version} --file F`],
      [
        'Put it into force, which locks its text',
        external
          ? `POST ${API_PREFIX}/units/${unit.unit_id}/enact with the reviewer’s token and {"expected_version": ${version}, "apr_ref": "…"}`
          : `stagedoor unit enact ${name} --expect ${version} --approval-ref REF --as reviewer`,
      ],
    ]
  if (unit.lifecycle_status !== 'enacted') return []
  const what =
    successor === null
      ? 'Its text is locked. Write the next one, enact that, then let it supersede this one'
      : 'Its text is locked. When its successor is in force, let that supersede this one'
  const by = `--by ${successor ?? 'SUCCESSOR'} --approval-ref REF${external ? '' : ' --as reviewer'}`
  return [[what, `stagedoor unit supersede ${name} ${by}`]]
}

const historyCommand = () =>
  unitVerb('history', 'the versions of a unit and the changes of its lifecycle, newest first')
    .limit(50, 1000, 'how many of each')
    .run(async (session, name) => {
      const { output } = session
      const { limit } = session.options
      const { unit, transaction } = await openUnit(session, name)
      const history = await transaction((client) => unitHistory(client, unit.unit_id, { limit }))
      const names = await session.memberNames(unit.workspace_id)
      output.result(history, () => {
        const { versions, lifecycle } = history
        output.records(versions, versionColumns(names))
        if (lifecycle.length > 0) output.line(`\n${formatRecords(lifecycle, lifecycleColumns(names))}`)
        if (versions.length < 2) return
        const { canonical_address: address } = unit
        const first = versions.at(-1)!.edited_at.toISOString()
        output.next(
          ['What the last one changed', `stagedoor unit diff ${address}`],
          ['As it was at a time', `stagedoor unit show ${address} --as-of ${first}`],
        )
      })
    })

function versionColumns(names: MemberNames): Column<VersionRecord>[] {
  return [
    { title: 'version', value: ({ version_no }) => version_no },
    { title: 'since', value: ({ edited_at }) => edited_at.toISOString() },
    { title: 'by', value: ({ edited_by }) => names(edited_by) },
    { title: 'size', value: ({ body_bytes }) => formatBytes(body_bytes) },
    { title: 'hash', value: ({ content_hash }) => content_hash.slice(0, 12), dim: true },
    { title: 'note', value: ({ note }) => note, dim: true, shrinkTo: 20 },
  ]
}

function lifecycleColumns(names: MemberNames): Column<LifecycleChange>[] {
  return [
    { value: ({ changed_at }) => changed_at.toISOString() },
    { value: ({ from_status, to_status }) => `${from_status} → ${to_status}` },
    { value: ({ changed_by }) => names(changed_by) },
    { value: ({ apr_ref, reason }) => joinWords([apr_ref, reason], ': '), dim: true, shrinkTo: 20 },
  ]
}

const diffCommand = () =>
  unitVerb('diff', 'what changed from one version to another')
    .argument('[from]', 'version; default: the one before', VERSION)
    .argument('[to]', 'version; default: the current one', VERSION)
    .run(async (session, name, from, to) => {
      const { output } = session
      const { unit, transaction } = await openUnit(session, name)
      const found = await transaction((client) => diffUnit(client, unit.unit_id, { from, to }))
      output.result(found, () => {
        const { from_version, to_version, from_title, to_title, diff } = found
        if (from_title !== to_title)
          output.line(`Title: ${pc.red(printableLine(from_title))} → ${pc.green(printableLine(to_title))}`)
        if (diff !== '') return output.line(paintDiff(diff))
        output.line(
          from_version === to_version
            ? `Version ${to_version} has nothing before it to compare it with.`
            : `Versions ${from_version} and ${to_version} have the same text.`,
        )
      })
    })

const checkCommand = () =>
  command(
    'check',
    'run the checker now: edges, profile, topics, and the document behind a unit. Jobs run it as well',
  )
    .argument('[unit...]', 'address or id; default: all that are due', unitNames, [])
    .workspace('whose; default: the only one there is')
    .option('--limit <n>', 'how many at most', integerBetween(1, 10_000), 1000)
    .run(async ({ options, output, transaction }, names) => {
      const { workspace, limit } = options
      const checked = await transaction(async (client) => {
        if (names.length === 0)
          return checkUnits(client, await unitsToCheck(client, await workspaceOf(client, workspace), limit))
        const units: string[] = []
        for (const name of names) units.push((await findUnit(client, name, workspace)).unit_id)
        return checkUnits(client, units)
      })
      output.result(checked, () => {
        if (checked.length === 0) return output.line('Nothing is due: all units were checked as they are.')
        const found = checked.flatMap(({ canonical_address: address, findings }) =>
          findings.map((finding) => ({ address, finding })),
        )
        if (found.length > 0) output.line(`${formatRecords(found, FINDING_COLUMNS)}\n`)
        const fine = checked.filter(({ findings }) => findings.length === 0).length
        const counts = `${plural(checked.length, 'unit')} checked, ${fine} without a finding`
        if (found.length > 0) output.warn(counts)
        else output.done(counts)
      })
    })

const FINDING_COLUMNS: Column<{ address: string; finding: UnitFinding }>[] = [
  { value: ({ address }) => address },
  { value: ({ finding }) => finding.code, paint: pc.yellow },
  { value: ({ finding }) => referencesOf(finding), dim: true, shrinkTo: 20 },
]

/** What a person would look for first: where an edge leads, else the references as they are. */
function referencesOf({ code: _, ...references }: UnitFinding): string {
  if (typeof references.target_ref === 'string') return `— ${references.edge_type} → ${references.target_ref}`
  return Object.entries(references)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

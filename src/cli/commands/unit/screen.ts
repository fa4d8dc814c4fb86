/** How units look on the terminal. */
import pc from 'picocolors'
import type { Edge } from '../../../units/edges.ts'
import type { UnitDetail, UnitRecord } from '../../../units/reading.ts'
import { bytes, cut, table, visibleLine, widthOf } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { screenWidth, shortened, wrap } from '../upload/layout.ts'
import type { NextStep } from '../upload/next-step.ts'
import type { Names } from '../upload/session.ts'

export function statusOf(unit: Pick<UnitRecord, 'lifecycle_status' | 'deleted_at'>): string {
  return unit.deleted_at === null ? unit.lifecycle_status : 'deleted'
}

export function paintStatus(cell: string): string {
  const status = cell.trim()
  if (status === 'enacted') return pc.green(cell)
  return status === 'draft' ? pc.yellow(cell) : pc.dim(cell)
}

/** The last column takes what room is left; where it can be done without and there is hardly any, it is left out. */
export function fitted(
  rows: readonly (readonly string[])[],
  { dispensable = false }: { dispensable?: boolean } = {},
): string[][] {
  const last = rows[0]!.length - 1
  const taken = rows[0]!
    .slice(0, last)
    .reduce((sum, _, column) => sum + 2 + Math.max(...rows.map((row) => widthOf(row[column]!))), 0)
  const left = screenWidth() - taken
  if (dispensable && left < 10) return rows.map((row) => row.slice(0, last))
  const room = dispensable ? left : Math.max(20, left)
  return rows.map((row) => row.map((cell, column) => (column === last ? shortened(cell, room) : cell)))
}

/** Lines of at most `width`; what follows a list's or a code's indentation keeps it. */
export function wrapped(line: string, width: number): string[] {
  const [indent] = /^ */.exec(line.slice(0, Math.floor(width / 2)))!
  return wrap(line.slice(indent.length).replaceAll('\t', '  '), width - indent.length).map(
    (part) => indent + part,
  )
}

export function unitTable(units: readonly UnitRecord[]): string {
  const rows = fitted(
    [
      ['address', 'kind', 'status', 'version', 'tier', 'title'],
      ...units.map((unit) => [
        cut(unit.canonical_address, 60),
        unit.unit_kind,
        statusOf(unit),
        String(unit.version_no),
        String(unit.mup_tier),
        unit.title,
      ]),
    ],
    { dispensable: true },
  )
  return table(rows, (cell, column, row) => {
    if (row === 0) return pc.dim(cell)
    return column === 2 ? paintStatus(cell) : column === 1 ? pc.dim(cell) : cell
  })
}

const TIERS = ['born', 'usable', 'complete']

/** Other units by what people call them. */
export interface Relatives {
  readonly supersedes: string | undefined
  readonly superseded_by: string | undefined
  /** The draft that is to take its place. */
  readonly successor: string | undefined
}

export function factsOf(
  unit: UnitDetail,
  names: Names,
  container: string | undefined,
  relatives: Relatives,
): [string, string][] {
  const { version, content_profile, topics } = unit
  const { topic_labels: _, ...profile } = content_profile
  const facts: [string, string | null][] = [
    ['id', unit.unit_id],
    ['hash', version.content_hash],
    ['in', container === undefined ? null : `${container}, place ${unit.position}`],
    ['from', unit.source_ref],
    ['born', `${whenIs(unit.born_at)} by ${names(unit.owner_actor)}`],
    [
      'edited',
      unit.version_no === 1 && version.version_no === 1
        ? null
        : `${whenIs(version.edited_at)} by ${names(version.edited_by)}${version.note ? `: ${version.note}` : ''}`,
    ],
    ['approval', unit.apr_ref],
    ['supersedes', relatives.supersedes ?? null],
    ['followed by', relatives.superseded_by ?? null],
    ['successor', relatives.successor === undefined ? null : `${relatives.successor}, a draft`],
    ['topics', topics.length === 0 ? null : topics.join(', ')],
    ['profile', Object.keys(profile).length === 0 ? null : JSON.stringify(profile)],
    ['tier', tierOf(unit)],
    ['checker', checkerOf(unit)],
    ['search', unit.vector_state],
  ]
  return facts
    .filter((fact): fact is [string, string] => fact[1] !== null)
    .map(([name, value]) => [name, shortened(value, screenWidth() - 14)])
}

/** Of a time that is over: what never changes, what the version says, and where it stands by now. */
export function factsThen(unit: UnitDetail, names: Names): [string, string][] {
  const { version } = unit
  const facts: [string, string][] = [
    ['id', unit.unit_id],
    ['hash', version.content_hash],
    ['from', unit.source_ref],
    ['born', `${whenIs(unit.born_at)} by ${names(unit.owner_actor)}`],
    [
      'edited',
      `${whenIs(version.edited_at)} by ${names(version.edited_by)}${version.note ? `: ${version.note}` : ''}`,
    ],
    ['now', `${statusOf(unit)}, version ${unit.version_no}: stagedoor unit show ${unit.canonical_address}`],
  ]
  return facts.map(([name, value]) => [name, shortened(value, screenWidth() - 14)])
}

function tierOf({ mup_tier, missing }: UnitRecord): string {
  const lacks = missing.length === 0 ? '' : `; it lacks ${missing.join(', ')}`
  return `${mup_tier} ${TIERS[mup_tier] ?? ''}${lacks}`
}

function checkerOf({ conformance, drift, findings, checked_at }: UnitRecord): string {
  if (conformance === null) return 'has not looked yet'
  const found = (findings ?? []).map(({ code }) => code)
  const document = findings?.find(({ code }) => code === 'drifted')?.source_ref
  const from = typeof document === 'string' ? document : 'its document'
  return `${conformance}${drift === 'drifted' ? `, drifted from ${visibleLine(from)}` : ''}, ${whenIs(checked_at!)}${found.length > 0 ? `: ${[...new Set(found)].join(', ')}` : ''}`
}

export function edgeTable(edges: { out: readonly Edge[]; in: readonly Edge[] }): string {
  const rows = [
    ...edges.out.map((edge) => [
      edge.edge_id,
      `— ${edge.edge_type} →`,
      edge.edge_status,
      edge.to_address ?? edge.target_ref,
    ]),
    ...edges.in.map((edge) => [edge.edge_id, `← ${edge.edge_type} —`, edge.edge_status, edge.from_address]),
  ]
  return table(fitted(rows), (cell, column) => {
    if (column === 0) return pc.dim(cell)
    return column === 2 && cell.trim() === 'unverified' ? pc.yellow(cell) : cell
  })
}

/** Of a text, unless asked for all of it. */
const MOST_LINES = 24

export function textLines(text: string, full: boolean): string {
  const lines = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapped(line, screenWidth() - 3))
  const most = full || lines.length <= MOST_LINES + 1 ? lines.length : MOST_LINES
  const rest = lines.length - most
  return [
    ...lines.slice(0, most).map((line) => `   ${line}`.trimEnd()),
    ...(rest > 0 ? [pc.dim(`   … ${rest} more lines: --full`)] : []),
  ].join('\n')
}

export function headline(unit: UnitDetail): string {
  const { version } = unit
  const old = version.version_no === unit.version_no ? '' : pc.dim(` of ${unit.version_no}`)
  return `${paintStatus(unit.status_then ?? statusOf(unit))}  ${pc.bold(visibleLine(version.title))}  ${pc.dim(unit.canonical_address)}  version ${version.version_no}${old}\n${pc.dim(
    `${unit.status_then === null ? unit.unit_kind : version.unit_kind} · ${version.language} · ${bytes(Buffer.byteLength(version.body))}`,
  )}`
}

export function nextOf(unit: UnitDetail, successor: string | undefined, external: boolean): NextStep[] {
  const name = unit.canonical_address
  if (unit.deleted_at !== null) return [{ what: 'Bring it back', command: `stagedoor unit restore ${name}` }]
  const enact = external
    ? `POST /api/units/${unit.unit_id}/enact with the reviewer’s token and {"expected_version": ${unit.version_no}, "apr_ref": "…"}`
    : `stagedoor unit enact ${name} --expect ${unit.version_no} --apr REF --as reviewer`
  switch (unit.lifecycle_status) {
    case 'draft':
      return [
        {
          what: 'Change its text',
          command: `stagedoor unit edit ${name} --expect ${unit.version_no} --file F`,
        },
        { what: 'Put it into force, which locks its text', command: enact },
      ]
    case 'enacted':
      return [
        {
          what:
            successor === undefined
              ? 'Its text is locked. Write the next one, enact that, then let it take this place'
              : 'Its text is locked. When its successor is in force, let that take this place',
          command: `stagedoor unit supersede ${name} --by ${successor ?? 'SUCCESSOR'} --apr REF${external ? '' : ' --as reviewer'}`,
        },
      ]
    default:
      return []
  }
}

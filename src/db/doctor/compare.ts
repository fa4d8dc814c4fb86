/** The expected catalogue against the live one. */
import type { SqlFiles } from '../migrate/files.ts'
import type { Attribute, Entry } from './catalogue.ts'
import type { Finding, FindingKind } from './finding.ts'
import { grantStatements, Remedies, revokeStatement } from './remedy.ts'
import { acceptedForms } from './variants.ts'

export interface Comparison {
  readonly expected: readonly Entry[]
  readonly live: readonly Entry[]
  readonly files: SqlFiles
}

const KIND_OF_ATTRIBUTE: Partial<Record<string, FindingKind>> = {
  owner: 'owner',
  rls: 'rls',
  forcedRls: 'rls',
}

export function compareCatalogues({ expected, live, files }: Comparison): Finding[] {
  const remedies = new Remedies(files)
  const byKey = new Map(live.map((entry) => [keyOf(entry), entry]))
  const known = new Set(expected.map(keyOf))
  const missing = expected.filter((entry) => !byKey.has(keyOf(entry)))
  const ours = new Set(expected.map(labelOf))
  const extra = live.filter((entry) => !known.has(keyOf(entry)) && !isTheirsToAdd(entry, ours))
  // What belongs to a missing or an unexpected object is missing or unexpected with it: say it once.
  const told = new Set([...missing, ...extra].map(labelOf))
  const alone = (entry: Entry) => entry.of === undefined || !told.has(entry.of)
  const findings = [
    ...missing.filter(alone).map((entry) => missingFinding(entry, remedies)),
    ...expected.flatMap((entry) => {
      const found = byKey.get(keyOf(entry))
      return found ? differences(entry, found, remedies) : []
    }),
    ...extra.filter(alone).map((entry) => unexpectedFinding(entry, remedies)),
  ]
  // In the order to mend them: a change of owner takes grants with it.
  return [
    ...findings.filter(({ kind }) => kind === 'owner'),
    ...findings.filter(({ kind }) => kind !== 'owner'),
  ]
}

/** `column rights of table iu_core.app_role` */
export function labelOf(entry: Entry): string {
  return entry.of === undefined ? `${entry.kind} ${entry.name}` : `${entry.kind} ${entry.name} of ${entry.of}`
}

/** Tables of ours in `public` may be extended by whoever lives there; who may read them may not. A pack's are not ours. */
function isTheirsToAdd(entry: Entry, ours: ReadonlySet<string>): boolean {
  if (!(entry.of ?? labelOf(entry)).includes(' public.')) return false
  const isRight = entry.kind === 'policy' || entry.kind === 'grant'
  return !isRight || (entry.of !== undefined && !ours.has(entry.of))
}

function keyOf(entry: Entry): string {
  return JSON.stringify([entry.kind, entry.of, entry.name])
}

function missingFinding(entry: Entry, remedies: Remedies): Finding {
  if (entry.kind === 'grant') return grantFinding(entry, privilegesOf(entry), [])
  return {
    kind: 'missing',
    object: labelOf(entry),
    problem: 'does not exist',
    remedy: remedies.missing(entry),
  }
}

function unexpectedFinding(entry: Entry, remedies: Remedies): Finding {
  if (entry.kind === 'grant') return grantFinding(entry, [], privilegesOf(entry))
  return {
    kind: 'unexpected',
    object: labelOf(entry),
    problem: 'is not part of Stagedoor',
    remedy: remedies.unexpected(entry),
  }
}

function differences(entry: Entry, live: Entry, remedies: Remedies): Finding[] {
  if (entry.kind === 'grant') {
    const lacking = privilegesOf(entry).filter((privilege) => !privilegesOf(live).includes(privilege))
    const excess = privilegesOf(live).filter((privilege) => !privilegesOf(entry).includes(privilege))
    return lacking.length + excess.length > 0 ? [grantFinding(entry, lacking, excess)] : []
  }
  const byForm = acceptedForms(entry).map((form) => differing(form, live))
  const fewest = byForm.reduce((best, form) => (form.length < best.length ? form : best))
  return fewest.map((attribute) => ({
    kind: KIND_OF_ATTRIBUTE[attribute] ?? 'drifted',
    object: labelOf(entry),
    problem: problemOf(attribute, entry.attributes[attribute], live.attributes[attribute]),
    remedy: attribute === 'owner' ? remedies.owner(entry) : remedies.drifted(entry, attribute),
  }))
}

function differing(expected: Entry, live: Entry): string[] {
  const names = new Set([...Object.keys(expected.attributes), ...Object.keys(live.attributes)])
  return [...names].filter((name) => shown(expected.attributes[name]) !== shown(live.attributes[name]))
}

function problemOf(attribute: string, expected: Attribute | undefined, live: Attribute | undefined): string {
  switch (attribute) {
    case 'owner':
      return `belongs to ${shown(live)} instead of ${shown(expected)}`
    case 'rls':
      return live ? 'has row level security on' : 'has row level security off'
    case 'forcedRls':
      return live ? 'forces row level security on its owner, too' : 'does not force row level security'
    case 'disabled':
      return 'is switched off'
    case 'source':
      return 'has another body than the one that was applied'
    case 'fires':
      return `fires ${shown(live) || 'normally'} instead of ${shown(expected) || 'normally'}`
    default:
      return `has as ${words(attribute)} ${shown(live) || 'nothing'} instead of ${shown(expected) || 'nothing'}`
  }
}

function grantFinding(entry: Entry, lacking: readonly string[], excess: readonly string[]): Finding {
  const problems = [
    ...(lacking.length > 0 ? [`lacks ${lacking.join(', ')} for ${entry.name}`] : []),
    ...(excess.length > 0 ? [`gives ${excess.join(', ')} to ${entry.name}`] : []),
  ]
  const statements = [
    // First, because it also takes what is then given without the right to pass it on.
    ...(excess.length > 0 ? [revokeStatement(entry, excess)] : []),
    ...(lacking.length > 0 ? [grantStatements(entry, lacking)] : []),
  ]
  return {
    kind: 'grant',
    object: entry.of ?? '',
    problem: problems.join(' and '),
    remedy: statements.join(' '),
  }
}

function privilegesOf(entry: Entry): readonly string[] {
  return entry.attributes.privileges as readonly string[]
}

function shown(value: Attribute | undefined): string {
  if (value === undefined || value === false) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** notNull → not null */
function words(attribute: string): string {
  return attribute.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

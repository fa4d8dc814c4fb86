/** `wait`, in each of its forms. */
import type { Json, Wait } from './definition.ts'
import { Fields, isMap } from './fields.ts'
import type { Findings, Place } from './problem.ts'

const KEYS = ['for', 'until', 'event', 'approval', 'subject', 'match', 'since', 'timeout']
/** As it is run. */
const EXACT_KEYS = ['kind', 'for_ms', 'domain', 'type', 'record', 'timeout_ms']
const FORMS = ['for', 'until', 'event', 'approval'] as const
type Form = (typeof FORMS)[number]

export function readWait(value: Json | undefined, place: Place, findings: Findings): Wait | undefined {
  const fields = Fields.of(value, place, findings, 'wait', [...KEYS, ...EXACT_KEYS])
  if (fields === undefined) return undefined
  const form = formOf(fields)
  if (form === 'for' || form === 'until') return readTimer(fields, form)
  if (form === 'event') return readEvent(fields)
  return form && readApproval(fields)
}

function formOf(fields: Fields): Form | undefined {
  if (fields.has('kind')) {
    const kind = fields.choice('kind', ['timer', 'event', 'approval'])
    return kind === 'timer' ? (fields.has('until') ? 'until' : 'for') : kind
  }
  const found = FORMS.filter((form) => fields.has(form))
  if (found.length === 1) return found[0]
  fields.findings.error(
    fields.place,
    found.length === 0
      ? 'wait does not say for what'
      : `wait is for one thing, not for ${found.join(' and ')}`,
    { remedy: `Write one of {for: 2d}, {until: …}, {event: domain.type}, {approval: "\${…}"}` },
  )
  return undefined
}

function readTimer(fields: Fields, form: 'for' | 'until'): Wait | undefined {
  only(fields, form === 'for' ? ['kind', 'for', 'for_ms'] : ['kind', 'until'])
  if (form === 'for') {
    const for_ms = fields.duration('for', 1)
    if (for_ms === undefined && !fields.has('for') && !fields.has('for_ms'))
      fields.error('kind', 'a timer needs for or until')
    return for_ms === undefined ? undefined : { kind: 'timer', for_ms }
  }
  const until = fields.text('until')
  if (until === undefined) return undefined
  if (!until.includes('${') && !isTime(until)) {
    return fields.error('until', `until is a time such as 2026-12-24T18:00:00Z, or \${…} that gives one`)
  }
  return { kind: 'timer', until }
}

/** With its zone: a time without one would be another in every process. */
function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
}

function readEvent(fields: Fields): Wait | undefined {
  only(fields, ['kind', 'event', 'domain', 'type', 'subject', 'match', 'since', 'timeout', 'timeout_ms'])
  const event = fields.has('event')
    ? fields.text('event')
    : fields.has('domain') && fields.has('type')
      ? `${fields.text('domain')}.${fields.text('type')}`
      : fields.error('kind', 'an event needs domain and type')
  const [, domain, type] = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_.]*)$/.exec(event ?? '') ?? []
  if (event !== undefined && domain === undefined) {
    fields.error('event', 'event is written domain.type, as in staging.record_approved')
  }
  const subject = fields.text('subject')
  const match = fields.value('match')
  if (match !== undefined && !isMap(match))
    fields.error('match', 'match is a map that the payload must contain')
  const since = fields.text('since')
  const timeout_ms = fields.duration('timeout', 1)
  if (domain === undefined || type === undefined) return undefined
  return {
    kind: 'event',
    domain,
    type,
    ...(subject !== undefined && { subject }),
    ...(isMap(match) && { match }),
    ...(since !== undefined && { since }),
    ...(timeout_ms !== undefined && { timeout_ms }),
  }
}

function readApproval(fields: Fields): Wait | undefined {
  only(fields, ['kind', 'approval', 'record', 'timeout', 'timeout_ms'])
  const record = fields.text(fields.has('approval') ? 'approval' : 'record')
  const timeout_ms = fields.duration('timeout', 1)
  if (record === undefined) return undefined
  return { kind: 'approval', record, ...(timeout_ms !== undefined && { timeout_ms }) }
}

function only(fields: Fields, allowed: readonly string[]): void {
  for (const key of Object.keys(fields.map)) {
    if (allowed.includes(key) || ![...KEYS, ...EXACT_KEYS].includes(key)) continue
    fields.findings.error(fields.at(key), `${key} has no meaning in this wait`, { key: true })
  }
}

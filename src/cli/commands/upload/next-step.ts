/** What to do next with an upload, and the exact command for it. */
import pc from 'picocolors'
import type { AppRole } from '../../../access/members.ts'
import type { Upload } from '../../../ingest/uploads.ts'
import { type Output, prose } from '../../output.ts'

export interface NextStep {
  readonly what: string
  readonly command: string
}

export interface Doer {
  readonly external: boolean
  readonly as?: AppRole | undefined
  readonly user?: string | undefined
}

type Says = (words: string) => string

export function nextSteps(upload: Upload, doer: Doer): NextStep[] {
  const look: Says = (words) => {
    const [name, ...rest] = words.split(' ')
    return ['stagedoor upload', name, upload.upload_id, ...rest].join(' ')
  }
  const change: Says = (words) => look(words) + nameOf(doer)
  switch (upload.status) {
    case 'reading':
      return [{ what: 'It is still being read; how far it is', command: look('show') }]
    case 'staged':
      return [
        ...(upload.invalid_count ? [{ what: 'See what is wrong', command: look('problems') }] : []),
        { what: 'Work out what it would change', command: change('plan') },
      ]
    case 'planned':
      return upload.plan_refusal === null
        ? afterPlan(upload, doer, look, change)
        : afterRefusal(upload, look, change)
    case 'promoted':
      return upload.undo_until && upload.undo_until > new Date()
        ? [{ what: `Take it back, until ${day(upload.undo_until)}`, command: undoCommand(upload, doer) }]
        : []
    case 'failed':
      return [{ what: 'Take it off the list', command: change('discard') }]
    default:
      return []
  }
}

function afterPlan(upload: Upload, doer: Doer, look: Says, change: Says): NextStep[] {
  const see = { what: 'See every change', command: look('plan --rows') }
  switch (upload.review_status) {
    case 'not_submitted':
      return [see, { what: 'Hand it to a colleague', command: change('submit') }]
    case 'pending':
      return [{ what: 'A colleague looks at it and decides', command: approveCommand(upload, doer) }]
    case 'rejected':
      return [
        { what: 'Correct a line', command: change('fix --line N --set "Header=value"') },
        { what: 'Or hand it in once more', command: change('submit') },
      ]
    case 'expired':
      return [{ what: 'Nobody decided in time; hand it in once more', command: change('submit') }]
    default:
      return [see, { what: 'Bring it into the tables', command: change('promote') }]
  }
}

function afterRefusal(upload: Upload, look: Says, change: Says): NextStep[] {
  if (upload.run_mode === 'FULL_DRY_RUN') {
    return [{ what: 'See every change that it would make', command: look('plan --rows') }]
  }
  if (!upload.invalid_count) {
    return [{ what: 'See which rows are refused, and why', command: look('plan --rows --action refused') }]
  }
  return [
    { what: 'See all that is wrong', command: look('problems --all') },
    { what: 'Export the wrong lines and correct them', command: look('export -o wrong-lines.csv') },
    { what: 'Bring the corrections in', command: change('fix --file wrong-lines.csv') },
    ...(upload.valid_count
      ? [
          {
            what: 'Or leave the wrong lines out',
            command: change(`plan --on-invalid skip${skipThreshold(upload)}`),
          },
        ]
      : []),
  ]
}

const USUAL_THRESHOLD = 0.9

/** The option without which leaving the wrong lines out would be refused again; nothing where the usual share will do. */
export function skipThreshold(upload: Upload): string {
  const valid = upload.valid_count ?? 0
  const lines = valid + (upload.invalid_count ?? 0)
  const share = (valid - refusedLines(upload)) / (lines || 1)
  return share >= USUAL_THRESHOLD ? '' : ` --threshold ${Math.floor(share * 100) / 100}`
}

/** Valid lines that cannot be taken all the same: it cannot be told which row they are. */
function refusedLines({ gate_mode, plan_totals, reading }: Upload): number {
  if (gate_mode !== 'LENIENT' || !reading) return 0
  return plan_totals?.[reading.layout.leaf]?.refused ?? 0
}

const MAY_STAGE: readonly AppRole[] = ['operator', 'reviewer', 'admin', 'agent']

/** Without a name a command is the server's own deed, which nobody would put down to a person. */
export function nameOf({ external, as, user }: Doer): string {
  if (user !== undefined) return ` --user ${user}`
  if (as !== undefined && MAY_STAGE.includes(as)) return ` --as ${as}`
  return external ? '' : ' --as operator'
}

/** On one's own database people decide with their own tokens. */
export function approveCommand({ upload_id: id }: Upload, { external }: Doer): string {
  return external
    ? `in the console, or POST /api/uploads/${id}/approve with the reviewer’s token`
    : `stagedoor upload approve ${id} --as reviewer`
}

function undoCommand({ upload_id: id }: Upload, { external }: Doer): string {
  return external ? `stagedoor upload undo ${id}` : `stagedoor upload undo ${id} --as reviewer`
}

export function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}

export function printNext(output: Output, steps: readonly NextStep[]): void {
  if (steps.length === 0) return
  output.line(`\n${pc.bold('Next')}`)
  for (const { what, command } of steps) {
    output.line(`  ${prose(what, { indent: 2 })}\n    ${pc.cyan(command)}`)
  }
}

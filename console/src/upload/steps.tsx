import type { ReactNode } from 'react'
import type { Progress, UploadDetail } from '../api/upload-types.ts'
import { Ago } from '../parts/ago.tsx'
import { Approvers } from '../parts/approvers.tsx'
import { count, counted, milliseconds } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { invalidText, lastPromotionFailure, stateOf } from './state.ts'

type Standing = 'done' | 'now' | 'running' | 'wrong' | 'ahead'

interface Step {
  readonly name: string
  readonly standing: Standing
  readonly fact: ReactNode
}

const SAID: Record<Standing, string> = {
  done: 'done',
  now: 'waiting for a person',
  running: 'running',
  wrong: 'something is wrong',
  ahead: 'not yet',
}

/** The steps of an upload with their results. */
interface Props {
  readonly upload: UploadDetail
  readonly progress: Progress | undefined
  /** True: production has changed since the plan was made. */
  readonly stale: boolean
}

export function Steps({ upload, progress, stale }: Props) {
  return (
    <ol className="steps" aria-label="Progress of the upload">
      {stepsOf(upload, progress, stale).map(({ name, standing, fact }) => (
        <li key={name} className={`is-${standing}`} aria-current={standing === 'now' ? 'step' : undefined}>
          <b>{name}</b>
          <span className="unseen"> ({SAID[standing]})</span>
          <small>{fact}</small>
        </li>
      ))}
    </ol>
  )
}

function stepsOf(upload: UploadDetail, progress: Progress | undefined, stale: boolean): Step[] {
  const { status } = upload
  const staged = upload.line_count !== null
  const planned = upload.plan_digest !== null
  const ended = status === 'promoted' || status === 'undone'
  const failed = status === 'failed'
  const checking = progress !== undefined && progress.stage !== 'read'
  return [
    {
      name: upload.proposal === null ? 'Read' : 'Work out',
      standing: staged || checking ? 'done' : failed ? 'wrong' : 'running',
      fact: staged ? readFact(upload) : failed ? stateOf(upload).word : 'counting lines',
    },
    {
      name: 'Check',
      standing: staged ? (isWrong(upload) ? 'wrong' : 'done') : checking ? 'running' : 'ahead',
      fact: staged ? checkFact(upload) : 'every line, every rule',
    },
    { name: 'Resolve', standing: planned ? 'done' : 'ahead', fact: resolveFact(upload) },
    {
      name: 'Plan',
      standing: stale ? 'wrong' : planned ? 'done' : status === 'staged' ? 'now' : 'ahead',
      fact: stale
        ? 'outdated'
        : planned
          ? `${milliseconds(upload.plan_took_ms ?? 0)} · digest ${upload.plan_digest?.slice(0, 4)}…`
          : 'what would change',
    },
    {
      name: 'Review',
      standing: stale ? 'ahead' : approveStanding(upload, ended),
      fact: <ApproveFact upload={upload} />,
    },
    {
      name: 'Promote',
      standing: ended
        ? 'done'
        : lastPromotionFailure(upload)
          ? 'wrong'
          : canPromote(upload) && !stale
            ? 'now'
            : 'ahead',
      fact: <PromoteFact upload={upload} />,
    },
  ]
}

function isWrong(upload: UploadDetail): boolean {
  return (upload.invalid_count ?? 0) > 0 && upload.status === 'planned' && upload.plan_refusal !== null
}

function canPromote(upload: UploadDetail): boolean {
  if (upload.status !== 'planned' || upload.plan_refusal !== null) return false
  return upload.review_status === 'approved' || !upload.approval_required
}

function approveStanding(upload: UploadDetail, ended: boolean): Standing {
  if (ended || canPromote(upload)) return 'done'
  if (upload.review_status === 'rejected') return 'wrong'
  return upload.status === 'planned' && upload.plan_refusal === null ? 'now' : 'ahead'
}

const DELIMITERS: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' }

function readFact({ reading, read_ms, proposal }: UploadDetail): string {
  if (proposal !== null) return `${milliseconds(proposal.took_ms)} · SQL`
  const { encoding, delimiter, format } = reading ?? {}
  const kind = format === 'csv' ? encoding : format?.toUpperCase()
  const between = delimiter ? (DELIMITERS[delimiter] ?? `“${delimiter}”`) : undefined
  const how = [kind, between].filter(Boolean).join(', ')
  return [read_ms !== null && milliseconds(read_ms), how].filter(Boolean).join(' · ')
}

function checkFact(upload: UploadDetail): string {
  const { invalid_count, warning_count, valid_count } = upload
  const parts = [
    invalid_count ? invalidText(upload).text : undefined,
    warning_count ? counted(warning_count, 'warning') : undefined,
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : `all ${count(valid_count ?? 0)} valid`
}

/** The row types above the leaf are what lines refer to: found in production, or new with this file. */
function resolveFact({ plan_totals, reading }: UploadDetail): string {
  if (plan_totals === null || !reading) return 'known and new'
  const parents = Object.entries(plan_totals).filter(([type]) => type !== reading.layout.leaf)
  if (parents.length === 0) return 'rows by their key'
  const sum = (...actions: string[]) =>
    parents.reduce(
      (total, [, rows]) => total + actions.reduce((part, action) => part + (rows[action] ?? 0), 0),
      0,
    )
  return `${count(sum('unchanged', 'update'))} known, ${count(sum('insert'))} new`
}

function ApproveFact({ upload }: { upload: UploadDetail }) {
  if (upload.approved_by !== null) {
    return (
      <>
        by <Approvers approvers={upload.approvers} />
      </>
    )
  }
  if (!upload.approval_required) return 'not required'
  switch (upload.review_status) {
    case 'approved':
      return 'approved'
    case 'rejected':
      return 'rejected'
    case 'expired':
      return 'the request expired'
    case 'not_submitted':
      return 'not submitted yet'
    default:
      return 'a second person'
  }
}

function PromoteFact({ upload }: { upload: UploadDetail }) {
  if (lastPromotionFailure(upload)) return 'failed'
  if (upload.promoted_by === null || upload.promoted_at === null) return 'one transaction'
  return (
    <>
      {upload.undone_at !== null ? 'undone ' : 'by '}
      {upload.undone_at !== null ? <Ago at={upload.undone_at} /> : <Person id={upload.promoted_by} />}
      {upload.undone_at === null && (
        <>
          , <Ago at={upload.promoted_at} />
        </>
      )}
    </>
  )
}

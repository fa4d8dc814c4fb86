/**
 * What people read when a webhook target is a chat or an address: number, title and counts of a change, and a link that opens it. Never a
 * value of the data, never the text of a comment. The job has references only; the rest is read when it is sent.
 */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { formatTime } from '../kernel/text.ts'
import type { JobContext } from './handlers.ts'
import type { Job } from './queue.ts'
import type { WebhookOptions } from './webhooks.ts'

/** The change that a job refers to. */
interface Notice {
  readonly number: number
  readonly title: string
  /** Action → rows, of the plan of an upload. */
  readonly rows: Readonly<Record<string, number>> | null
  readonly summary: string | null
  /** Of a record or a cut, which expires then; null: of an upload. */
  readonly decide_by: Date | null
}

/** Undefined: the job is not about a change of its workspace. */
export async function readNotice(context: JobContext, job: Job): Promise<Notice | undefined> {
  const { change_id } = job.payload
  if (typeof change_id !== 'string') return undefined
  const { rows } = await context.transaction((client) =>
    client.query<Notice>(
      `select c.number, c.title, iu_core.fn_review_requirement(c.change_id) ->> 'summary' as summary,
              (select jsonb_object_agg(t.action, t.rows) from (
                 select a.key as action, sum(a.value::bigint)::bigint as rows
                   from iu_core.ingest_plan p, jsonb_each(p.totals) t, jsonb_each_text(t.value) a
                  where p.upload_id = c.subject_id and c.kind = 'upload' group by 1) t) as rows,
              (select r.expires_at from iu_core.v_iu_staging_record r
                where r.staging_record_id = c.subject_id and c.kind <> 'upload' and r.lifecycle_status = 'pending') as decide_by
         from iu_core.change c where c.change_id = $1 and c.workspace_id = $2`,
      [change_id, job.workspace_id],
    ),
  )
  return rows[0]
}

interface MessageText {
  readonly title: string
  readonly lines: readonly string[]
  /** Undefined: PUBLIC_URL is not set, or it is about nothing that has a page. */
  readonly link: string | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  'review.waiting': 'waits for a review',
  'review.requested': 'is waiting for you: a review was requested, or somebody was mentioned',
  test: 'This is a test of a webhook target.',
}
const ACTIONS: Readonly<Record<string, string>> = {
  insert: 'new',
  update: 'changed',
  delete: 'deleted',
  skipped: 'left out',
  refused: 'refused',
}

export function noticeText(
  job: Job,
  notice: Notice | undefined,
  { publicUrl }: Pick<WebhookOptions, 'publicUrl'>,
): MessageText {
  const type = String(job.payload.type ?? job.payload.event_type ?? job.job_kind)
  const path =
    notice === undefined
      ? typeof job.payload.path === 'string'
        ? job.payload.path
        : undefined
      : `/changes/${notice.number}`
  const link =
    publicUrl === undefined || path === undefined ? undefined : `${publicUrl.replace(/\/$/, '')}${path}`
  if (notice === undefined)
    return { title: TYPES[type] ?? type, lines: job.target_ref ? [job.target_ref] : [], link }
  const counts = Object.entries(ACTIONS).flatMap(([action, word]) =>
    notice.rows?.[action] ? `${notice.rows[action]} ${word}` : [],
  )
  return {
    title: `#${notice.number} ${notice.title}`,
    lines: [
      `It ${TYPES[type] ?? type}.`,
      ...askedAgainText(job.payload.asked_again),
      ...(counts.length > 0 ? [`Rows: ${counts.join(', ')}.`] : []),
      ...(notice.summary === null ? [] : [`Review: ${notice.summary}.`]),
      ...(notice.decide_by === null ? [] : [`Decide by: ${formatTime(notice.decide_by)}.`]),
    ],
    link,
  }
}

/** It was approved before, and has changed since: how much of it. */
function askedAgainText(since: unknown): string[] {
  if (typeof since !== 'object' || since === null) return []
  const { same, different = 0, added = 0 } = since as Record<string, number | undefined>
  if (same === undefined) return ['You are asked again: the plan is another one.']
  return [
    `You are asked again. Since the last approval ${same} rows are the same and ${different + added} are different or new.`,
  ]
}

const escapeSlack = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Adaptive cards read Markdown. */
const escapeMarkdown = (text: string) => text.replace(/[\\`*_{}[\]()#+!|~>-]/g, '\\$&')

export const MESSAGE_BODIES = {
  slack({ title, lines, link }: MessageText): string {
    const head = link === undefined ? `*${escapeSlack(title)}*` : `*${escapeSlack(title)}*\n<${link}|Open it>`
    const text = [head, ...lines.map(escapeSlack)].join('\n')
    return JSON.stringify({
      text: escapeSlack(title),
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: text.slice(0, 3000) } }],
    })
  },
  teams({ title, lines, link }: MessageText): string {
    const block = (text: string, more: object = {}) => ({
      type: 'TextBlock',
      text: escapeMarkdown(text),
      wrap: true,
      ...more,
    })
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [block(title, { weight: 'Bolder', size: 'Medium' }), ...lines.map((line) => block(line))],
      ...(link !== undefined && { actions: [{ type: 'Action.OpenUrl', title: 'Open it', url: link }] }),
    }
    return JSON.stringify({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
    })
  },
} as const

const MAIL_TIMEOUT_MS = 15_000

/** Where an e-mail of a target goes to: its address, or those of the people whose review is requested. Throws where it must not go. */
export async function mailRecipients(
  db: Queryable,
  job: Pick<Job, 'payload'>,
  { code, url }: { readonly code: string; readonly url: string },
  domains: readonly string[],
): Promise<string[]> {
  if (url !== REVIEWERS_URL) {
    await requireMailDomain(db, { code, url }, domains)
    return [url.slice('mailto:'.length)]
  }
  if (typeof job.payload.change_id !== 'string') return []
  const { rows } = await db.query<{ email: string }>(
    'select email from iu_core.fn_change_reviewer_emails($1) as email',
    [job.payload.change_id],
  )
  // Of members, whom the identity provider knows: a list of domains limits them, too.
  return rows
    .map(({ email }) => email)
    .filter((email) => domains.length === 0 || domains.includes(domainOf(email)))
}

/** The target that sends to the people whose review is requested. */
const REVIEWERS_URL = 'mailto:{reviewers}'

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** Refuses an address of a domain that is neither listed nor, where no list is set, that of a member's address. */
export async function requireMailDomain(
  db: Queryable,
  { code, url }: { readonly code: string; readonly url: string },
  domains: readonly string[],
): Promise<void> {
  if (url === REVIEWERS_URL) return
  const domain = domainOf(url)
  if (domains.includes(domain)) return
  if (domains.length === 0) {
    const { rows } = await db.query<{ ours: boolean }>(
      'select iu_core.fn_mail_domain_is_ours($1, $2) as ours',
      [code, domain],
    )
    if (rows[0]!.ours) return
  }
  throw new StagedoorError(
    'argument_invalid',
    {
      reason: `No e-mail goes to ${domain}: ${domains.length === 0 ? 'no member has a verified address there' : `STAGEDOOR_MAIL_DOMAINS names ${domains.join(', ')}`}`,
    },
    { hint: `Set STAGEDOOR_MAIL_DOMAINS=${[...domains, domain].join(',')} for the server and its workers.` },
  )
}

/** One e-mail. Every attempt has the same Message-ID, so that a mail server can tell that it is the same. */
export async function sendMail(
  job: Job,
  recipients: readonly string[],
  notice: Notice | undefined,
  options: Pick<WebhookOptions, 'smtpUrl' | 'mailFrom' | 'publicUrl'>,
): Promise<void> {
  if (options.smtpUrl === undefined)
    throw new Error('SMTP_URL is not set for this worker: no e-mail can be sent')
  const { createTransport } = await import('nodemailer')
  const { title, lines, link } = noticeText(job, notice, options)
  const from = options.mailFrom ?? 'Stagedoor <stagedoor@localhost>'
  const host = /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost'
  const transport = createTransport(options.smtpUrl, { from })
  const timer = setTimeout(() => transport.close(), MAIL_TIMEOUT_MS)
  try {
    await transport.sendMail({
      // Members do not see each other's addresses.
      ...(recipients.length === 1 ? { to: recipients[0]! } : { to: 'Reviewers:;', bcc: [...recipients] }),
      subject: `[Stagedoor] ${title}`,
      text: [...lines, ...(link === undefined ? [] : ['', link]), ''].join('\n'),
      messageId: `<${job.job_id}@${host}>`,
      headers: { 'auto-submitted': 'auto-generated' },
    })
  } catch (error) {
    // The address of the server may hold a password.
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    throw new Error(
      `The mail server did not take the e-mail: ${[code, responseCode].filter(Boolean).join(' ') || 'unknown error'}`,
    )
  } finally {
    clearTimeout(timer)
    transport.close()
  }
}

/** `stagedoor change approve`, `request-changes`, …: reviews of a change, and how it stands. */
import pc from 'picocolors'
import { requireChange } from '../changes/changes.ts'
import {
  type ChangeReview,
  dismissReview,
  listReviews,
  type NewReview,
  type ReviewStanding,
  readStanding,
  requireReview,
  reviewChange,
} from '../changes/reviews.ts'
import type { Change } from '../changes/shapes.ts'
import { argumentInvalid, MIN_DIGEST_LENGTH, parseDigest, parseList } from './arguments.ts'
import { command } from './command.ts'
import { formatAge } from './format.ts'
import { changeId } from './ids.ts'
import type { MemberNames, Session, SessionOptions } from './session.ts'
import type { Output } from './terminal.ts'
import { printableLine } from './text.ts'

const reviewVerb = (name: string, description: string) =>
  command(name, description)
    .argument('<change>', 'its number, its id, or the id of its upload or record', changeId)
    .actor()
    .about('change')

export const approveCommand = () =>
  reviewVerb('approve', 'approve exactly what you saw')
    .option(
      '--digest <digest>',
      `as \`change show\` prints it; its first ${MIN_DIGEST_LENGTH} characters are enough`,
      parseDigest('change show'),
    )
    .option('--tick <items>', 'items of the checklist that you reviewed, separated by commas', parseList)
    .option('--comment <text>', 'a comment with it')
    .run(async (session, id) => {
      const { digest, tick, comment } = session.options
      await review(session, id, 'Approved', { verdict: 'approve', digest, ticked: tick, body: comment })
    })

export const requestChangesCommand = () =>
  reviewVerb('request-changes', 'say what must change first; it blocks until you approve or withdraw')
    .argument('<text>', 'what must change: Markdown')
    .option(
      '--digest <digest>',
      `as \`change show\` prints it; its first ${MIN_DIGEST_LENGTH} characters are enough`,
      parseDigest('change show'),
    )
    .run(async (session, id, body) => {
      const { digest } = session.options
      await review(session, id, 'Changes requested', { verdict: 'request_changes', digest, body })
    })

export const withdrawReviewCommand = () =>
  reviewVerb('withdraw-review', 'take your approval or your request for changes back').run(
    async (session, id) => review(session, id, 'Withdrawn', { verdict: 'withdraw' }),
  )

export const dismissReviewCommand = () =>
  reviewVerb('dismiss-review', 'an administrator dismisses a review: it counts and blocks no longer')
    .argument('<review>', 'its id, as `change reviews` shows it')
    .requiredOption('--reason <text>', 'why')
    .run(async (session, id, reviewId) => {
      const { output, decide, options } = session
      const standing = await decide(async (client) => {
        const { change_id } = await requireChange(client, id)
        await requireReview(client, change_id, reviewId)
        return dismissReview(client, reviewId, options.reason)
      })
      output.result(standing, () => output.done(`Dismissed: ${standing.summary}`))
    })

export const reviewsCommand = () =>
  reviewVerb('reviews', 'who approved, who counts, what is missing, and which rules of the policy apply').run(
    async ({ output, transaction, memberNames }, id) => {
      const { change, standing, reviews } = await transaction(async (client) => {
        const found = await requireChange(client, id)
        return {
          change: found,
          standing: await readStanding(client, found.change_id),
          reviews: await listReviews(client, found.change_id),
        }
      })
      const names = output.json ? String : await memberNames(change.workspace_id)
      output.result({ standing, reviews }, () => printReviews(output, standing, reviews, names))
    },
  )

async function review(
  { output, decide }: Session<SessionOptions>,
  id: string,
  done: string,
  given: NewReview,
): Promise<void> {
  const standing = await decide(async (client) => {
    const change = await requireChange(client, id)
    const digest = given.verdict === 'withdraw' ? undefined : digestOf(change, given)
    return reviewChange(client, change.change_id, { ...given, digest })
  })
  output.result(standing, () => output.done(`${done}: ${standing.summary}`))
}

/** Whoever approves says what they saw; a request for changes is about what is there now where it says nothing else. */
function digestOf({ digest, number }: Change, { verdict, digest: seen }: NewReview): string | undefined {
  if (seen !== undefined) return digest?.startsWith(seen) ? digest : seen
  if (verdict !== 'approve') return digest ?? undefined
  throw argumentInvalid(
    'Say what you saw with --digest',
    `\`stagedoor change show ${number}\` prints the digest.`,
  )
}

function printReviews(
  output: Output,
  standing: ReviewStanding,
  reviews: readonly ChangeReview[],
  names: MemberNames,
): void {
  output[standing.met ? 'done' : 'warn'](`#${standing.change}: ${standing.summary}`)
  const { policy, roles } = standing
  output.dim(
    policy === null
      ? '  No review policy applies.'
      : `  Policy ${policy.dataset ?? policy.kind ?? 'of the workspace'}, revision ${policy.revision}${roles.length > 0 ? `; only ${roles.join(' and ')} count` : ''}`,
  )
  for (const { name, why } of standing.rules)
    output.line(`  ${pc.yellow('▲')} ${name === null ? '' : `${printableLine(name)}: `}${printableLine(why)}`)
  const notCounting = new Map(standing.reviews.map(({ review_id, reason }) => [review_id, reason]))
  for (const one of reviews) {
    const ended = one.dismissed_reason && `dismissed: ${printableLine(one.dismissed_reason)}`
    const reason = ended ?? notCounting.get(one.review_id)
    const mark = reason ? pc.dim('○') : one.verdict === 'approve' ? pc.green('✔') : pc.red('✖')
    output.line(
      `  ${one.verdict === 'comment' ? pc.dim('·') : mark} ${one.verdict.replace('_', ' ')} by ${names(one.reviewer)}  ${pc.dim(`${formatAge(one.at)} ago  ${one.review_id}`)}${reason ? pc.dim(`  ${reason}`) : ''}`,
    )
  }
}

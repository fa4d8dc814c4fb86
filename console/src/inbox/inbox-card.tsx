import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { InboxLines, MarkAllRead } from './inbox-lines.tsx'
import { useHasInbox, useInbox } from './use-inbox.ts'

const SHOWN = 6

/** On the overview: the first of what concerns the signed-in person. */
export function InboxCard() {
  const inbox = useInbox()
  if (!useHasInbox()) return null
  const { data, failure } = inbox
  const again = () => void inbox.refresh()
  const all = (data?.to_do ?? 0) + (data?.unread ?? 0)
  return (
    <Card id="for-you" title="For you" aside={data && <MarkAllRead inbox={data} changed={again} />}>
      <FailureNote failure={failure} />
      {data === undefined && failure === undefined && <p className="empty">Loading…</p>}
      {data?.matters.length === 0 && (
        <p className="empty">
          Nothing is asked of you. Reviews, mentions, replies and what became of your changes come here.
        </p>
      )}
      {data && <InboxLines matters={data.matters.slice(0, SHOWN)} changed={again} />}
      {all > SHOWN && (
        <div className="card-foot">
          <p className="tiny">
            {SHOWN} of {all}.{' '}
            <a className="link" href="/inbox">
              Show all
            </a>
          </p>
        </div>
      )}
    </Card>
  )
}

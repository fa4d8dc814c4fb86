import { PageHead } from '../frame/page-head.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { useParameter } from '../route.ts'
import { InboxLines, MarkAllRead } from './inbox-lines.tsx'
import { useHasInbox } from './use-inbox.ts'

/** What is to be done, then news of the last 30 days. */
export default function InboxPage() {
  const [show, setShow] = useParameter('show')
  const isAll = show === 'all'
  const inbox = useLiveQuery(isAll ? ['inbox', 'all'] : ['inbox'], (api) => api.changes.inbox(isAll), {
    enabled: useHasInbox(),
  })
  const { data, failure } = inbox
  const again = () => void inbox.refresh()
  const toDo = data?.matters.filter(({ to_do }) => to_do) ?? []
  const news = data?.matters.filter(({ to_do }) => !to_do) ?? []
  const left =
    data === undefined ? 0 : data.to_do + data.unread - data.matters.filter((one) => one.unread).length
  return (
    <>
      <PageHead title="For you" />
      <FailureNote failure={failure} />
      <div className="stack">
        <Card
          id="to-do"
          title="To do"
          aside={data && <span className="tiny">{counted(data.to_do, 'thing')} to do</span>}
        >
          {data === undefined && failure === undefined && <p className="empty">Loading…</p>}
          {data && toDo.length === 0 && (
            <p className="empty">
              Nothing is asked of you. Reviews, requested changes, requests to undo and outdated plans stay
              here until they are done.
            </p>
          )}
          <InboxLines matters={toDo} changed={again} />
        </Card>
        <Card
          id="news"
          title="News"
          aside={
            <span className="change-buttons">
              <button
                type="button"
                className="button is-small"
                onClick={() => setShow(isAll ? undefined : 'all')}
              >
                {isAll ? 'Hide what I have read' : 'Show what I have read'}
              </button>
              {data && <MarkAllRead inbox={data} changed={again} />}
            </span>
          }
        >
          {data && news.length === 0 && (
            <p className="empty">
              {isAll ? 'There was no news in the last 30 days.' : 'There is no news that you have not read.'}
            </p>
          )}
          <InboxLines matters={news} changed={again} />
          {left > 0 && (
            <div className="card-foot">
              <p className="tiny">{counted(left, 'more line')} after these: mark some as read.</p>
            </div>
          )}
        </Card>
      </div>
    </>
  )
}

import { counted } from '../parts/format.ts'
import { useHasInbox, useInbox } from './use-inbox.ts'

/** In the top bar: how much is to be done and unread. */
export function InboxCount() {
  const { data } = useInbox()
  if (!useHasInbox()) return null
  const { to_do = 0, unread = 0 } = data ?? {}
  return (
    <a
      className="top-inbox"
      href="/inbox"
      title={`${counted(to_do, 'thing')} to do, ${unread} unread`}
      data-todo={to_do > 0 || undefined}
    >
      <span className="top-inbox-name">For you</span>{' '}
      <span className="top-count" role="status">
        {to_do + unread}
      </span>
    </a>
  )
}

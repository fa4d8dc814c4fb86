import { useEffect, useRef } from 'react'
import type { Change, ChangeComment } from '../api/changes.ts'
import { useSession } from '../session/session.tsx'
import { useInbox } from './use-inbox.ts'

/** Marks mentions and replies of a change as read when their comments are on the screen. */
export function useReadWhenShown(change: Change, comments: readonly ChangeComment[] | undefined): void {
  const { api } = useSession()
  const inbox = useInbox()
  const marked = useRef('')
  const isShown = (id: string | null) => id === null || comments?.some(({ comment_id }) => comment_id === id)
  const news = (inbox.data?.matters ?? []).filter(
    ({ change_id, matter, unread, comment_id }) =>
      change_id === change.change_id &&
      (matter === 'mentioned' || matter === 'replied') &&
      unread &&
      isShown(comment_id),
  )
  const key = news.map(({ matter, seen }) => `${matter} ${seen}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what the matters are
  useEffect(() => {
    if (comments === undefined || key === '' || key === marked.current || document.hidden) return
    // One try: what could not be marked stays unread, and the page for it has the button and the reason.
    marked.current = key
    void api.changes.markRead(news).then(inbox.refresh, () => undefined)
  }, [key, comments === undefined])
}

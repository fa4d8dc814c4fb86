import { useNow } from '../live/now.ts'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time as people say it, with the exact one on hover. */
export function Ago({ at }: { at: string | number }) {
  const now = useNow()
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>at an unknown time</span>
  return (
    <time className="ago" dateTime={date.toISOString()} title={exact.format(date)}>
      {ago(date.getTime(), now)}
    </time>
  )
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "12 s ago". A time ahead of ours is a clock that differs, not the future. */
function ago(at: number, now: number): string {
  const seconds = Math.floor((now - at) / 1000)
  if (seconds < 2) return 'just now'
  if (seconds < MINUTE) return `${seconds} s ago`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`
  return `${Math.floor(seconds / DAY)} d ago`
}

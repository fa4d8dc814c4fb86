import { ago } from '../live/ago.ts'
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

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "12 s ago". A time ahead of ours is a clock that differs, not the future. */
export function ago(at: number, now: number): string {
  const seconds = Math.floor((now - at) / 1000)
  if (seconds < 2) return 'just now'
  if (seconds < MINUTE) return `${seconds} s ago`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`
  return `${Math.floor(seconds / DAY)} d ago`
}

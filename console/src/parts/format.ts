const whole = new Intl.NumberFormat('en')
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

export function count(value: number): string {
  return whole.format(value)
}

/** "1 row", "2,000 rows". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = value
  let unit = -1
  do {
    size /= 1000
    unit += 1
  } while (size >= 1000 && unit < units.length - 1)
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`
}

export function milliseconds(value: number): string {
  return value < 1000 ? `${value} ms` : `${(value / 1000).toFixed(1)} s`
}

/** Of any length: 340 ms, 2.5 s, 12 min, 3 h 20 min. */
export function duration(value: number): string {
  if (value < 59_950) return milliseconds(Math.max(0, value))
  const minutes = Math.round(value / 60_000)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${count(Math.floor(minutes / 60))} h${rest === 0 ? '' : ` ${rest} min`}`
}

export function onDay(at: string): string {
  return day.format(new Date(at))
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** With the time of day, where something ends then. */
export function atTime(at: string): string {
  return moment.format(new Date(at))
}

/** A hash as people compare it: its beginning, in groups. */
export function shortHash(hash: string, groups = 2): string {
  return (hash.slice(0, groups * 4).match(/.{4}/g) ?? [hash]).join(' ')
}

/** Numbers, times and lists of words, as people read them. */

/** 1 line, 2 lines, 1,000 lines */
export function plural(count: number | null, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** 5 s, 38 min, 3 h, 2 d */
export function formatAge(since: Date, now = new Date()): string {
  const seconds = Math.max(0, Math.round((now.getTime() - since.getTime()) / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

export function formatBytes(count: number): string {
  if (count < 1024) return `${count} B`
  return count < 1_048_576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`
}

export function formatCount(number: number | null): string {
  return (number ?? 0).toLocaleString('en')
}

/** 5 s ago, in 12 s */
export function formatRelativeTime(time: Date, now = new Date()): string {
  if (time <= now) return `${formatAge(time, now)} ago`
  return `in ${formatAge(now, time)}`
}

/** Between two moments: 3 ms, 1.2 s, 4 min */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return formatAge(new Date(0), new Date(ms))
}

export function formatDate(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** Those of the words that there are. */
export function joinWords(
  words: readonly (string | number | false | null | undefined)[],
  separator = ', ',
): string {
  return words.filter(Boolean).join(separator)
}

/** A word that can be pasted into a shell. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** by Rita 2 min ago, Ron 1 min ago */
export function approversText(
  approvers: readonly { readonly reviewer: string; readonly at: string }[],
  names: (actor: string) => string,
): string {
  return `by ${approvers.map(({ reviewer, at }) => `${names(reviewer)} ${formatAge(new Date(at))} ago`).join(', ')}`
}

/** A unified diff as rows: lines that were replaced stand beside each other, with the words in them that changed. */
export interface DiffLine {
  readonly number: number
  readonly parts: readonly DiffPart[]
}
interface DiffPart {
  readonly text: string
  readonly changed: boolean
}
export type DiffRow =
  | { readonly kind: 'gap'; readonly text: string }
  | {
      readonly kind: 'same' | 'changed'
      readonly old: DiffLine | undefined
      readonly now: DiffLine | undefined
    }

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

export function readDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = []
  let old = 0
  let now = 0
  let removed: { number: number; text: string }[] = []
  let added: { number: number; text: string }[] = []
  let inHunk = false

  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const before = removed[index]
      const after = added[index]
      const [left, right] = compareLines(before?.text, after?.text)
      rows.push({
        kind: 'changed',
        old: before && { number: before.number, parts: left },
        now: after && { number: after.number, parts: right },
      })
    }
    removed = []
    added = []
  }

  for (const line of diff.split('\n')) {
    const hunk = HUNK.exec(line)
    if (hunk) {
      flush()
      old = Number(hunk[1])
      now = Number(hunk[2])
      if (old > 1 || inHunk) rows.push({ kind: 'gap', text: `line ${now}` })
      inHunk = true
    } else if (!inHunk) {
      // The names of both sides; and the sentence that stands for a diff that is too large to compute.
      if (line.startsWith('(')) rows.push({ kind: 'gap', text: line.slice(1, -1) })
    } else if (line.startsWith('-')) removed.push({ number: old++, text: line.slice(1) })
    else if (line.startsWith('+')) added.push({ number: now++, text: line.slice(1) })
    else if (line.startsWith(' ')) {
      flush()
      const parts = [{ text: line.slice(1), changed: false }]
      rows.push({ kind: 'same', old: { number: old++, parts }, now: { number: now++, parts } })
    }
  }
  flush()
  return rows
}

/** The words between the common beginning and the common end of two lines are what changed. */
function compareLines(
  old: string | undefined,
  now: string | undefined,
): readonly [readonly DiffPart[], readonly DiffPart[]] {
  if (old === undefined || now === undefined) return [whole(old), whole(now)]
  const left = old.split(/(\s+)/)
  const right = now.split(/(\s+)/)
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end++
  // Lines that share nothing are not compared word by word.
  if (start === 0 && end === 0) return [whole(old), whole(now)]
  return [split(left, start, end), split(right, start, end)]
}

function whole(text: string | undefined): readonly DiffPart[] {
  return text === undefined ? [] : [{ text, changed: true }]
}

function split(words: readonly string[], start: number, end: number): DiffPart[] {
  const parts = [
    { text: words.slice(0, start).join(''), changed: false },
    { text: words.slice(start, words.length - end).join(''), changed: true },
    { text: words.slice(words.length - end).join(''), changed: false },
  ]
  return parts.filter(({ text }) => text !== '')
}

/** Which of two sets of texts are the same text, changed. */

export interface Likeness {
  readonly before: number
  readonly now: number
  /** 1: the same words in the same order. */
  readonly score: number
}

/** A pair of words that more texts than this share tells none of them apart. */
const COMMON = 40

/** Pairs of texts that share at least `threshold` of their words' pairs, the most alike first. */
export function likenesses(before: readonly string[], now: readonly string[], threshold: number): Likeness[] {
  const holders = new Map<string, number[]>()
  const sizes = before.map((text, index) => {
    const pairs = pairsOf(text)
    for (const pair of pairs) {
      const those = holders.get(pair)
      if (those) those.push(index)
      else holders.set(pair, [index])
    }
    return pairs.size
  })
  const found: Likeness[] = []
  now.forEach((text, index) => {
    const pairs = pairsOf(text)
    const shared = new Map<number, number>()
    for (const pair of pairs) {
      const those = holders.get(pair)
      if (those === undefined || those.length > COMMON) continue
      for (const one of those) shared.set(one, (shared.get(one) ?? 0) + 1)
    }
    for (const [one, count] of shared) {
      const score = (2 * count) / (sizes[one]! + pairs.size)
      if (score >= threshold) found.push({ before: one, now: index, score })
    }
  })
  return found.sort((a, b) => b.score - a.score || a.before - b.before || a.now - b.now)
}

/** How much of another text is in this one: 1, if all pairs of its words are. */
export function shareOf(whole: string): (text: string) => number {
  const there = pairsOf(whole)
  return (text) => {
    const pairs = [...pairsOf(text)]
    return pairs.length === 0 ? 0 : pairs.filter((pair) => there.has(pair)).length / pairs.length
  }
}

/** Words in pairs; of scripts without spaces, characters. A text of one word is that word. */
function pairsOf(text: string): Set<string> {
  const words =
    text.toLowerCase().match(/\p{sc=Han}|\p{sc=Hiragana}|\p{sc=Katakana}|\p{sc=Thai}|[\p{L}\p{N}\p{M}]+/gu) ??
    []
  if (words.length < 2) return new Set(words)
  return new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`))
}

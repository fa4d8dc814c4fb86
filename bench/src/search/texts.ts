/** Texts as people's are: few words often, many rarely, and those of one topic together. The same for the same seed. */
import type { Text } from './projected.ts'

const TOPICS = 40
const WORDS = 30_000
const TOPIC_WORDS = 300
const SYLLABLES = [
  'ka',
  'lo',
  'mi',
  'ren',
  'tu',
  'sa',
  'ver',
  'no',
  'pli',
  'da',
  'gro',
  'be',
  'fin',
  'ol',
  'us',
  'tar',
]

/** mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function wordOf(number: number): string {
  let word = ''
  for (let rest = number + 16; rest > 0; rest = Math.floor(rest / 16)) word += SYLLABLES[rest % 16]
  return word
}

/** By Zipf: the first of `count` comes most often. */
const zipf = (random: () => number, count: number) => Math.floor(count ** random()) - 1

export function makeTexts(count: number, seed: number): Text[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, number) => {
    const topic = Math.floor(random() * TOPICS)
    const length = 60 + Math.floor(random() * 120)
    const words = Array.from({ length }, () => wordIn(topic, random))
    return { address: `bench/u${number}`, topic: `topic_${topic}`, body: sentences(words) }
  })
}

function wordIn(topic: number, random: () => number): string {
  return random() < 0.4
    ? wordOf(WORDS + topic * TOPIC_WORDS + zipf(random, TOPIC_WORDS))
    : wordOf(zipf(random, WORDS))
}

function sentences(words: readonly string[]): string {
  const out: string[] = []
  for (let from = 0; from < words.length; from += 12) out.push(`${words.slice(from, from + 12).join(' ')}.`)
  return out.join(' ')
}

export interface Asked {
  readonly text: string
  /** What it is about. */
  readonly about: string
  /** A filter; every third has one. */
  readonly topic?: string
}

export function makeQuestions(count: number, seed: number): Asked[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, number) => {
    const topic = Math.floor(random() * TOPICS)
    const length = 3 + Math.floor(random() * 6)
    const text = Array.from({ length }, () => wordIn(topic, random)).join(' ')
    const about = `topic_${topic}`
    return number % 3 === 2 ? { text, about, topic: about } : { text, about }
  })
}

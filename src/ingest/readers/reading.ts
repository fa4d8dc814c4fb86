/** What a reader is asked for and what it answers, whatever the format. */
import type { Encoding } from './encoding.ts'

/** A TSV is a CSV with a tab. */
export type Format = 'csv' | 'jsonl' | 'json' | 'parquet' | 'xlsx'

export interface ReadOptions {
  /** Else by content, never by the name alone. */
  format?: Format
  encoding?: Encoding
  delimiter?: string
  /** Names of the columns of a CSV that has no header. */
  columns?: readonly string[]
  /** Of an xlsx; else the first one with data. */
  sheet?: string
  /** True for a header name the dataset knows: finds the header under title lines. */
  knowsHeader?: (name: string) => boolean
  maxLines?: number
  chunkLines?: number
  signal?: AbortSignal
  onProgress?: (progress: ReadProgress) => void
}

export interface ReadProgress {
  bytes: number
  total: number
  lines: number
}

/** About the whole file. */
export interface FileNote {
  rule: string
  message: string
  line?: number
  count?: number
}

export interface NormalisedFile {
  format: Format
  /** As found, for people. */
  encoding: string
  delimiter: string | null
  /** Title and date lines above the header. */
  preamble: { line: number; text: string }[]
  headerLine: number
  /** Duplicates are kept; an empty name becomes its column's number. */
  headers: string[]
  /** Data records. */
  lines: number
  /** Paths, in order. */
  chunks: string[]
  notes: FileNote[]
}

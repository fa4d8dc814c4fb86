/** Units of the library: those of the room, and the way from a document to them through staging. */
import type { Client } from '../db/connection.ts'
import type { Transaction } from '../units/conflicts.ts'
import { type Cut, cutFromManifest } from '../units/cut.ts'
import { type Units as Room, unitsLibrary } from '../units/library.ts'
import type { EditedManifest, StagedMarking } from './marked.ts'
import type { NewMark, StagedMark } from './marking.ts'

export interface Units extends Room {
  /** Marks a Markdown document and stages the proposal; a person approves it. The same again finds its record. */
  mark(mark: NewMark): Promise<StagedMark>
  /** Stages a manifest that somebody changed; positions and hashes are taken anew. */
  markAs(edited: EditedManifest): Promise<StagedMark>
  /** The pieces beside their text, for whoever decides. */
  marking(record: string): Promise<StagedMarking>
  /** Cuts what was approved into units, in one transaction. `digest` is the one that was approved. */
  cut(record: string, digest: string, options?: { client?: Client }): Promise<Cut>
}

interface Surroundings {
  readonly worker: Transaction
  readonly statement: Transaction
  readonly service: Transaction
}

// Loaded with the first document: parser and schema take a third of a second, and most programs mark nothing.
const marking = () => import('./marking.ts')
const marked = () => import('./marked.ts')

export function unitsOf({ worker, statement, service }: Surroundings): Units {
  return {
    ...unitsLibrary({ worker, statement, service }),
    async mark(mark) {
      const { stageMark } = await marking()
      return stageMark(worker, mark)
    },
    async markAs(edited) {
      const { stageEditedManifest } = await marked()
      return stageEditedManifest(worker, edited)
    },
    async marking(record) {
      const { readMarking } = await marked()
      return worker((client) => readMarking(client, record))
    },
    cut: (record, digest, { client } = {}) =>
      client
        ? cutFromManifest(client, record, digest)
        : statement((own) => cutFromManifest(own, record, digest)),
  }
}

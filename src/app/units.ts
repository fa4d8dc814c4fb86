/** Units of the library: the functions of the room, and the way from a document to units through staging. */
import type { Client } from '../kernel/postgres/connection.ts'
import { type Cut, cutFromManifest } from '../units/cut.ts'
import { type Units as Room, unitsLibrary } from '../units/library.ts'
import type { Transaction } from '../units/units.ts'
import type { EditedManifest, NewMark, StagedMark, StagedMarking } from './marking.ts'

export interface Units extends Room {
  /** Marks a Markdown document and stages the proposal; a person approves it. The same again finds its record. */
  mark(mark: NewMark): Promise<StagedMark>
  /** Stages a manifest that somebody edited; positions and hashes are computed again. */
  markAs(edited: EditedManifest): Promise<StagedMark>
  /** A staged marking with the text of each piece, for the reviewer. */
  marking(record: string): Promise<StagedMarking>
  /** Cuts an approved record into units, in one transaction. `digest` is the one that was approved. */
  cut(record: string, digest: string, options?: { client?: Client }): Promise<Cut>
}

interface UnitsDeps {
  readonly worker: Transaction
  readonly statement: Transaction
  readonly service: Transaction
}

// Loaded with the first document: parser and schema take a third of a second, and most programs mark nothing.
const marking = () => import('./marking.ts')

export function unitsOf({ worker, statement, service }: UnitsDeps): Units {
  return {
    ...unitsLibrary({ worker, statement, service }),
    async mark(mark) {
      const { stageMark } = await marking()
      return stageMark(worker, mark)
    },
    async markAs(edited) {
      const { stageEditedManifest } = await marking()
      return stageEditedManifest(worker, edited)
    },
    async marking(record) {
      const { readMarking } = await marking()
      return worker((client) => readMarking(client, record))
    },
    cut: (record, digest, { client } = {}) =>
      client
        ? cutFromManifest(client, record, digest)
        : statement((own) => cutFromManifest(own, record, digest)),
  }
}

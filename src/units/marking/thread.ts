/** The thread of beside.ts: marks one document, says what came of it, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { StagedoorError } from '../../errors.ts'
import type { Answer, Question } from './beside.ts'
import { markDocument } from './mark.ts'

const { given, options } = workerData as Question
parentPort!.postMessage(answer())

function answer(): Answer {
  try {
    // A Buffer arrives as the plain bytes that it is made of.
    return { marking: markDocument(typeof given === 'string' ? given : Buffer.from(given), options) }
  } catch (error) {
    if (!(error instanceof StagedoorError)) throw error
    return { refused: error.details, hint: error.hint }
  }
}

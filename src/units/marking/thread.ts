/** The worker thread of in-thread.ts: marks one document, posts the result, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Answer, Question } from './in-thread.ts'
import { markDocument } from './mark.ts'

const { given, options } = workerData as Question
parentPort!.postMessage(answer())

function answer(): Answer {
  try {
    // A Buffer arrives as a Uint8Array.
    return { marking: markDocument(typeof given === 'string' ? given : Buffer.from(given), options) }
  } catch (error) {
    if (!(error instanceof StagedoorError)) throw error
    return { refused: error.details, hint: error.hint }
  }
}

/** The worker thread of fit.ts: fits one corpus, posts the model, and ends. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type Corpus, fitLsa } from './fit.ts'

// Questions go first. On Linux a thread has a priority of its own; elsewhere this would slow the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW)

const model = fitLsa(workerData as Corpus)
parentPort!.postMessage(model, [model.weights.buffer as ArrayBuffer, model.projection.buffer as ArrayBuffer])

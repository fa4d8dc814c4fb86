/** The thread of beside.ts: fits one corpus, hands over the model, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Corpus } from './corpus.ts'
import { fitLsa } from './fitting.ts'

const model = fitLsa(workerData as Corpus)
parentPort!.postMessage(model, [model.weights.buffer as ArrayBuffer, model.projection.buffer as ArrayBuffer])

/** The worker thread of fit.ts: fits one corpus, posts the model, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Corpus, fitLsa } from './fit.ts'

const model = fitLsa(workerData as Corpus)
parentPort!.postMessage(model, [model.weights.buffer as ArrayBuffer, model.projection.buffer as ArrayBuffer])

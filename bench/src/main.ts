/** The benchmarks' command: stdout is the result, stderr is for the person who waits. */
import { agents } from './agents/agents.ts'
import { readArguments, usage } from './arguments.ts'
import type { Benchmark } from './benchmark.ts'
import { wrong } from './criteria.ts'
import { dispatch } from './dispatch/dispatch.ts'
import { BenchError } from './errors.ts'
import { fanout } from './fanout/fanout.ts'
import { growth } from './growth/growth.ts'
import { runBenchmark } from './harness.ts'
import { idle } from './idle/idle.ts'
import { ingest } from './ingest/ingest.ts'
import { initQuality } from './init/quality.ts'
import { jobs } from './jobs/jobs.ts'
import { jobsSnapshot } from './jobs/snapshot.ts'
import { longloop } from './longloop/longloop.ts'
import { model } from './model/model.ts'
import { outbox } from './outbox/outbox.ts'
import { ownTable } from './own-table/own-table.ts'
import { writePlots } from './plots/plots.ts'
import { projection } from './projection/projection.ts'
import { recovery } from './recovery/recovery.ts'
import { relay } from './remote/relay.ts'
import { remote } from './remote/remote.ts'
import { jsonLine, tableFor } from './report.ts'
import { recordResult } from './results.ts'
import { route } from './route/route.ts'
import { searchQuality } from './search/quality.ts'
import { searching } from './search/search.ts'
import { type BenchServer, startBenchServer } from './server.ts'
import { spread } from './spread/spread.ts'
import { staging } from './staging/staging.ts'
import { steps } from './steps/steps.ts'
import { units } from './units/units.ts'

const BENCHMARKS: readonly Benchmark[] = [
  outbox,
  ingest,
  ownTable,
  agents,
  staging,
  jobs,
  jobsSnapshot,
  dispatch,
  route,
  steps,
  longloop,
  fanout,
  projection,
  spread,
  idle,
  remote,
  relay,
  recovery,
  units,
  searching,
  searchQuality,
  initQuality,
  model,
  growth,
]

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = explain(error)
}

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && argv[0] === 'plots') {
    for (const name of writePlots()) console.log(`docs/images/${name}`)
    return 0
  }
  const { benchmark, quick, json, record, data, language, rounds } = readArguments(argv, BENCHMARKS)
  if (!benchmark) {
    console.log(usage(BENCHMARKS))
    return 0
  }
  console.error(`${benchmark.name}: ${benchmark.about}`)
  const server = await startBenchServer(benchmark.settings)
  const release = stopOnSignal(server)
  try {
    const report = await runBenchmark(benchmark, server, {
      quick,
      data,
      language,
      rounds,
      progress: (line) => console.error(line),
    })
    if (record) {
      recordResult(
        report,
        BENCHMARKS.map(({ name }) => name),
      )
      writePlots()
      benchmark.onRecord?.(report)
    }
    console.log(json ? jsonLine(report) : `\n${tableFor(report)}\n${benchmark.epilogue?.(report) ?? ''}`)
    const failed = wrong(benchmark.criteria, report.figures)
    if (failed.length > 0) console.error(`The work was not done right: ${failed.join(', ')}.`)
    return failed.length > 0 ? 1 : 0
  } finally {
    release()
    await server.stop()
  }
}

/** Ctrl-C leaves no server and no folder behind. */
function stopOnSignal(server: BenchServer): () => void {
  const stop = (signal: NodeJS.Signals): void => {
    void server.stop().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143))
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return () => process.off('SIGINT', stop).off('SIGTERM', stop)
}

function explain(error: unknown): number {
  if (error instanceof BenchError) {
    console.error(`${error.message}\n${error.remedy}`)
    return error.exitCode
  }
  // The product's errors carry the same things under their own names.
  const { message, hint, exitCode } = error as { message?: string; hint?: string; exitCode?: number }
  if (typeof hint === 'string' && typeof exitCode === 'number') {
    console.error(`${message}\n${hint}`)
    return exitCode
  }
  console.error(error)
  return 1
}

/** Another embedding model or another store, while search goes on. */
import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Search } from '../../../search/library.ts'
import type { SearchStatus } from '../../../search/status.ts'
import { EMBEDDERS, STORES, type SwitchTo } from '../../../search/switching.ts'
import { type GlobalOptions, outputOf, withStagedoor } from '../../context.ts'
import { whole } from '../../numbers.ts'
import type { Output } from '../../output.ts'
import { duration } from '../../times.ts'
import { count } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'
import { pause, startBar } from './projecting.ts'
import { printWarning } from './screen.ts'

interface SwitchOptions extends GlobalOptions, SwitchTo {
  readonly cancel?: boolean
  readonly wait: boolean
}

/** As many as the fitted embedder waits for before it begins by itself (maintenance.ts). */
const FEWEST_CHUNKS = 200
const LOOK_MS = 250
/** So long without a step, and somebody should look. */
const STUCK_MS = 30_000

export function switchCommand(): Command {
  return new Command('switch')
    .description(
      'embed everything anew with another model or into another store, then swap; search goes on meanwhile',
    )
    .addOption(new Option('--embedder <name>', 'default: as now').choices(EMBEDDERS))
    .option('--model <name>', 'of openai; default EMBEDDINGS_MODEL')
    .option('--dimension <n>', 'of openai; default EMBEDDINGS_DIMENSION', whole(1, 4096))
    .addOption(new Option('--store <name>', 'default: as now').choices(STORES))
    .option('--no-wait', 'begin only; a running `stagedoor start` fills and swaps')
    .option('--cancel', 'give up the one that is being built')
    .addHelpText(
      'after',
      `
  $ stagedoor search switch --embedder lsa                          learn anew from what is there, no network
  $ EMBEDDINGS_URL=https://… stagedoor search switch --embedder openai
  $ stagedoor search switch --store qdrant

Until every text has its new vector, questions are answered by the old ones. A running \`stagedoor start\` needs the same\nEMBEDDINGS_… and QDRANT_… settings: it fills the new collection, keeps it up to date and asks it. Ends with 7 if it was not swapped.`,
    )
    .action(async (_options, command: Command) => {
      const { cancel, wait, embedder, model, dimension, store, ...options } =
        command.optsWithGlobals<SwitchOptions>()
      const output = outputOf(options)
      await withStagedoor(options, async ({ search }) => {
        if (cancel) {
          const collection = await search.cancelSwitch()
          return output.result({ cancelled: collection ?? null }, () =>
            output.line(
              collection === undefined
                ? 'Nothing is being built.'
                : `${pc.green('✔')} ${collection} is given up; search has not noticed.`,
            ),
          )
        }
        const began = performance.now()
        output.note(pc.dim(embedder === 'openai' ? 'Asking the embedder …' : 'Getting ready …'))
        const made = await search.switchTo({
          ...(embedder && { embedder }),
          ...(model !== undefined && { model }),
          ...(dimension !== undefined && { dimension }),
          ...(store && { store }),
        })
        const switched = made.state === 'active' || (wait && (await fill(output, search, made.collection)))
        if (wait && !switched) process.exitCode = 7
        const status = await search.status()
        const one = status.collections.find(({ collection }) => collection === made.collection)
        output.result({ collection: made.collection, switched }, () => {
          if (switched) {
            output.line(
              `${pc.green('✔')} Search answers from ${pc.bold(made.collection)} (${one ? madeOf(one) : ''}), ${duration(performance.now() - began)}`,
            )
            if (one?.embedder === 'lsa' && status.chunks.units < FEWEST_CHUNKS)
              printWarning(
                output,
                `${count(status.chunks.units)} chunks are too few to learn from: below ${FEWEST_CHUNKS} words alone find better.`,
              )
            return
          }
          output.line(`${pc.bold(made.collection)} is being built beside the active one.`)
          printNext(output, [{ what: 'See how far it is', command: 'stagedoor search status' }])
        })
      })
    })
}

function madeOf({ embedder, model, dimension, store }: SearchStatus['collections'][number]): string {
  const name = embedder === 'openai' ? `${embedder} ${model}` : embedder
  return `${name}, ${dimension} numbers, in ${store}`
}

/** Here and now; whoever runs elsewhere helps. Answers whether it came to the swap. */
async function fill(output: Output, search: Search, collection: string): Promise<boolean> {
  const worker = await search.work({ fits: false })
  const bar = startBar(output, 'Embedding', 1)
  try {
    let most = -1
    let refused = 0
    for (let since = performance.now(); performance.now() - since < STUCK_MS; await pause(LOOK_MS)) {
      const { collections, chunks } = await search.status()
      const one = collections.find((candidate) => candidate.collection === collection)
      if (one?.state === 'active') {
        if (refused > 0)
          printWarning(
            output,
            `${count(refused)} chunks are not taken by its embedder: \`stagedoor search dead\` will say why.`,
          )
        return true
      }
      if (one?.state !== 'building') return false
      refused = one.refused
      bar.update(one.points, chunks.units)
      if (one.points > most) {
        most = one.points
        since = performance.now()
      }
    }
    printWarning(
      output,
      `It did not get further for ${duration(STUCK_MS)}. A running \`stagedoor start\` helps to fill it and needs the same settings (EMBEDDINGS_URL, QDRANT_URL …): restart it with them. \`stagedoor search switch --cancel\` gives it up.`,
    )
    return false
  } finally {
    bar.stop()
    await worker.stop()
  }
}

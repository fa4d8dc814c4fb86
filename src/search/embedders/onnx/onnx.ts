/**
 * The embedder `onnx`: a sentence embedding model in a folder, as Hugging Face lays it out, run by ONNX Runtime in a thread of this process.
 * No network. The runtime and the tokenizer are optional packages, because they are larger than everything else together.
 */
import { StagedoorError } from '../../../kernel/errors.ts'
import { storableText } from '../../../kernel/text.ts'
import { CommandThread, ThreadLost, threadFile } from '../../../runtime/worker-thread.ts'
import { type Embedder, EmbedderRefused, EmbedderUnavailable, normalise } from '../embedder.ts'
import type { ModelCommands } from './model.ts'

/** Of one command: a question waits for no more than that of others. */
const TEXTS_PER_RUN = 8
/** The model's memory is given back after so long without a text. */
const MAX_UNUSED_MS = 30 * 60_000
const THREAD = threadFile('./thread.js', import.meta.url)

export interface OnnxOptions {
  readonly folder: string
  /** That a collection was made with; the folder must hold the same. Default: whatever it holds. */
  readonly model?: string | undefined
}

/** By folder: a model has hundreds of megabytes, and worker and questions share it. */
const runners = new Map<string, ModelRunner>()

/** Throws embedder_not_configured if the packages are missing, the folder holds no model that can be run, or another one. */
export async function openOnnxEmbedder({ folder, model }: OnnxOptions): Promise<Embedder> {
  const runner = runners.get(folder) ?? new ModelRunner(folder)
  runners.set(folder, runner)
  const about = await runner.open()
  const wanted = model ?? about.model
  requireSame(about, wanted)
  return {
    name: 'onnx',
    model: wanted,
    dimension: about.dimension,
    fingerprint: `onnx/${wanted}/${about.dimension} text`,
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      const vectors = new Array<Float32Array>(texts.length)
      for (const places of runsOf(texts)) {
        signal?.throwIfAborted()
        const rows = await runner.embed(wanted, {
          texts: places.map((place) => storableText(texts[place]!, ' ')),
          use,
        })
        for (const [at, vector] of rows.entries()) {
          if (!normalise(vector))
            throw new EmbedderRefused(`The model ${wanted} gave a vector without direction`)
          vectors[places[at]!] = vector
        }
      }
      return vectors
    },
  }
}

/** Texts of about the same length go together: all of a run take as long as its longest. */
function* runsOf(texts: readonly string[]): Generator<readonly number[]> {
  const places = [...texts.keys()].sort((a, b) => texts[a]!.length - texts[b]!.length)
  for (let from = 0; from < places.length; from += TEXTS_PER_RUN)
    yield places.slice(from, from + TEXTS_PER_RUN)
}

type About = ModelCommands['open']['answer']
type EmbedAsked = Omit<ModelCommands['embed']['asked'], 'folder'>

function requireSame({ model }: About, wanted: string): void {
  if (model !== wanted)
    throw notConfigured(
      `EMBEDDINGS_FOLDER holds the model ${model}, and the collection was made with ${wanted}`,
    )
}

function notConfigured(reason: string, cause?: unknown): StagedoorError {
  return new StagedoorError(
    'embedder_not_configured',
    { embedder: 'onnx', reason },
    {
      cause,
      hint: 'EMBEDDINGS_FOLDER names a folder with tokenizer.json and model.onnx (or onnx/model.onnx). `npm install onnxruntime-node @huggingface/tokenizers` beside Stagedoor, or onnxruntime-web where there is no build for your system.',
    },
  )
}

/** Opens the model when it is needed, and again after it was closed or its thread ended. */
class ModelRunner {
  private readonly folder: string
  private opened: Promise<About> | undefined
  private thread: CommandThread | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(folder: string) {
    this.folder = folder
  }

  async open(): Promise<About> {
    this.closeLater()
    this.opened ??= this.run('open', { folder: this.folder })
    const opening = this.opened
    try {
      return await opening
    } catch (error) {
      // The folder may be complete next time.
      if (this.opened === opening) this.close()
      if (error instanceof ThreadLost) throw new EmbedderUnavailable(error.message, { cause: error })
      throw notConfigured((error as Error).message, error)
    }
  }

  async embed(wanted: string, asked: EmbedAsked): Promise<Float32Array[]> {
    // Somebody may have put another model there since.
    requireSame(await this.open(), wanted)
    try {
      return await this.run('embed', { folder: this.folder, ...asked })
    } catch (error) {
      if (!(error instanceof ThreadLost))
        throw new EmbedderRefused((error as Error).message, { cause: error })
      this.close()
      throw new EmbedderUnavailable(error.message, { cause: error })
    }
  }

  private async run<Kind extends keyof ModelCommands>(
    kind: Kind,
    asked: ModelCommands[Kind]['asked'],
  ): Promise<ModelCommands[Kind]['answer']> {
    if (THREAD === undefined) {
      const { runModelCommand } = await import('./model.ts')
      return runModelCommand(kind, asked)
    }
    this.thread ??= new CommandThread(THREAD, 'the embedder onnx')
    return this.thread.run(kind, asked)
  }

  private closeLater(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(
      () => (this.thread?.isIdle === false ? this.closeLater() : this.close()),
      MAX_UNUSED_MS,
    )
    this.timer.unref()
  }

  private close(): void {
    clearTimeout(this.timer)
    this.opened = undefined
    void this.thread?.close()
    this.thread = undefined
  }
}

/** A sentence embedding model in a folder: which files it has, and how texts become vectors by it. Runs in the thread of onnx.ts. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

export interface ModelCommands {
  open: {
    readonly asked: { readonly folder: string }
    /** model: the name of the folder, and the beginning of the hash of its files: vectors of others are not comparable. */
    readonly answer: { readonly model: string; readonly dimension: number }
  }
  embed: {
    readonly asked: {
      readonly folder: string
      readonly texts: readonly string[]
      readonly use: 'passage' | 'query'
    }
    /** Not normalised. */
    readonly answer: Float32Array[]
  }
}

/** By folder. A thread has one. */
const models = new Map<string, Model>()

export async function runModelCommand<Kind extends keyof ModelCommands>(
  kind: Kind,
  asked: ModelCommands[Kind]['asked'],
): Promise<ModelCommands[Kind]['answer']>
export async function runModelCommand(kind: keyof ModelCommands, asked: unknown): Promise<unknown> {
  if (kind === 'open') {
    const { folder } = asked as ModelCommands['open']['asked']
    const opened = await openModel(folder)
    models.set(folder, opened)
    return { model: opened.model, dimension: opened.dimension }
  }
  const { folder, texts, use } = asked as ModelCommands['embed']['asked']
  return models.get(folder)!.embed(texts, use)
}

interface Model {
  readonly model: string
  readonly dimension: number
  embed(texts: readonly string[], use: 'passage' | 'query'): Promise<Float32Array[]>
}

/** The first that is there. */
const MODEL_FILES = ['model', 'model_quantized', 'model_int8'].flatMap((name) => [
  `${name}.onnx`,
  `onnx/${name}.onnx`,
])
/** What makes a vector what it is, beside the model itself. */
const SETTING_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'sentence_bert_config.json',
  'config_sentence_transformers.json',
  '1_Pooling/config.json',
  'modules.json',
] as const
/** Where the folder does not say it; BERT's own. */
const DEFAULT_TOKENS = 512
/** No piece of a text has more, and time grows with the square. */
const MAX_TOKENS = 2048
const MAX_ASKED_CHARACTERS = 16_000

type Json = Readonly<Record<string, unknown>>

async function openModel(folder: string): Promise<Model> {
  const file = await modelFile(folder)
  const [runtime, Tokenizer] = await Promise.all([importRuntime(), importTokenizer()])
  const settings = new Map<string, Json>()
  for (const name of SETTING_FILES) {
    const json = await readJson(join(folder, name))
    if (json !== undefined) settings.set(name, json)
  }
  const tokenizerJson = settings.get('tokenizer.json')
  if (tokenizerJson === undefined) throw new Error(`there is no tokenizer.json in ${folder}`)
  const tokenizer = new Tokenizer(tokenizerJson, settings.get('tokenizer_config.json') ?? {})
  const session = await openSession(runtime, join(folder, file))
  const unknown = session.inputNames.find((name) => !Object.hasOwn(INPUTS, name))
  if (unknown !== undefined) throw new Error(`the model asks for ${unknown}, which is no model of texts`)
  const pool = poolingOf(settings)
  const prompts = promptsOf(settings.get('config_sentence_transformers.json'))
  const maxTokens = maxTokensOf(settings)

  const embed = async (texts: readonly string[], use: 'passage' | 'query'): Promise<Float32Array[]> => {
    const tokens = texts.map((text) =>
      cut(tokenizer.encode(prompts[use] + text.slice(0, MAX_ASKED_CHARACTERS)).ids, maxTokens),
    )
    const length = Math.max(1, ...tokens.map((ids) => ids.length))
    const feeds = Object.fromEntries(
      session.inputNames.map((name) => [name, inputTensor(runtime, INPUTS[name]!, tokens, length)]),
    )
    const outputs = await session.run(feeds)
    return vectorsOf(outputs, session.outputNames, tokens, pool)
  }
  const [probe] = await embed(['a'], 'passage')
  return {
    model: `${basename(resolve(folder))}@${await hashOf(folder, file)}`,
    dimension: probe!.length,
    embed,
  }
}

async function modelFile(folder: string): Promise<string> {
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new Error(`there is no folder ${folder}`)
  for (const name of MODEL_FILES) if (await isFile(join(folder, name))) return name
  throw new Error(`there is no ${MODEL_FILES.join(', ')} in ${folder}`)
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false
}

/** Undefined: there is no such file. */
async function readJson(path: string): Promise<Json | undefined> {
  if (!(await isFile(path))) return undefined
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new Error(`${path} is no JSON`, { cause })
  }
}

/** Twelve digits of the hash of all files that a vector depends on. */
async function hashOf(folder: string, file: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of [file, `${file}_data`, ...SETTING_FILES]) {
    const path = join(folder, name)
    if (!(await isFile(path))) continue
    hash.update(`${name}\0`)
    for await (const bytes of createReadStream(path)) hash.update(bytes)
  }
  return hash.digest('hex').slice(0, 12)
}

// The optional packages.

interface Runtime {
  readonly InferenceSession: { create(path: string): Promise<Session> }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor
}

interface Session {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>
}

interface Tensor {
  readonly data: unknown
  readonly dims: readonly number[]
}

type TokenizerClass = new (tokenizer: Json, config: Json) => { encode(text: string): { ids: number[] } }

/** The native one is several times faster; the other one is WebAssembly and runs everywhere. */
const RUNTIMES = ['onnxruntime-node', 'onnxruntime-web']
const TOKENIZERS = '@huggingface/tokenizers'

async function importRuntime(): Promise<Runtime> {
  const failures: string[] = []
  for (const name of RUNTIMES) {
    const module = await importOptional(name, failures)
    const runtime = module && ('InferenceSession' in module ? module : module.default)
    if (runtime === undefined) continue
    // Its own threads would outlive the model.
    if (name === 'onnxruntime-web')
      (runtime as { env: { wasm: { numThreads: number } } }).env.wasm.numThreads = 1
    return runtime as Runtime
  }
  throw new Error(failures.join('; '))
}

async function importTokenizer(): Promise<TokenizerClass> {
  const failures: string[] = []
  const module = await importOptional(TOKENIZERS, failures)
  if (module === undefined) throw new Error(failures[0])
  return module.Tokenizer as TokenizerClass
}

async function importOptional(
  name: string,
  failures: string[],
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    return await import(name)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)
    failures.push(`the package ${name} ${isMissing ? 'is not installed' : `cannot be loaded: ${message}`}`)
    return undefined
  }
}

async function openSession({ InferenceSession }: Runtime, path: string): Promise<Session> {
  try {
    return await InferenceSession.create(path)
  } catch (cause) {
    throw new Error(`${path} cannot be run: ${(cause as Error).message}`, { cause })
  }
}

// From texts to vectors.

/** What models ask for: the value of a token at its place. Behind the end of a text everything is 0. */
const INPUTS: Readonly<Record<string, (id: number, place: number) => number>> = {
  input_ids: (id) => id,
  attention_mask: () => 1,
  token_type_ids: () => 0,
  position_ids: (_, place) => place,
}

function inputTensor(
  { Tensor }: Runtime,
  inputOf: (id: number, place: number) => number,
  tokens: readonly (readonly number[])[],
  length: number,
): Tensor {
  const values = new BigInt64Array(tokens.length * length)
  for (const [row, ids] of tokens.entries())
    for (const [place, id] of ids.entries()) values[row * length + place] = BigInt(inputOf(id, place))
  return new Tensor('int64', values, [tokens.length, length])
}

/** The last token often ends the text for the model, so it stays. */
function cut(ids: readonly number[], most: number): readonly number[] {
  return ids.length <= most ? ids : [...ids.slice(0, most - 1), ids.at(-1)!]
}

/** Of one text: the vectors of its tokens, one after the other. */
type Pooling = (tokens: readonly Float32Array[]) => Float32Array

const POOLINGS: Readonly<Record<string, Pooling>> = {
  mean_tokens: (tokens) => {
    const mean = new Float32Array(tokens[0]!.length)
    for (const token of tokens)
      for (const [axis, value] of token.entries()) mean[axis]! += value / tokens.length
    return mean
  },
  cls_token: (tokens) => tokens[0]!.slice(),
  lasttoken: (tokens) => tokens.at(-1)!.slice(),
  max_tokens: (tokens) => tokens[0]!.map((_, axis) => Math.max(...tokens.map((token) => token[axis]!))),
}

/** A vector for the whole text where the model has one as an output, else its tokens' vectors, pooled. */
function vectorsOf(
  outputs: Readonly<Record<string, Tensor>>,
  names: readonly string[],
  tokens: readonly (readonly number[])[],
  pool: Pooling,
): Float32Array[] {
  const whole = outputs.sentence_embedding
  if (whole?.dims.length === 2) {
    const dimension = whole.dims[1]!
    return tokens.map((_, row) => numbersOf(whole).slice(row * dimension, (row + 1) * dimension))
  }
  const output = outputs.last_hidden_state ?? outputs.token_embeddings ?? outputs[names[0]!]!
  if (output.dims.length !== 3) throw new Error('the model answers no vectors of tokens')
  const numbers = numbersOf(output)
  const [, length, dimension] = output.dims as readonly [number, number, number]
  return tokens.map((ids, row) => {
    const start = row * length * dimension
    return pool(
      Array.from({ length: Math.max(1, ids.length) }, (_, place) =>
        numbers.subarray(start + place * dimension, start + (place + 1) * dimension),
      ),
    )
  })
}

function numbersOf({ data }: Tensor): Float32Array {
  if (!(data instanceof Float32Array)) throw new Error('the model answers no 32-bit floats')
  return data
}

/** As sentence-transformers writes it; without it the mean. */
function poolingOf(settings: ReadonlyMap<string, Json>): Pooling {
  const modules = settings.get('modules.json') as readonly { readonly type?: unknown }[] | undefined
  const layer = modules?.map(({ type }) => String(type).split('.').at(-1)!).find((name) => !LAYERS.has(name))
  if (layer !== undefined) throw new Error(`the model has a layer ${layer}, which is not supported`)
  const config = settings.get('1_Pooling/config.json')
  if (config === undefined) return POOLINGS.mean_tokens!
  const chosen =
    typeof config.pooling_mode === 'string'
      ? [
          { mean: 'mean_tokens', cls: 'cls_token', max: 'max_tokens' }[config.pooling_mode] ??
            config.pooling_mode,
        ]
      : Object.entries(config).flatMap(([name, value]) =>
          name.startsWith('pooling_mode_') && value === true ? [name.slice('pooling_mode_'.length)] : [],
        )
  const [name = 'mean_tokens'] = chosen
  const pooling = POOLINGS[name]
  if (pooling === undefined || chosen.length > 1)
    throw new Error(`the pooling ${chosen.join(' and ')} of the model is not supported`)
  return pooling
}

/** Vectors are normalised here in any case. */
const LAYERS = new Set(['Transformer', 'Pooling', 'Normalize'])

/** What stands before a text, by what it is for: E5, BGE and others were trained so. */
function promptsOf(config: Json | undefined): { readonly passage: string; readonly query: string } {
  const { passage, document, query } = (config?.prompts ?? {}) as Readonly<Record<string, unknown>>
  const textOf = (prompt: unknown) => (typeof prompt === 'string' ? prompt : '')
  return { passage: textOf(document ?? passage), query: textOf(query) }
}

function maxTokensOf(settings: ReadonlyMap<string, Json>): number {
  const said = [
    settings.get('sentence_bert_config.json')?.max_seq_length,
    settings.get('tokenizer_config.json')?.model_max_length,
  ].filter((value) => typeof value === 'number' && value >= 2 && value < 1e6) as number[]
  return Math.min(MAX_TOKENS, ...(said.length > 0 ? said : [DEFAULT_TOKENS]))
}

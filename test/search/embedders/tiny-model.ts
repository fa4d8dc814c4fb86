/** A folder with a model of a few words, as Hugging Face lays it out: each word has a vector, and words of one meaning share it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export const TINY_DIMENSION = 12
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
/** The words of a line mean the same; `query` and `:` are what stands before a question. */
const MEANINGS = [
  ['holiday', 'vacation'],
  ['invoice', 'bill'],
  ['boat', 'ship'],
  ['query'],
  [':'],
  ['is'],
  ['the'],
]

export interface TinyModel {
  /** Files beside those of the model, or in their place; undefined: left out. */
  readonly files?: Readonly<Record<string, object | string | undefined>>
  readonly inputs?: readonly string[]
}

export async function writeTinyModel(
  folder: string,
  { files = {}, inputs }: TinyModel = {},
): Promise<string> {
  const words = [...SPECIAL, ...MEANINGS.flat()]
  const contents: Record<string, object | string | Uint8Array | undefined> = {
    'onnx/model.onnx': modelOf(words, inputs ?? ['input_ids', 'attention_mask', 'token_type_ids']),
    'tokenizer.json': tokenizerOf(words),
    'tokenizer_config.json': { tokenizer_class: 'BertTokenizer', model_max_length: 64 },
    '1_Pooling/config.json': { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false },
    ...files,
  }
  for (const [name, content] of Object.entries(contents)) {
    if (content === undefined) continue
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    const isRaw = typeof content === 'string' || content instanceof Uint8Array
    await writeFile(path, isRaw ? content : JSON.stringify(content))
  }
  return folder
}

function tokenizerOf(words: readonly string[]): object {
  const special = (name: string) => ({ id: name, ids: [words.indexOf(name)], tokens: [name] })
  return {
    version: '1.0',
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': special('[CLS]'), '[SEP]': special('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
    },
  }
}

/** Its own axis for each meaning; what stands around a text and unknown words have little to say. */
function vectorOf(word: string): number[] {
  const axis = MEANINGS.findIndex((same) => same.includes(word))
  return Array.from({ length: TINY_DIMENSION }, (_, at) =>
    axis >= 0 ? Number(at === axis) : at === TINY_DIMENSION - 1 - SPECIAL.indexOf(word) ? 0.1 : 0,
  )
}

// ONNX is Protocol Buffers: a field is its number and kind, then its value.

const varint = (value: number): number[] =>
  value < 128 ? [value] : [128 | (value & 127), ...varint(value >>> 7)]
const int = (field: number, value: number) => Buffer.from([...varint(field << 3), ...varint(value)])
const bytes = (field: number, ...values: (Uint8Array | string)[]) => {
  const content = Buffer.concat(values.map((value) => Buffer.from(value as Uint8Array)))
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(content.length)]), content])
}

const FLOAT = 1
const INT64 = 7

/** One node: each token's id becomes its line of the table. The other inputs are asked for and not used. */
function modelOf(words: readonly string[], inputs: readonly string[]): Uint8Array {
  const table = Float32Array.from(words.flatMap(vectorOf))
  const tensor = (name: string, type: number, dims: readonly string[]) => [
    bytes(1, name),
    bytes(2, bytes(1, int(1, type), bytes(2, ...dims.map((dim) => bytes(1, bytes(2, dim)))))),
  ]
  return Buffer.concat([
    int(1, 8),
    bytes(8, bytes(1, ''), int(2, 13)),
    bytes(
      7,
      bytes(1, bytes(1, 'table'), bytes(1, inputs[0]!), bytes(2, 'last_hidden_state'), bytes(4, 'Gather')),
      bytes(2, 'tiny'),
      bytes(
        5,
        int(1, words.length),
        int(1, TINY_DIMENSION),
        int(2, FLOAT),
        bytes(8, 'table'),
        bytes(9, new Uint8Array(table.buffer)),
      ),
      ...inputs.map((name) => bytes(11, ...tensor(name, INT64, ['texts', 'tokens']))),
      bytes(12, ...tensor('last_hidden_state', FLOAT, ['texts', 'tokens', 'dimension'])),
    ),
  ])
}

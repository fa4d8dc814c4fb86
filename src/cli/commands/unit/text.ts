/** The text that a command is given: in a file, on standard input, or as words. */
import { readFile } from 'node:fs/promises'
import { StagedoorError } from '../../../errors.ts'
import { decodeUtf8 } from '../../../staging/exact-json.ts'

/** Undefined where nobody gave any: neither a file nor a pipe. */
export async function givenText(file: string | undefined): Promise<string | undefined> {
  const bytes = await givenBytes(file)
  return bytes === undefined ? undefined : decodeUtf8(bytes, file ?? 'The text')
}

export async function givenBytes(file: string | undefined): Promise<Buffer | undefined> {
  if (file !== undefined && file !== '-') {
    return readFile(file).catch((error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read: ${error.message}`
      throw new StagedoorError('argument_invalid', { reason }, { cause: error })
    })
  }
  if (file === undefined && process.stdin.isTTY) return undefined
  const bytes = Buffer.concat(await process.stdin.toArray())
  return bytes.length === 0 && file === undefined ? undefined : bytes
}

export function noText(command: string): StagedoorError {
  return new StagedoorError(
    'argument_invalid',
    { reason: 'There is no text' },
    { hint: `Give it in a file, \`${command} --file text.md\`, or pipe it in.` },
  )
}

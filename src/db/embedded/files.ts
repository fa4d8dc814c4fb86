/** Files that other processes see either whole or not at all. */
import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'

/** Replaces the file. */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  const draft = await writeDraft(path, content, mode)
  await rename(draft, path)
}

/** Makes the file unless it exists; false when it does. A link settles the race, a rename would not. */
export async function writeOnce(path: string, content: string, mode: number): Promise<boolean> {
  const draft = await writeDraft(path, content, mode)
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (errno(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** The content, or undefined where there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return undefined
    throw error
  }
}

export function errno(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

async function writeDraft(path: string, content: string, mode: number): Promise<string> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  const file = await open(draft, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}

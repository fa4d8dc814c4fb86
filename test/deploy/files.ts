/** The files of deploy/, read by its tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { describeConfig, readConfig } from '../../src/kernel/config.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
export const DEPLOY = join(ROOT, 'deploy')

export const readDeploy = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')

/** Paths below deploy/. */
export function deployFiles(folder: string, ending: string): string[] {
  return readdirSync(join(DEPLOY, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))
    .sort()
}

/** Every document of a YAML file; a key that is given twice or an anchor without a target throws. */
export function parseYaml<T>(text: string): T[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS() as T
  })
}

/** The names of all settings of the product. */
export const SETTINGS: ReadonlySet<string> = new Set(
  describeConfig(readConfig({})).map(({ setting }) => setting),
)

/** Files that playbooks may read: below one folder that the operator named, and nowhere else, whatever a link says. */
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { ToolError } from '../../executions/tools/tool.ts'

/** The real path of a file that a playbook names relative to `folder`. */
export async function fileBelow(folder: string, name: string): Promise<string> {
  if (isAbsolute(name) || name.includes('\0') || name.split(/[\\/]/).includes('..')) {
    throw new ToolError(
      `${quote(name)} is not a path below the folder of files (STAGEDOOR_FILES), such as exports/week.csv`,
    )
  }
  const root = await realpath(folder).catch(() => {
    throw new ToolError(
      `The folder of files ${folder} does not exist; make it, or name another with STAGEDOOR_FILES`,
    )
  })
  const path = await realpath(join(root, name)).catch(() => {
    throw fileMissing(name, folder)
  })
  // Answered like a missing file: a playbook must not learn what lies outside.
  if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) throw fileMissing(name, folder)
  if (!(await stat(path)).isFile()) throw new ToolError(`${quote(name)} is not a file`)
  return path
}

function fileMissing(name: string, folder: string): ToolError {
  return new ToolError(`There is no file ${quote(name)} in ${folder} (STAGEDOOR_FILES)`)
}

function quote(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)
}

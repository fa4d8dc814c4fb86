/** `stagedoor mark FOLDER`: every Markdown document of a folder is marked; one review approves all of them, one command cuts them. */
import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import pc from 'picocolors'
import { requireStaging } from '../gates/gates.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Cut, cutFromManifest } from '../units/cut.ts'
import { argumentInvalid } from './arguments.ts'
import { command } from './command.ts'
import { formatBytes, plural } from './format.ts'
import { documentMarkCommand, printMarking, refOf, summary } from './mark.ts'
import { type Session, type SessionOptions, workspaceOf } from './session.ts'
import { printableLine } from './text.ts'

export const markCommand = () =>
  documentMarkCommand({
    isFolder,
    mark: markFolder,
    commands: () => [reviewFolderCommand(), approveFolderCommand(), cutFolderCommand()],
  })

const DEFAULT_GLOBS = ['**/*.md', '**/*.markdown']
const MAX_DOCUMENTS = 1000
/** As a part of a record. */
const MAX_BYTES = 10 * 1024 ** 2

type MarkSession = Session<
  SessionOptions & {
    readonly workspace?: string
    readonly address?: string
    readonly title?: string
    readonly language?: string
    readonly sourceRef?: string
    readonly manifest?: string
    readonly again?: boolean
    readonly glob?: readonly string[]
  }
>

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

interface Skipped {
  readonly path: string
  readonly why: string
}

/** Each document is staged by itself: one that cannot be read holds up no other. */
async function markFolder(session: MarkSession, folder: string): Promise<void> {
  const { options, output, transaction } = session
  for (const name of ['address', 'title', 'sourceRef', 'manifest'] as const)
    if (options[name] !== undefined)
      throw argumentInvalid(
        `--${name === 'sourceRef' ? 'source-ref' : name} is of one document, and ${folder} is a folder`,
      )
  const { files, skipped } = await documentsIn(folder, options.glob ?? DEFAULT_GLOBS)
  const { stageMark } = await import('../app/marking.ts')
  const workspace = await transaction(async (client) => {
    const found = await workspaceOf(client, options.workspace)
    await requireStaging(client, found)
    return found
  })
  const documents: {
    source_ref: string
    staging_record_id: string
    created: boolean
    lifecycle_status: string
    pieces: number
    changes: string
  }[] = []
  for (const file of files) {
    const sourceRef = refOf(file)
    try {
      const marked = await stageMark(transaction, {
        workspace,
        source: await readFile(file),
        sourceRef,
        language: options.language,
        again: options.again === true,
      })
      const { staging_record_id, created, lifecycle_status, report } = marked
      const pieces = report.pieces.length
      const changes = summary(report.pieces)
      documents.push({ source_ref: sourceRef, staging_record_id, created, lifecycle_status, pieces, changes })
    } catch (error) {
      if (
        !(error instanceof StagedoorError) ||
        error.retryable ||
        error.status >= 500 ||
        error.status === 403
      )
        throw error
      skipped.push({ path: sourceRef, why: error.message })
    }
  }
  const name = refOf(folder) || '.'
  output.result({ documents, skipped }, () => {
    output.records(documents, [
      { title: 'document', value: (one) => one.source_ref },
      { title: 'pieces', value: (one) => one.pieces },
      { title: 'change', value: (one) => one.changes, shrinkTo: 10 },
      {
        title: 'record',
        value: (one) => (one.lifecycle_status === 'consumed' ? 'unchanged' : one.lifecycle_status),
        dim: true,
      },
    ])
    printSkipped(output, skipped)
    const waiting = documents.filter((one) => one.lifecycle_status === 'pending').length
    const unchanged = documents.filter((one) => one.lifecycle_status === 'consumed').length
    output.done(
      `${plural(documents.length, 'document')}: ${waiting} to review, ${unchanged} unchanged since the last cut; ${skipped.length} skipped`,
    )
    output.next(waiting > 0 && ['A colleague reviews all of them at once', `stagedoor mark review ${name}`])
  })
}

function printSkipped(output: Session['output'], skipped: readonly Skipped[]): void {
  for (const { path, why } of skipped) output.dim(`skipped ${printableLine(path)}: ${printableLine(why)}`)
}

/** Regular files that match, in order; hidden ones, links and node_modules are left out, and listed. */
async function documentsIn(
  folder: string,
  globs: readonly string[],
): Promise<{ files: string[]; skipped: Skipped[] }> {
  const patterns = globs.map(globPattern)
  const files: string[] = []
  const skipped: Skipped[] = []
  const visit = async (path: string): Promise<void> => {
    for (const name of (await readdir(path)).sort()) {
      const inner = join(path, name)
      const below = relative(folder, inner).split(sep).join('/')
      const found = await lstat(inner)
      const skip = (why: string) => skipped.push({ path: refOf(inner), why })
      if (found.isSymbolicLink()) skip('a link')
      else if (name.startsWith('.')) skip('hidden')
      else if (found.isDirectory()) {
        if (name === 'node_modules') skip('installed packages')
        else await visit(inner)
      } else if (!patterns.some((pattern) => pattern.test(below))) skip(`does not match ${globs.join(', ')}`)
      else if (!found.isFile()) skip('no file')
      else if (found.size === 0) skip('empty')
      else if (found.size > MAX_BYTES)
        skip(`${formatBytes(found.size)}, and a document has at most ${formatBytes(MAX_BYTES)}`)
      else files.push(inner)
    }
  }
  await visit(folder)
  if (files.length === 0) throw argumentInvalid(`${folder} has no document that matches ${globs.join(', ')}`)
  if (files.length > MAX_DOCUMENTS)
    throw argumentInvalid(
      `${folder} has ${files.length} documents, and one review takes ${MAX_DOCUMENTS}: mark its folders one by one`,
    )
  return { files, skipped }
}

/** `*` and `?` within a name, `**` across folders; everything else stands for itself. */
function globPattern(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' })[part] ?? part)
    .join('')
  return new RegExp(`^${source}$`, 'iu')
}

const folderCommand = (name: string, description: string) =>
  command(name, description)
    .argument('<folder>', 'as it was marked')
    .workspace('where it belongs; default: the only one there is')
    .actor()

/** The reference of everything in the folder begins with it; the current folder has all that is marked from here. */
function folderRef(folder: string): string {
  return refOf(folder).replace(/\/+$/, '')
}

const reviewFolderCommand = () =>
  folderCommand('review', 'what waits for review in a marked folder, and one digest for all of it')
    .option('--full', 'all of each text')
    .run(async ({ options, output, transaction }, folder) => {
      const { folderDigest, markedInFolder, readMarking } = await import('../app/marking.ts')
      const ref = folderRef(folder)
      const { waiting, markings } = await transaction(async (client) => {
        const workspace = await workspaceOf(client, options.workspace)
        const waiting = await markedInFolder(client, workspace, ref, 'pending')
        const markings = []
        for (const { staging_record_id: id } of waiting) markings.push(await readMarking(client, id))
        return { waiting, markings }
      })
      const digest = waiting.length > 0 ? folderDigest(waiting) : null
      output.result({ digest, documents: waiting, markings }, () => {
        for (const marking of markings) {
          printMarking(output, marking, { full: options.full === true, changed: true })
          output.line()
        }
        if (digest === null) return output.line('Nothing waits for review here.')
        output.line(`${plural(waiting.length, 'document')}, digest ${pc.bold(digest)}`)
        output.next([
          'Approve exactly these',
          `stagedoor mark approve ${folder} --as reviewer --digest ${digest}`,
        ])
      })
    })

const approveFolderCommand = () =>
  folderCommand('approve', 'approve all documents of a marked folder, exactly as they were reviewed')
    .requiredOption('--digest <digest>', 'as `stagedoor mark review` printed it')
    .run(async ({ options, output, decide }, folder) => {
      const { approveFolder } = await import('../app/marking.ts')
      const approved = await decide(async (client) =>
        approveFolder(
          client,
          await workspaceOf(client, options.workspace),
          folderRef(folder),
          options.digest,
        ),
      )
      output.result({ approved }, () => {
        output.done(`${plural(approved.length, 'document')} approved`)
        output.next(['Cut them', `stagedoor mark cut ${folder}`])
      })
    })

const cutFolderCommand = () =>
  folderCommand('cut', 'cut all approved documents of a marked folder, each in one transaction').run(
    async ({ options, output, transaction }, folder) => {
      const { markedInFolder } = await import('../app/marking.ts')
      const approved = await transaction(async (client) =>
        markedInFolder(client, await workspaceOf(client, options.workspace), folderRef(folder), 'approved'),
      )
      const cuts: ({ source_ref: string; changed: number } & Omit<Cut, 'units'>)[] = []
      for (const { staging_record_id: id, content_hash, source_ref } of approved) {
        const { units, ...done } = await transaction((client) => cutFromManifest(client, id, content_hash))
        cuts.push({ source_ref, changed: units.length, ...done })
      }
      output.result({ cuts }, () => {
        if (cuts.length === 0) return output.line('Nothing here is approved and not cut yet.')
        output.records(cuts, [
          { title: 'document', value: (one) => one.source_ref },
          { title: 'changed', value: (one) => one.changed },
          { title: 'unchanged', value: (one) => one.unchanged, dim: true },
        ])
        output.done(`${plural(cuts.length, 'document')} cut`)
        output.next(['In search in about two minutes, or now', 'stagedoor search flush'])
      })
    },
  )

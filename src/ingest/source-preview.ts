/**
 * Looks at a source before it is uploaded: which column is which field, and which dataset it may be of. With the actor's rights; nothing of
 * the source is kept.
 */
import { type MappingTarget, readMappedHeaders, readMapping, unknownInLookup } from './datasets/mapping.ts'
import { asDeclared, listDatasets, requireDataset, takesFiles } from './datasets/registry.ts'
import type { DatasetMatches, MappingPreview } from './mapping-shapes.ts'
import {
  admitFile,
  admitUpload,
  type IngestActor,
  type IngestOptions,
  type IngestSource,
  type PipelineDeps,
  spoolSource,
} from './pipeline.ts'
import { listReadOptions } from './read-options.ts'
import type { SpooledFile } from './spool.ts'
import { uploadLimits } from './uploads.ts'

/** Which column of a source is which field, before it is uploaded, with the actor's rights. Nothing of it is kept. */
export async function previewSource(
  deps: Pick<PipelineDeps, 'home'>,
  actor: IngestActor,
  source: IngestSource,
  asked: MappingTarget & Pick<IngestOptions, 'file' | 'signal'>,
): Promise<MappingPreview> {
  const { maxBytes } = await admitUpload(actor, asked)
  const file = await spoolSource(deps.home, source, maxBytes, asked.signal)
  return previewSpooled(actor, file, asked)
}

/** The same of a spooled file, which is removed on every path. `head`: it is only the beginning of a longer one. */
export async function previewSpooled(
  actor: IngestActor,
  file: SpooledFile,
  asked: MappingTarget & Pick<IngestOptions, 'file' | 'signal'> & { readonly head?: boolean | undefined },
): Promise<MappingPreview> {
  const { workspaceId, platform, signal } = asked
  try {
    // Under the actor's own rights: what another workspace remembers is never seen.
    const { dataset, remembered, memories, limits } = await actor.transaction(async (client) => ({
      dataset: asDeclared(await requireDataset(client, asked.dataset, platform, workspaceId)),
      remembered: await readMapping(client, asked),
      memories: await listReadOptions(client, { ...asked, author: actor.onBehalfOf ?? null }),
      limits: await uploadLimits(client, workspaceId),
    }))
    const { previewMapping } = await import('./datasets/mapping-preview.ts')
    return await previewMapping({
      dataset,
      platform,
      file,
      remembered,
      memories,
      options: asked.file,
      head: asked.head,
      maxLines: limits.max_lines,
      signal,
      lookups: (field, values) =>
        actor.transaction((client) => unknownInLookup(client, asked, field, values)),
    })
  } finally {
    await file.remove()
  }
}

/** Which of the actor's datasets a file may be of; nothing of it is kept. */
export async function matchSource(
  deps: Pick<PipelineDeps, 'home'>,
  actor: IngestActor,
  source: IngestSource,
  asked: { readonly workspaceId: string } & Pick<IngestOptions, 'file' | 'signal'>,
): Promise<DatasetMatches> {
  const { maxBytes } = await admitFile(actor, asked.workspaceId)
  const file = await spoolSource(deps.home, source, maxBytes, asked.signal)
  return matchSpooled(actor, file, asked)
}

/** The same of a spooled file, which is removed on every path. */
export async function matchSpooled(
  actor: IngestActor,
  file: SpooledFile,
  asked: { readonly workspaceId: string; readonly head?: boolean | undefined } & Pick<
    IngestOptions,
    'file' | 'signal'
  >,
): Promise<DatasetMatches> {
  const { workspaceId, head, signal } = asked
  try {
    const { registered, remembered, memories, limits } = await actor.transaction(async (client) => ({
      registered: await listDatasets(client, workspaceId),
      remembered: await readMappedHeaders(client, workspaceId),
      memories: await listReadOptions(client, { workspaceId, author: actor.onBehalfOf ?? null }),
      limits: await uploadLimits(client, workspaceId),
    }))
    const { matchDatasets } = await import('./datasets/fit.ts')
    return await matchDatasets({
      datasets: registered.map(({ definition }) => definition).filter(takesFiles),
      file,
      remembered,
      memories,
      options: asked.file,
      head,
      maxLines: limits.max_lines,
      signal,
    })
  } finally {
    await file.remove()
  }
}

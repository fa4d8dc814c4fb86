/**
 * Where this process keeps bytes outside of the database: blobs of staging, large results of playbooks, files of
 * uploads until they are read. STAGEDOOR_STORE names the
 * places; the first is written to, and a reference is read in the place of its scheme. What was stored in the home before the
 * setting changed stays readable.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { SharedResults } from '../executions/results.ts'
import { createUploadFiles, diskPlace, type FilePlace, type UploadFiles } from '../ingest/upload-files.ts'
import { type Config, formatStorePlace, type StorePlace } from '../kernel/config.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { systemIdentifier } from '../kernel/postgres/history.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { type BlobStore, randomBlobId, routeByScheme } from '../runtime/stores/blob-store.ts'
import { createDiskBlobStore, explainFileError } from '../runtime/stores/disk-store.ts'
import { type Bucket, openBucket } from '../runtime/stores/s3-client.ts'
import { createS3BlobStore, deleteObject, getBuffer, putBuffer } from '../runtime/stores/s3-store.ts'
import { requireIntactBlobs } from '../staging/blobs.ts'

type StoreConfig = Pick<
  Config,
  | 'home'
  | 'store'
  | 'cell'
  | 'resultsFallback'
  | 'blobLimit'
  | 's3Endpoint'
  | 's3Region'
  | 's3PathStyle'
  | 's3AccessKey'
  | 's3SecretKey'
  | 's3Timeout'
>

export interface Stores {
  /** Blobs of staging, in all places. */
  readonly blobs: BlobStore
  /** Blobs in those places that every machine of this database sees; undefined where there is none. */
  readonly sharedBlobs: BlobStore | undefined
  /** Large results, in shared places only: another machine may continue an execution. Undefined where there is none. */
  readonly sharedResults: SharedResults | undefined
  /** Files of uploads, in all places. */
  readonly uploads: UploadFiles
  /** The folder of the place `disk`. */
  readonly folder: string
  readonly shared: readonly SharedPlace[]
  close(): void
}

/** A place that several machines, and by mistake several databases, can use. */
interface SharedPlace {
  readonly scheme: 'pvc' | 's3'
  /** As STAGEDOOR_STORE names it, with the cell. */
  readonly name: string
  readonly marker: string
  /** Puts, gets and deletes a small object. */
  check(): Promise<void>
  readMarker(): Promise<string | undefined>
  writeMarker(text: string): Promise<void>
}

/** Opens nothing yet: the first use does, and loads the SDK only where there is a bucket. */
export function openStores(config: StoreConfig): Stores {
  const places = config.store ?? []
  const disk = places.find((place): place is DiskPlace => place.scheme === 'disk')
  const folder = disk?.folder ?? config.home
  const all: readonly StorePlace[] = disk ? places : [...places, { scheme: 'disk', folder }]
  const opened = all.map((place) => openPlace(place, config))
  const shared = opened.filter((place) => place.shared !== undefined)
  const results = routed(shared.map((place) => place.results))
  const [first, ...others] = opened.map((place) => place.uploads)
  return {
    uploads: createUploadFiles(config.home, [first!, ...others]),
    blobs: routed(opened.map(({ blobs }) => blobs))!,
    sharedBlobs: routed(shared.map(({ blobs }) => blobs)),
    sharedResults: results && {
      store: results,
      isRequired: config.resultsFallback !== 'db',
      isWritten: all[0]!.scheme !== 'disk',
    },
    folder,
    shared: shared.map((place) => place.shared!),
    close() {
      for (const place of opened) place.close()
    },
  }
}

type DiskPlace = Extract<StorePlace, { scheme: 'disk' | 'pvc' }>

function routed(stores: readonly BlobStore[]): BlobStore | undefined {
  const [first, ...others] = stores
  return first && routeByScheme([first, ...others])
}

interface OpenedPlace {
  readonly blobs: BlobStore
  readonly results: BlobStore
  readonly uploads: FilePlace
  readonly shared?: SharedPlace
  close(): void
}

const MARKER = 'stagedoor-cell.json'

/** Names a store that several machines share by what they all call it. */
function identityOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 12)
}

function openPlace(place: StorePlace, config: StoreConfig): OpenedPlace {
  if (place.scheme === 's3') return openS3Place(place, config)
  if (place.scheme === 'pvc') return openVolume(place, config)
  return {
    blobs: createDiskBlobStore(join(place.folder, 'blobs')),
    results: createDiskBlobStore(join(place.folder, 'results')),
    uploads: diskPlace(place.folder),
    close() {},
  }
}

function openVolume(place: DiskPlace, { cell }: StoreConfig): OpenedPlace {
  const folder = join(place.folder, cell)
  const marker = join(folder, MARKER)
  /** An empty mount point takes files just as well as the volume, and loses them when the volume is mounted. */
  const onlyMounted = (store: BlobStore): BlobStore => ({
    ...store,
    async put(bytes, options) {
      if (existsSync(marker)) return store.put(bytes, options)
      bytes.destroy()
      throw notMounted(folder, marker, '{"cell":…,"database":…}')
    },
  })
  return {
    blobs: onlyMounted(createDiskBlobStore(join(folder, 'blobs'), 'pvc')),
    results: onlyMounted(createDiskBlobStore(join(folder, 'results'), 'pvc')),
    // The marker says whose volume it is; where it is mounted differs between machines.
    uploads: {
      blobs: onlyMounted(createDiskBlobStore(join(folder, 'uploads'), 'pvc')),
      identity: async () => `pvc.${identityOf(cell)}`,
    },
    shared: {
      scheme: 'pvc',
      name: formatStorePlace({ scheme: 'pvc', folder }),
      marker,
      async check() {
        const path = join(folder, `check-${randomBlobId()}`)
        try {
          await mkdir(folder, { recursive: true, mode: 0o700 })
          await writeFile(path, CHECK_TEXT, { mode: 0o600 })
          const read = await readFile(path, 'utf8')
          if (read !== CHECK_TEXT) throw wrongBytes(folder)
        } catch (error) {
          throw explainFileError(error, folder)
        } finally {
          await rm(path, { force: true }).catch(() => {})
        }
      },
      readMarker: () =>
        readFile(marker, 'utf8').catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined
          throw explainFileError(error, folder)
        }),
      async writeMarker(text) {
        await writeFile(`${marker}.part`, text, { mode: 0o600 })
        await rename(`${marker}.part`, marker)
      },
    },
    close() {},
  }
}

type S3Place = Extract<StorePlace, { scheme: 's3' }>

function openS3Place(place: S3Place, config: StoreConfig): OpenedPlace {
  const bucket = bucketOf(place, config)
  const root = [place.prefix, config.cell].filter((part) => part !== '').join('/')
  const marker = `${root}/${MARKER}`
  const store = (what: string): BlobStore =>
    createS3BlobStore(bucket, { base: `${root}/${what}`, maxBytes: config.blobLimit })
  return {
    blobs: store('blobs'),
    results: store('results'),
    uploads: {
      blobs: createS3BlobStore(bucket, { base: `${root}/uploads` }),
      identity: async () => `s3.${identityOf(`${place.bucket}/${root}`)}`,
    },
    shared: {
      scheme: 's3',
      name: formatStorePlace({ ...place, prefix: root }),
      marker: `s3://${place.bucket}/${marker}`,
      async check() {
        const key = `${root}/check/${randomBlobId()}`
        await putBuffer(bucket, key, Buffer.from(CHECK_TEXT))
        try {
          const read = await getBuffer(bucket, key)
          if (read?.toString() !== CHECK_TEXT) throw wrongBytes(place.bucket)
        } finally {
          await deleteObject(bucket, key)
        }
      },
      readMarker: async () => (await getBuffer(bucket, marker))?.toString(),
      writeMarker: (text) => putBuffer(bucket, marker, Buffer.from(text)),
    },
    close: () => bucket.close(),
  }
}

function bucketOf({ bucket }: S3Place, config: StoreConfig): Bucket {
  const { s3Endpoint, s3Region, s3PathStyle, s3AccessKey, s3SecretKey, s3Timeout } = config
  return openBucket({
    bucket,
    endpoint: s3Endpoint,
    region: s3Region,
    pathStyle: s3PathStyle === 'auto' ? s3Endpoint !== undefined : s3PathStyle === 'on',
    ...(s3AccessKey !== undefined &&
      s3SecretKey !== undefined && {
        credentials: { accessKeyId: s3AccessKey, secretAccessKey: s3SecretKey },
      }),
    silenceMs: s3Timeout * 1000,
  })
}

const CHECK_TEXT = 'Stagedoor checks that it can write here.\n'

function wrongBytes(store: string): StagedoorError {
  return new StagedoorError('store_broken', { store, reason: 'it gave back other bytes than were stored' })
}

function notMounted(store: string, marker: string, content: string): StagedoorError {
  return new StagedoorError('store_not_mounted', { store, marker, content })
}

/**
 * The blobs that this process can judge. Undefined if another machine's server has them: in this home all of them would seem to be
 * missing.
 */
export function knownBlobs(
  { kind }: Pick<Database, 'kind'>,
  { blobs, sharedBlobs, folder }: Stores,
): BlobStore | undefined {
  return kind === 'embedded' || existsSync(join(folder, 'blobs')) ? blobs : sharedBlobs
}

interface BlobProof {
  /** Reads the blobs of a staging record again and compares their digests. Absent where this process has no blobs. */
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export function blobProof(database: Pick<Database, 'kind'>, stores: Stores): BlobProof {
  const blobs = knownBlobs(database, stores)
  if (!blobs) return {}
  return { prove: (client, record) => requireIntactBlobs(client, blobs, record, { others: 'trusted' }) }
}

// Shared places are checked at the start and from time to time. The marker in each says which database deletes in it.

const CHECK_MS = 5 * 60_000
const CHECK_AGAIN_MS = 15_000

export interface StoreWatch {
  /** Red until the first check has passed. */
  health(): HealthCheck[]
  /** Whether this process may delete what no record of its database refers to. */
  mayDelete(): boolean
  stop(): void
}

export async function watchStores(
  stores: Stores,
  cell: string,
  db: Queryable,
  log: Logger,
): Promise<StoreWatch> {
  const states = await Promise.all(
    stores.shared.map(async (place) => ({
      place,
      owner: await ownerOf(db, cell, place),
      ok: false,
      detail: `${place.name} is being checked`,
    })),
  )
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const checkAll = async (): Promise<void> => {
    for (const state of states) {
      const wasOk = state.ok
      try {
        await checkPlace(state.place, state.owner)
        const can = state.owner.isKnown ? 'can be written, read and deleted in' : WITHOUT_DELETES
        Object.assign(state, { ok: true, detail: `${state.place.name} ${can}` })
      } catch (error) {
        const { code, message, hint } = asStagedoorError(error)
        if (wasOk || state.detail !== `${code}: ${message}`) log.error({ code, hint }, message)
        Object.assign(state, { ok: false, detail: `${code}: ${message}` })
      }
    }
    if (stopped) return
    timer = setTimeout(checkAll, states.every(({ ok }) => ok) ? CHECK_MS : CHECK_AGAIN_MS).unref()
  }
  if (states.length > 0) void checkAll()
  return {
    health: () => states.map(({ ok, detail }) => ({ name: 'store', ok, detail })),
    mayDelete: () => states.every(({ ok, owner }) => ok && owner.isKnown),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

const WITHOUT_DELETES =
  'can be written and read in; nothing is deleted there, because this PostgreSQL server refuses pg_control_system(), which tells whose store it is: `grant execute on function pg_control_system() to dot_executor`'

interface Owner {
  readonly database: string
  /** Whether `database` tells it from all others. Some managed servers refuse their identifier. */
  readonly isKnown: boolean
  readonly marker: string
  /** Whether there are blobs in the place by what the database says. */
  readonly isUsed: boolean
}

async function ownerOf(db: Queryable, cell: string, { scheme }: SharedPlace): Promise<Owner> {
  const server = await systemIdentifier(db)
  const { rows } = await db.query<{ oid: string; is_used: boolean }>(
    `select oid::text, exists (select from iu_core.iu_staging_payload where split_part(blob_ref, ':', 1) = $1) as is_used
       from pg_database where datname = current_database()`,
    [scheme],
  )
  const { oid, is_used: isUsed } = rows[0]!
  const database = `${server ?? 'unknown'}/${oid}`
  return {
    database,
    isKnown: server !== undefined,
    isUsed,
    marker: `${JSON.stringify({ cell, database })}\n`,
  }
}

/** Throws the named error of what is wrong. */
async function checkPlace(place: SharedPlace, { database, marker, isUsed }: Owner): Promise<void> {
  const found = await place.readMarker()
  if (found === undefined && isUsed && place.scheme === 'pvc')
    throw notMounted(place.name, place.marker, marker.trim())
  await place.check()
  if (found === undefined) await place.writeMarker(marker)
  else if (found !== marker) {
    const owner = databaseIn(found)
    throw new StagedoorError('store_of_other_database', {
      store: place.name,
      owner,
      database,
      marker: place.marker,
    })
  }
}

function databaseIn(marker: string): string {
  try {
    return String((JSON.parse(marker) as { database?: unknown }).database)
  } catch {
    return 'an unreadable marker'
  }
}

/**
 * Where large results are. As files of this machine only with the embedded server: on the user's own database another machine may
 * continue an execution that began here, and would look for the file in its own folder. There they are rows, or in the shared place.
 */
export function resultPlaces(
  { folder, sharedResults }: Stores,
  { kind }: Pick<Database, 'kind'>,
): { home?: string; shared?: SharedResults } {
  return {
    ...(kind === 'embedded' && { home: folder }),
    ...(sharedResults && { shared: sharedResults }),
  }
}

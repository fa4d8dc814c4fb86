/**
 * A bucket of S3 or of a compatible store (MinIO, Google Cloud Storage, Ceph, Swift): one client a process, loaded when it is first
 * used, and its errors as errors of ours that say what to do. docs/decisions/0019-object-store.md says why it is the SDK.
 */
import type { S3 } from '@aws-sdk/client-s3'
import { type ErrorCode, StagedoorError } from '../../kernel/errors.ts'

export interface S3Settings {
  readonly bucket: string
  /** Of another store than Amazon's, such as https://minio.example.com:9000. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  /** https://endpoint/bucket/key instead of https://bucket.endpoint/key. */
  readonly pathStyle: boolean
  /** Unset: the SDK looks for credentials itself (AWS_ACCESS_KEY_ID, profiles, web identity, the instance's role). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** Without a byte for this long, an attempt has failed. */
  readonly silenceMs: number
  /** For tests: how far the clock of this process is off. */
  readonly clockOffsetMs?: number
}

export interface Bucket {
  readonly name: string
  /** One call, with the SDK's retries. Its errors are named; an error of `signal` stays what it is. */
  call<T>(work: (s3: S3, bucket: string) => Promise<T>): Promise<T>
  /** As `call`; undefined where there is no such object. */
  find<T>(work: (s3: S3, bucket: string) => Promise<T>): Promise<T | undefined>
  close(): void
}

/** The first attempt and three more, with a growing pause of up to 20 s between. */
const MAX_ATTEMPTS = 4
const CONNECT_MS = 5_000
const MAX_SOCKETS = 64
/** A difference between two clocks, not between two answers. */
const CLOCK_CORRECTION_MS = 120_000

export function openBucket(settings: S3Settings): Bucket {
  const { bucket } = settings
  let client: Promise<S3> | undefined
  const call: Bucket['call'] = async (work) => {
    client ??= createClient(settings)
    try {
      const s3 = await client
      const offset = s3.config.systemClockOffset
      return await work(s3, bucket).catch((error: unknown) => {
        // The SDK sets its clock by the answer, for the requests after this one.
        const isCorrected = Math.abs(s3.config.systemClockOffset - offset) > CLOCK_CORRECTION_MS
        if (isCorrected && !isAbort(error)) return work(s3, bucket)
        throw error
      })
    } catch (error) {
      throw explainS3Error(error, settings)
    }
  }
  return {
    name: bucket,
    call,
    async find(work) {
      try {
        return await call(work)
      } catch (error) {
        if (!isMissing(error)) throw error
        // The answer to HEAD has no body, so a missing bucket looks like a missing object.
        await call((s3) => s3.headBucket({ Bucket: bucket })).catch((reason: unknown) => {
          if (isMissing(reason)) throw bucketMissing(settings, 'it does not exist')
          if (codeOf(reason) === 'store_bucket_missing') throw reason
        })
        return undefined
      }
    },
    close() {
      client?.then(
        (opened) => opened.destroy(),
        () => {},
      )
    },
  }
}

async function createClient(settings: S3Settings): Promise<S3> {
  const { endpoint, region, pathStyle, credentials, silenceMs, clockOffsetMs } = settings
  // It warns on the standard error of every process that a later version of it will need Node 22.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const { S3 } = await import('@aws-sdk/client-s3')
  const regionOf = region ?? (endpoint === undefined ? undefined : 'us-east-1')
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS }
  return new S3({
    ...(endpoint !== undefined && { endpoint }),
    ...(regionOf !== undefined && { region: regionOf }),
    forcePathStyle: pathStyle,
    ...(credentials && { credentials }),
    // The SDK's own checksums come as aws-chunked bodies, which compatible stores refuse or store with their framing. We send an MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    ...(clockOffsetMs !== undefined && { systemClockOffset: clockOffsetMs }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: silenceMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
    // It would warn on the console where nobody can act on it.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  })
}

// Errors. The reason is the store's own sentence; nothing else of its answer is kept, because it repeats signatures and key ids.

interface S3Failure {
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

const BY_NAME: readonly (readonly [ErrorCode, readonly string[]])[] = [
  ['store_clock_skewed', ['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture']],
  [
    'store_credentials_refused',
    [
      'CredentialsProviderError',
      'InvalidAccessKeyId',
      'SignatureDoesNotMatch',
      'AccessDenied',
      'ExpiredToken',
      'InvalidToken',
      'AllAccessDisabled',
      'AccountProblem',
    ],
  ],
  [
    'store_bucket_missing',
    ['NoSuchBucket', 'InvalidBucketName', 'PermanentRedirect', 'AuthorizationHeaderMalformed'],
  ],
  ['store_full', ['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'StorageFull']],
  [
    'store_slow',
    [
      'TimeoutError',
      'RequestTimeout',
      'ETIMEDOUT',
      'SlowDown',
      'ServiceUnavailable',
      'Throttling',
      'TooManyRequests',
    ],
  ],
  [
    'store_unreachable',
    ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH'],
  ],
]
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  301: 'store_bucket_missing',
  401: 'store_credentials_refused',
  403: 'store_credentials_refused',
  413: 'store_full',
  429: 'store_slow',
  507: 'store_full',
}

/** Errors that are ours, that an abort made, or that say that an object is missing stay what they are. */
function explainS3Error(error: unknown, { bucket, endpoint }: Pick<S3Settings, 'bucket' | 'endpoint'>) {
  if (error instanceof StagedoorError || isAbort(error) || isMissing(error)) return error
  const { name = '', code = '', message = '', $metadata } = error as S3Failure
  const status = $metadata?.httpStatusCode
  // The code first: the SDK calls a connection that was reset a TimeoutError as well.
  const named =
    codeNamed(code) ??
    codeNamed(name) ??
    (message === 'Region is missing' ? 'store_bucket_missing' : undefined)
  const known = named ?? (status === undefined ? undefined : BY_STATUS[status])
  // Without a status no answer came: the connection broke, or TLS was refused.
  const meaning =
    known ?? (status === undefined && isConnectionError(error) ? 'store_unreachable' : 'store_broken')
  const reason = [name === 'Error' ? code : name, message, status === undefined ? '' : `HTTP ${status}`]
    .filter((part, at, parts) => part !== '' && parts.indexOf(part) === at)
    .join(', ')
  return new StagedoorError(meaning, { store: endpoint ?? 'Amazon S3', bucket, reason })
}

function codeNamed(name: string): ErrorCode | undefined {
  return BY_NAME.find(([, names]) => names.includes(name))?.[0]
}

function bucketMissing({ bucket, endpoint }: S3Settings, reason: string): StagedoorError {
  return new StagedoorError('store_bucket_missing', { store: endpoint ?? 'Amazon S3', bucket, reason })
}

/** Whether reading on from the same byte may help. */
export function isConnectionError(error: unknown): boolean {
  const { name = '', code = '', message = '' } = error as S3Failure
  return (
    name === 'TimeoutError' ||
    /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)|ERR_(TLS|SSL|STREAM_PREMATURE)|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(
      code,
    ) ||
    /socket hang up|aborted|terminated early/.test(message)
  )
}

function isAbort(error: unknown): boolean {
  return (error as Error | undefined)?.name === 'AbortError'
}

export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as S3Failure
  if (name === 'NoSuchBucket') return false
  return (
    name === 'NoSuchKey' ||
    name === 'NotFound' ||
    name === 'NoSuchUpload' ||
    $metadata?.httpStatusCode === 404
  )
}

function codeOf(error: unknown): string | undefined {
  return error instanceof StagedoorError ? error.code : undefined
}

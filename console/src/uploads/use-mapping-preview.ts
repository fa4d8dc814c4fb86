import { useEffect, useMemo, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { MappingPreview, PreviewField, PreviewValues } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'
import type { Choices } from './choices.ts'
import { type ReadChoices, readFields } from './file-options.tsx'
import { type Answers, NO_ANSWERS, wholeMapping } from './mapping.ts'

/** How long to wait after a choice before the file is looked at with it. */
const SETTLE_MS = 300
/** A file that is sent whole each time is looked at again only up to this size. */
const MAX_SENT_AGAIN = 4 * 1024 ** 2

export interface ColumnStep {
  readonly state: 'none' | 'reading' | 'ready' | 'failed'
  /** As the file was found: its columns do not move while somebody chooses. */
  readonly preview: MappingPreview | undefined
  /** With what was chosen. */
  readonly fields: readonly PreviewField[]
  readonly values: readonly PreviewValues[]
  readonly failure: Failure | undefined
  /** Only the beginning of the file was looked at. */
  readonly isBeginning: boolean
  readonly answers: Answers
  answer(some: Partial<Answers>): void
  /** Looks at the file once more: what is remembered has changed. */
  readAgain(): void
}

/** Asks the server which column is which field, and again with what somebody chose. */
export function useMappingPreview(file: File | undefined, chosen: Choices, read: ReadChoices): ColumnStep {
  const { api } = useSession()
  const { workspace, dataset, platform } = chosen
  const options = JSON.stringify(readFields(read, 'all'))
  const [preview, setPreview] = useState<MappingPreview>()
  const [now, setNow] = useState<MappingPreview>()
  const [failure, setFailure] = useState<Failure>()
  const [answers, setAnswers] = useState<Answers>(NO_ANSWERS)
  const [looks, setLooks] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another look is another question
  const asked = useMemo(
    () =>
      file === undefined || dataset === '' || platform === ''
        ? undefined
        : { file, dataset, fields: { workspace_id: workspace, platform, ...JSON.parse(options) } },
    [file, workspace, dataset, platform, options, looks],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: another file, or as another dataset, is another question
  useEffect(() => {
    setPreview(undefined)
    setAnswers(NO_ANSWERS)
  }, [file, workspace, dataset, platform])

  // Read with another option it stays in sight until the answer comes, and what was answered stays.
  useEffect(() => {
    setNow(undefined)
    setFailure(undefined)
    if (asked === undefined) return
    const stop = new AbortController()
    api.uploads.previewMapping(asked, stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return
        setPreview(found)
        setNow(found)
      },
      (thrown) => {
        if (stop.signal.aborted) return
        setPreview(undefined)
        setFailure(asFailure(thrown))
      },
    )
    return () => stop.abort()
  }, [api, asked])

  useEffect(() => {
    if (asked === undefined || preview === undefined || answers === NO_ANSWERS) return
    const stop = new AbortController()
    if (asked.file.size > MAX_SENT_AGAIN && !api.uploads.sendsHead(asked.file)) return
    const fields = {
      ...asked.fields,
      headers: JSON.stringify(wholeMapping(preview, answers)),
      ...(answers.without.length > 0 && { without: answers.without.join(',') }),
    }
    const timer = setTimeout(() => {
      api.uploads.previewMapping({ ...asked, fields }, stop.signal).then(
        (found) => !stop.signal.aborted && setNow(found),
        // What is chosen is checked again when it is uploaded.
        () => !stop.signal.aborted && setNow(preview),
      )
    }, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [api, asked, preview, answers])

  return {
    state: failure ? 'failed' : preview ? 'ready' : asked ? 'reading' : 'none',
    preview,
    fields: (now ?? preview)?.fields ?? [],
    values: (now ?? preview)?.values ?? [],
    failure,
    isBeginning: file !== undefined && api.uploads.sendsHead(file),
    answers,
    readAgain: () => setLooks((before) => before + 1),
    answer: (some) => setAnswers((before) => ({ ...before, ...some })),
  }
}

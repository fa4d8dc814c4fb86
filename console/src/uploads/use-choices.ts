import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { Dataset, UploadClient } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'
import { type Choices, clientFor, datasetFor, platformFor, rememberedChoices } from './choices.ts'
import type { ReadChoices } from './file-options.tsx'
import { type DatasetEvidence, useDatasetMatch } from './use-dataset-match.ts'

interface Offered {
  readonly datasets: readonly Dataset[] | undefined
  readonly clients: readonly UploadClient[] | undefined
  readonly chosen: Choices
  readonly failure: Failure | undefined
  readonly evidence: DatasetEvidence
  /** A person chose the dataset. */
  readonly isSaid: boolean
  choose(some: Partial<Choices>): void
}

/** What can be chosen, and what is chosen for this file unless somebody chooses otherwise. */
export function useChoices(file: File | undefined, read: ReadChoices): Offered {
  const { api, me } = useSession()
  const [said, setSaid] = useState<Partial<Choices>>({})
  const [datasets, setDatasets] = useState<Dataset[]>()
  const [clients, setClients] = useState<UploadClient[]>()
  const [failure, setFailure] = useState<Failure>()
  const before = rememberedChoices()

  const workspaces = me.workspaces.filter(({ rights }) => rights.includes('stage'))
  const workspace =
    said.workspace ?? workspaces.find(({ id }) => id === before.workspace)?.id ?? workspaces[0]?.id ?? ''
  useEffect(() => {
    if (workspace === '') return
    let wanted = true
    setDatasets(undefined)
    api.uploads
      .datasets(workspace)
      .then((answer) => wanted && setDatasets(answer.datasets.filter(({ takes }) => takes === 'files')))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, workspace])

  const evidence = useDatasetMatch(file, workspace, datasets, read)
  const { found } = evidence
  const dataset = datasetFor(datasets ?? [], said.dataset, found?.best)
  const match = found?.matches.find((one) => one.dataset === dataset?.dataset)
  const name = dataset?.has_clients ? dataset.dataset : undefined
  useEffect(() => {
    setClients(undefined)
    if (name === undefined) return
    let wanted = true
    api.uploads
      .clients(workspace, name)
      .then((answer) => wanted && setClients(answer.clients))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, workspace, name])

  return {
    datasets,
    clients,
    failure,
    evidence,
    isSaid: said.dataset !== undefined,
    chosen: {
      workspace,
      dataset: dataset?.dataset ?? '',
      platform:
        said.platform ??
        (dataset && evidence.state !== 'reading'
          ? platformFor(
              dataset,
              before.platform,
              file?.name,
              match?.fit === 'no' ? undefined : match?.platforms,
            )
          : ''),
      client: said.client ?? clientFor(clients ?? [], before.client),
      onInvalid: said.onInvalid ?? before.onInvalid ?? 'refuse',
    },
    choose: (some) =>
      setSaid(
        (now) => ({ ...now, ...(some.dataset && { platform: undefined }), ...some }) as Partial<Choices>,
      ),
  }
}

import { useEffect, useState } from 'react'
import type { Dataset, Upload } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'

interface DeclaredDataset {
  readonly dataset: Dataset | undefined
  /** True: the server has answered, or the request has failed. */
  readonly loaded: boolean
}

/** What is declared of the upload's dataset: its tables, and for how long a promotion can be undone. */
export function useDataset({ workspace_id, dataset }: Upload): DeclaredDataset {
  const { api } = useSession()
  const [found, setFound] = useState<Dataset>()
  const [loaded, setLoaded] = useState(false)
  useEffect(() => {
    let wanted = true
    api.uploads
      .datasets(workspace_id)
      .then(({ datasets }) => wanted && setFound(datasets.find((one) => one.dataset === dataset)))
      // The page says less without it, and nothing wrong.
      .catch(() => undefined)
      .then(() => wanted && setLoaded(true))
    return () => {
      wanted = false
    }
  }, [api, workspace_id, dataset])
  return { dataset: found, loaded }
}

import { useEffect, useState } from 'react'
import type { Dataset, Upload } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'

/** What is declared of the upload's dataset: its tables, and for how long a promotion can be undone. */
export function useDataset({ workspace_id, dataset }: Upload): Dataset | undefined {
  const { api } = useSession()
  const [found, setFound] = useState<Dataset>()
  useEffect(() => {
    let wanted = true
    api.uploads
      .datasets(workspace_id)
      .then(({ datasets }) => wanted && setFound(datasets.find((one) => one.dataset === dataset)))
      // The page says less without it, and nothing wrong.
      .catch(() => undefined)
    return () => {
      wanted = false
    }
  }, [api, workspace_id, dataset])
  return found
}

import { useEffect, useRef, useState } from 'react'
import type { Upload } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'

/**
 * A list has the ids of clients only; the detail of one upload names its client. So one detail is read for each client
 * that is not known yet, not one for each upload.
 */
export function useClientNames(uploads: readonly Upload[]): Readonly<Record<string, string>> {
  const { api } = useSession()
  const [clients, setClients] = useState<Record<string, string>>({})
  const asked = useRef(new Set<string>())

  useEffect(() => {
    for (const upload of uploads) {
      const { client_id, upload_id } = upload
      if (asked.current.has(client_id)) continue
      asked.current.add(client_id)
      api.uploads
        .find(upload_id)
        .then((detail) => {
          const { client_name } = detail
          if (client_name) setClients((known) => ({ ...known, [client_id]: client_name }))
        })
        // A name that cannot be read leaves the short id; why, the list itself says.
        .catch(() => undefined)
    }
  }, [uploads, api])
  return clients
}

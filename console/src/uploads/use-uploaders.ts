import { useEffect, useRef, useState } from 'react'
import type { Upload } from '../api/upload-types.ts'
import { learnNames, useNames } from '../people.ts'
import { useSession } from '../session/session.tsx'

/**
 * A list has ids only; the detail of one upload names its people and its client. So one detail is read for each
 * uploader and each client that is not known yet, not one for each upload. Answers with the names of the clients.
 */
export function useUploaders(uploads: readonly Upload[]): Readonly<Record<string, string>> {
  const { api } = useSession()
  const names = useNames()
  const [clients, setClients] = useState<Record<string, string>>({})
  const asked = useRef(new Set<string>())

  useEffect(() => {
    for (const upload of uploads) {
      const { uploaded_by, client_id, upload_id } = upload
      const unknown = [
        ...(names[uploaded_by] ? [] : [uploaded_by]),
        ...(clients[client_id] ? [] : [client_id]),
      ]
      const fresh = unknown.filter((id) => !asked.current.has(id))
      if (fresh.length === 0) continue
      for (const id of fresh) asked.current.add(id)
      api.uploads
        .find(upload_id)
        .then((detail) => {
          learnNames(detail.people)
          const { client_name } = detail
          if (client_name) setClients((known) => ({ ...known, [client_id]: client_name }))
        })
        // A name that cannot be read leaves the short id; why, the list itself says.
        .catch(() => undefined)
    }
  }, [uploads, names, clients, api])
  return clients
}

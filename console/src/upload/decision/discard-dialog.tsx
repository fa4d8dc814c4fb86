import type { UploadDetail } from '../../api/upload-types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { counted } from '../../parts/figures.ts'
import { useSession } from '../../session/session.tsx'
import type { Doing } from './decision-card.tsx'

interface Props {
  readonly upload: UploadDetail
  readonly doing: Doing
  close(): void
}

export function DiscardDialog({ upload, doing, close }: Props) {
  const { api } = useSession()
  async function discard() {
    close()
    await doing.run('Discarding', () => api.uploads.discard(upload.upload_id))
  }
  return (
    <Dialog title={`Discard ${upload.file_name}?`} close={close}>
      <p>
        {upload.line_count === null
          ? 'No line of it is held, and production is not touched. It leaves the list of what is open.'
          : `Its ${counted(upload.line_count, 'line')} and all corrections are let go. Production is not touched. The file can be uploaded again.`}
      </p>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          Keep it
        </button>
        <button type="button" className="button is-next" onClick={discard}>
          Discard
        </button>
      </div>
    </Dialog>
  )
}

import type { UploadDetail } from '../../api/upload-types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { counted } from '../../parts/format.ts'
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
  const isReading = upload.status === 'reading'
  return (
    <Dialog title={`${isReading ? 'Cancel' : 'Discard'} ${upload.file_name}?`} close={close}>
      <p>
        {isReading
          ? 'Reading it stops within seconds, on whichever server it runs, and nothing of it is kept. Production is not changed.'
          : upload.line_count === null
            ? 'Nothing of it was staged, and production is not changed. It disappears from the open uploads.'
            : `Its ${counted(upload.line_count, 'line')} and your repairs will be deleted. Production is not changed. You can upload the file again.`}
      </p>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          {isReading ? 'Go on reading' : 'Cancel'}
        </button>
        <button type="button" className="button is-next" onClick={discard}>
          {isReading ? 'Cancel the upload' : 'Discard'}
        </button>
      </div>
    </Dialog>
  )
}

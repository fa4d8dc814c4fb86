import { Command } from '../parts/command.tsx'

/** What to do first, and what will come of it. */
export function NoUploads({ mayUpload }: { mayUpload: boolean }) {
  if (!mayUpload) return <p className="empty">Nothing was uploaded yet.</p>
  return (
    <div className="empty is-teaching">
      <b>Nothing was uploaded yet.</b>
      <ol>
        <li>
          <b>Take an export</b> as the platform gives it: the daily report of Meta, Google or TikTok Ads as
          CSV or XLSX, with title lines, totals and all. Nothing has to be cleaned first.
        </li>
        <li>
          <b>Drop it above.</b> It is read and checked line by line. Lines that are wrong are shown with what
          is wrong, and can be corrected here.
        </li>
        <li>
          <b>Look at the plan:</b> every row that would be inserted or changed, old beside new. Your tables
          are not touched until a second person has approved exactly that plan.
        </li>
        <li>
          <b>Promote it</b> in one transaction, and undo it within 30 days.
        </li>
      </ol>
      <p>The same on the command line:</p>
      <Command text="npm run -s stagedoor -- ingest examples/ads/meta-week-45.csv --dataset ads --platform meta --as operator" />
    </div>
  )
}

import { Command } from '../parts/command.tsx'

/** What to do first, and what will come of it. */
export function NoUploads({ mayUpload }: { mayUpload: boolean }) {
  if (!mayUpload) return <p className="empty">No uploads yet.</p>
  return (
    <div className="empty is-teaching">
      <b>No uploads yet.</b>
      <ol>
        <li>
          <b>Take an export</b> as you get it, for example a supplier’s price list as XLSX, or the daily
          report of Meta, Google or TikTok Ads as CSV. You do not have to clean it first.
        </li>
        <li>
          <b>Drop it above.</b> Every line is checked. Invalid lines are shown with their problems, and you
          can repair them here.
        </li>
        <li>
          <b>Check the plan:</b> every row that would be inserted or changed, with old and new values. Your
          tables are not changed until a second person has approved exactly this plan.
        </li>
        <li>
          <b>Promote it</b> in one transaction, and undo it within 30 days.
        </li>
      </ol>
      <p>For a table of your own, let this command propose what the columns mean:</p>
      <Command text="npm run -s stagedoor -- init public.products products.xlsx" />
      <p>An upload on the command line:</p>
      <Command text="npm run -s stagedoor -- ingest examples/ads/meta-week-45.csv --dataset ads --platform meta --as operator" />
    </div>
  )
}

/** The one handler of the story: it puts a report into a folder, and says what to do while there is none. */
import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FOLDER = join(process.env.STAGEDOOR_HOME ?? '.stagedoor', 'reports')

export default {
  async weekly_report_file(job) {
    const { week } = job.payload
    await access(FOLDER).catch(() => {
      throw new Error(
        `The demo fails here on purpose: there is no folder ${FOLDER} for the report. Create it (mkdir ${FOLDER}), then replay this job.`,
      )
    })
    // The same name in every attempt: written twice, it is still one report.
    await writeFile(
      join(FOLDER, `week-${week}.txt`),
      `Weekly report, week ${week}: execution ${job.source_ref}\n`,
    )
    return { report_ref: `week-${week}.txt` }
  },
}

#!/usr/bin/env bash
# Runs `stagedoor check`, shows what it printed with the job and on the pull request, and ends as it ended.
set -uo pipefail
here=$(dirname "$0")
summary=$(mktemp)

# Patterns and several names are meant: FILES and ARGUMENTS stand without quotes.
# shellcheck disable=SC2086
DATABASE_URL="$AGAINST" ${STAGEDOOR:-npx --yes stagedoor} check $FILES --dataset "$DATASET" ${ARGUMENTS:-} > "$summary"
code=$?

if [ ! -s "$summary" ]; then
  printf '## Stagedoor: the files could not be checked\n\nThe log of the job says why (exit code %s).\n' "$code" > "$summary"
fi
cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
if [ -n "${PULL_REQUEST:-}" ]; then
  node "$here/comment.mjs" "$summary" || echo '::warning::The comment could not be written'
fi
exit "$code"

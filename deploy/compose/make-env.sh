#!/bin/sh
# Writes .env with new passwords and a token secret for compose.yaml and compose.nats.yaml. It never overwrites one: the volumes keep the
# passwords that they were made with.
set -eu
cd "$(dirname "$0")"
file=${1:-.env}
if [ -e "$file" ]; then
  echo "$file exists and stays as it is."
  exit 0
fi
umask 077
secret() { printf 'p%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
{
  echo "POSTGRES_PASSWORD=$(secret)"
  echo "STAGEDOOR_JWT_SECRET=$(secret)"
  echo "NATS_PASSWORD_STAGEDOOR=$(secret)"
  echo "NATS_PASSWORD_WORKER_1=$(secret)"
  echo "NATS_PASSWORD_WORKER_2=$(secret)"
  echo "PUBLIC_URL=http://localhost:4680"
} > "$file"
echo "Wrote $file. Keep it: the volumes are made with these passwords."

#!/bin/sh
# Makes a certificate authority and a certificate for NATS in the folder FOLDER, for the names that follow:
#
#   sh make-certificates.sh FOLDER nats.example.com [more names]
#
# tls.crt and tls.key are for the server; ca.crt (NATS_CA) is for every process that connects. Keep ca.key to yourself, or delete it: who has it
# can make a server that your processes trust. Valid for 825 days. In production let your own authority or cert-manager make them.
set -eu
folder=$1
shift
names=$(for name in "$@"; do printf 'DNS:%s,' "$name"; done)
mkdir -p "$folder"
cd "$folder"
umask 077
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 825 -subj "/CN=Stagedoor NATS authority" \
  -keyout ca.key -out ca.crt 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout tls.key -out tls.csr 2>/dev/null
printf 'subjectAltName=%sIP:127.0.0.1\nextendedKeyUsage=serverAuth\n' "$names" > tls.ext
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 -extfile tls.ext -out tls.crt 2>/dev/null
rm -f tls.csr tls.ext ca.srl
chmod 644 ca.crt tls.crt
echo "Made ca.crt, ca.key, tls.crt and tls.key in $(pwd)"

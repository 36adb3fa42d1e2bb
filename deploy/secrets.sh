#!/bin/sh
# Makes the secrets that the compose files name, each once, in the folder secrets/
# here. Only you can enter the folder; the files can be read, since each is mounted
# alone, for a container's user that is not root.
#
#	sh secrets.sh
set -eu
umask 077
mkdir -p secrets
chmod 700 secrets

random() { od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n'; }

# once NAME keeps what it is given, unless there is such a file.
once() {
	[ ! -e "secrets/$1" ] || { cat >/dev/null; return 0; }
	cat >"secrets/$1.new"
	chmod 444 "secrets/$1.new"
	mv "secrets/$1.new" "secrets/$1"
}

random | once bootstrap_token # the first token; revoke it once there are users
random | once shop_secret     # signs calls: the project's API has the same
random | once pay_secret      # signs calls to the adapter, of compose.adapter.yaml
random | once pay_key         # put the API's own key in its place
random | once postgres_password
printf 'postgres://countersign:%s@postgres:5432/countersign?sslmode=disable' "$(cat secrets/postgres_password)" | once store
ls secrets

#!/usr/bin/env bash
# What the action does with a team's setup in files (docs/how-to/apply-files.md):
#
#	SETUP="setup" MODE=check COUNTERSIGN_URL=… COUNTERSIGN_TOKEN=… deploy/action/setup.sh
#
# MODE is dry-run (print what differs), check (fail where something does) or apply.
# What was printed is in the job's summary, too.
set -euo pipefail
case "${MODE:-}" in
dry-run | check) flags=("--$MODE") ;;
apply) flags=() ;;
*)
	echo "mode: \"${MODE:-}\" must be dry-run, check or apply" >&2
	exit 2
	;;
esac
status=0
# unquoted: patterns are expanded
said=$(countersign apply ${flags[@]+"${flags[@]}"} $SETUP) || status=$?
printf '%s\n' "$said"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then # indented, so that it is text whatever stands in it
	{
		printf 'countersign apply, %s:\n\n' "$MODE"
		printf '%s\n' "$said" | sed 's/^/    /'
	} >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"

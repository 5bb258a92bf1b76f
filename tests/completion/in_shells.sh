#!/bin/sh
# in_shells.sh PROGRAM SCRIPTS: completion in bash and zsh; exit status 77 where there is no zsh, which drives both.
command -v zsh >/dev/null || { echo 'zsh is not installed'; exit 77; }
exec zsh -f "$(dirname "$0")/in_shells.zsh" "$@"

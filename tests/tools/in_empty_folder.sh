#!/bin/sh
# in_empty_folder.sh FOLDER COMMAND...: runs the command in the folder, which is made anew.
set -eu
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
exec "$@"

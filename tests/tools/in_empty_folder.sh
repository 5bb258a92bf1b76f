#!/bin/sh
# in_empty_folder.sh FOLDER COMMAND...: empties the folder, or creates it, and runs the command in it.
set -eu
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
exec "$@"

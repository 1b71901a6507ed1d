#!/usr/bin/env bash
# Fills the corpora with the fixtures, so that a hunt starts from every construct and every mistake.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for target in parse format; do
    mkdir -p "corpus/$target"
    for folder in parse diagnostics; do
        for program in ../tests/"$folder"/*.ein; do
            cp "$program" "corpus/$target/$folder-$(basename "$program")"
        done
    done
done

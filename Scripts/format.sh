#!/usr/bin/env bash
# Formats Keel's Swift files in place, as `Scripts/check.sh format` wants them.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

keel_require_swift
cd "$KEEL_ROOT"
keel_files '*.swift' | tr '\n' '\0' \
    | xargs -0 swift format --in-place --parallel --configuration .swift-format

// LiveQuery.swift is a file of the umbrella, compiled here beside the stand-in for SwiftUI: it sees the
// umbrella's names without an import, as it does there.
@_exported public import Keel

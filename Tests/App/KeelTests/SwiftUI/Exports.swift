// LiveQuery.swift belongs to the umbrella module and is compiled here with the stand-in for
// SwiftUI: it sees the umbrella's names without an import, as it does there.
@_exported public import Keel

import ArgumentParser
import Foundation
import KeelCore
import KeelSecurity
import KeelSecurityTools

/// The keyset with which an app seals its journal.
struct JournalKeyOptions: ParsableArguments {
    @Option(help: "The file of the keyset that a journal is sealed with.", completion: .file())
    var keyset: String?

    @OptionGroup var key: KeySourceOptions

    @Option(help: "What the keyset belongs to, if it was given when it was made.")
    var keysetContext = ""

    func validate() throws { try key.check(for: keyset) }

    /// Opens the keyset for reading; nil if no keyset is named.
    func sealing() async throws -> (any ByteSealing)? {
        guard let keyset else { return nil }
        let file = KeysetFile(
            at: URL(filePath: keyset),
            under: try await key.choice.source(createsIfMissing: false),
            associatedData: Data(keysetContext.utf8)
        )
        return KeyRing(try await file.load())
    }
}

import ArgumentParser
import KeelCore
import KeelSecurity

/// The keyset with which an app seals its journal.
struct JournalKeyOptions: ParsableArguments {
    @Option(help: "The file of the keyset that a journal is sealed with.", completion: .file())
    var keyset: String?

    @OptionGroup var key: KeySourceOptions

    func validate() throws { try key.check(for: keyset) }

    /// Opens the keyset for reading; nil if no keyset is named.
    func sealing() async throws -> (any ByteSealing)? {
        guard let keyset else { return nil }
        return KeyRing(try await key.keyset(at: keyset).load())
    }
}

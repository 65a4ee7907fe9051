import ArgumentParser
import Foundation
import KeelSecurity
import KeelSecurityTools

/// A keyset file and the location of its key.
struct KeysetOptions: ParsableArguments {
    @Argument(help: "The file of the keyset: Tink's JSON, encrypted.", completion: .file())
    var keyset: String

    @OptionGroup var key: KeySourceOptions

    @Option(help: "What the keyset belongs to, if it was given when it was made.")
    var keysetContext = ""

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var output: CommandOutput { CommandOutput(isJSON: json) }

    func validate() throws {
        try Parsed.requireFile(keyset, "A keyset")
        try key.requireOne()
    }

    func file(createsIfMissing: Bool = false) async throws -> KeysetFile {
        KeysetFile(
            at: URL(filePath: keyset),
            under: try await key.choice.source(createsIfMissing: createsIfMissing),
            associatedData: Data(keysetContext.utf8)
        )
    }
}

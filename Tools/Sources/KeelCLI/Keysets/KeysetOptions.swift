import ArgumentParser
import KeelSecurity

/// A keyset file and the location of its key.
struct KeysetOptions: ParsableArguments {
    @Argument(help: "The file of the keyset: Tink's JSON, encrypted.", completion: .file())
    var keyset: String

    @OptionGroup var key: KeySourceOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var output: CommandOutput { CommandOutput(isJSON: json) }

    func validate() throws {
        try Parsed.requireFile(keyset, "A keyset")
        try key.requireOne()
    }

    func file(createsIfMissing: Bool = false) async throws -> KeysetFile {
        try await key.keyset(at: keyset, createsIfMissing: createsIfMissing)
    }
}

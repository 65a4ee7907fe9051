#if os(Linux)
import KeelTestSupport
import Foundation
import KeelSecrets
import Testing

@Suite(
    "Each state of a Secret Service has its own error",
    .serialized,
    .enabled(
        if: SessionBus.missing.isEmpty,
        "not installed: \(SessionBus.missing.joined(separator: ", "))"
    )
)
struct SecretServiceStateTests {
    /// Returns the error of a call.
    ///
    /// The call and a check of the capabilities take less than two seconds together, far less than the limit of the
    /// adapter; a busy machine gets many attempts.
    private func probe(
        _ bus: SessionBus,
        _ arguments: String...,
        hasBus: Bool = true
    ) async throws -> String {
        let program = try CrashTrial.program("KeelSecretWriter").path
        var code = ""
        var least = Double.infinity
        for _ in 0..<60 where least >= 2_000 {
            let answer = try await bus.run(program, ["probe"] + arguments, hasBus: hasBus)
            let words = answer.text.split(whereSeparator: \.isWhitespace)
            try #require(words.count == 3, "it printed \(answer.text)")
            code = String(words[0])
            #expect(words[2] == words[0])
            least = min(least, try #require(Double(words[1])))
        }
        #expect(least < 2_000, "\(code) took \(least) ms")
        return code
    }

    private func defaultStore(
        _ bus: SessionBus,
        _ arguments: String...,
        hasBus: Bool = true
    ) async throws -> String {
        let program = try CrashTrial.program("KeelSecretWriter").path
        let answer = try await bus.run(program, ["default"] + arguments, hasBus: hasBus)
        return answer.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("Without a bus")
    func noBus() async throws {
        let bus = try await SessionBus()
        defer { bus.stop() }
        #expect(try await probe(bus, hasBus: false) == "noBus")
        let folder = try TemporaryFolder()
        let without = try await defaultStore(bus, hasBus: false)
        #expect(without.contains("noStore") && without.contains("secretService: noBus"))
        #if Crypto
        let with = try await defaultStore(bus, folder.path + "/s", hasBus: false)
        #expect(with == "encryptedFile")
        #endif
    }

    @Test("A bus without the service")
    func noService() async throws {
        let bus = try await SessionBus()
        defer { bus.stop() }
        #expect(try await probe(bus) == "unavailable")
    }

    @Test("Without a collection")
    func noCollection() async throws {
        let bus = try await SessionBus()
        defer { bus.stop() }
        try await bus.startKeyring(unlocked: false)
        #expect(try await probe(bus) == "noCollection")
    }

    @Test("A locked collection")
    func locked() async throws {
        let bus = try await SessionBus()
        defer { bus.stop() }
        try await bus.startKeyring(unlocked: true)
        #expect(try await probe(bus) == "none")
        #expect(try await defaultStore(bus) == "secretService")
        try await bus.stopKeyring()
        try await bus.startKeyring(unlocked: false)
        #expect(try await probe(bus) == "locked")
        let store = try await defaultStore(bus)
        #expect(store.contains("noStore") && store.contains("secretService: locked"))
    }

    @Test("Without the library")
    func missingLibrary() async throws {
        let bus = try await SessionBus()
        defer { bus.stop() }
        #expect(try await probe(bus, "libsecret-absent.so.0") == "missingLibrary")
        #expect(try await probe(bus, "libc.so.6") == "missingLibrary")
    }
}
#endif

import Foundation
import KeelAnalytics
import KeelCache
import KeelCore
import KeelFiles
import KeelFilesS3
import KeelHTTP
import KeelJournal
import KeelLogging
import KeelSecrets
import KeelSecurity
import KeelStorage
import KeelStorageFirestore
import KeelToolSupport
import Testing

@Suite("Advice about errors, for a shell")
struct ShellAdviceTests {
    private func advice<Code: KeelErrorCode>(
        _ area: String,
        _ codes: [Code]
    ) -> [(code: String, advice: String)] {
        codes.map { ("\(area).\($0.name)", ShellAdvice.text(for: $0)) }
    }

    private var all: [(code: String, advice: String)] {
        let storage: [StorageError.Code] = [.databaseNotFound, .invalidReply]
        let files: [FileStoreError.Code] = [
            .bucketNotFound, .credentialsMissing, .credentialsRefused, .wrongRegion, .invalidReply,
        ]
        return advice("storage", StorageError.Code.known + storage)
            + advice("files", FileStoreError.Code.known + files)
            + advice("secrets", SecretError.Code.known)
            + advice("security", SecurityError.Code.known)
            + advice("journal", JournalError.Code.known)
            + advice("analytics", AnalyticsError.Code.known)
            + advice("logging", LoggingError.Code.known)
            + advice("cache", CacheError.Code.known)
            + advice("transport", TransportError.Code.known)
            + advice("network", NetworkError.Code.known)
            + advice("authentication", AuthenticationError.Code.known)
    }

    @Test("No advice names what only programmers can use")
    func names() {
        #expect(all.count > 150)
        for (code, advice) in all {
            #expect(!advice.contains(/\w\(/), "\(code): \(advice)")
            #expect(!advice.contains(/\b[a-z]+[A-Z]/), "\(code): \(advice)")
            #expect(!advice.contains(/[A-Z][a-z]{2,}[A-Z]/), "\(code): \(advice)")
            for word in [
                "nil", "adapter", "the call ", "the cause", "Encodable", "conformance",
                "middleware",
                "the transport", "the caller", "base URL",
            ] {
                #expect(!advice.contains(word), "\(code): \(advice)")
            }
        }
    }

    @Test("An error of Foundation names its file and the reason, once")
    func files() {
        let path = "/nowhere/at/all"
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            Issue.record("\(names)")
        } catch {
            let described = ToolError(describing: error)
            #expect(described.message == "“\(path)”: \(ToolError.reason(error))")
            #expect(!ToolError.reason(error).contains(path))
            #expect(described.advice.hasPrefix("Check the path"))
        }
    }

    @Test("An error has the advice of the table, and its cause")
    func causes() {
        let absent = ToolError(describing: StorageError(.documentNotFound, "“c/a” is not there"))
        #expect(absent.advice.contains("keel documents query"))
        #expect(absent.message == "“c/a” is not there" && absent.code == "documentNotFound")
        let cause = SecretError(.locked, "the keyring is locked")
        let failed = ToolError(
            describing: SecurityError(.keyStoreFailed, "the keyset could not be read", cause: cause)
        )
        #expect(failed.message.contains("could not be read (the keyring is locked)"))
    }
}

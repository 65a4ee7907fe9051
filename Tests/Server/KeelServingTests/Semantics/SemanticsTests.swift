import Foundation
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestSupport
import Testing

#if SQLite
import KeelStorageSQLite
#endif

/// Facts about Firestore, from tests and recordings of Google's service, as rows.
///
/// The rows are outside of the repository. Each row runs on a separate store.
@Suite("Semantics of Firestore’s operations")
struct SemanticsTests {
    static let absence: Comment =
        "NOT RUN: there is no \(SemanticsRow.file.path); KEEL_CONFORMANCE names a folder"

    /// The rows in which Keel differs from Firestore, with reasons.
    ///
    /// `Documentation/Conformance.md` lists them. Remove a row from the table when it passes.
    static let departures: [String: String] = [
        "document-id/numeric-ids-in-a-range": numericIDs,
        "limits/index-entries-above-40000": "only declared indexes have entries",
        "limits/request-above-10-mib": "the server is told how large a request may be",
        "read-time/time-too-old": "a history reaches back as far as the store was told to",
        "truncation/trace-map-order": wholeValues,
        "truncation/trace-reference-order": wholeValues,
        "truncation/trace-text-order": wholeValues,
        "truncation/trace-text-order-descending": wholeValues,
        "validation/trace-group-below-a-document-order-refused":
            "a collection group below a document can be ordered",
    ]

    private static let numericIDs = "ids of the form __id7__ are reserved like others"
    private static let wholeValues = "values are ordered whole"
    private static let searches = "vectors cannot be searched"

    /// Returns the reason why a row cannot pass; nil if it must pass.
    private static func reason(for row: SemanticsRow) -> String? {
        departures[row.id] ?? (row.id.hasPrefix("find-nearest/") ? searches : nil)
    }

    @Test(
        "In-memory store",
        .enabled(if: SemanticsRow.isPresent, absence),
        arguments: SemanticsRow.all
    )
    func inMemory(_ row: SemanticsRow) async throws {
        try await check(row, on: InMemoryStorageAdapter(history: .seconds(3600)))
    }

    #if SQLite
    @Test(
        "SQLite store",
        .enabled(if: SemanticsRow.isPresent, absence),
        arguments: SemanticsRow.all
    )
    func onSQLite(_ row: SemanticsRow) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        let store = try SQLiteStorageAdapter(
            at: .file(folder.appending(path: "store.sqlite")),
            configuration: configuration
        )
        try await check(row, on: store)
        try store.close()
    }
    #endif

    @Test(
        "Adapter with Keel’s protocol, served again",
        .enabled(if: SemanticsRow.isPresent, absence),
        arguments: SemanticsRow.all
    )
    func overKeel(_ row: SemanticsRow) async throws {
        let inner = StorageServer(adapter: InMemoryStorageAdapter(history: .seconds(3600)))
        let address = try #require(URL(string: "http://127.0.0.1"))
        let adapter = FirestoreStorageAdapter(.keel(address), transport: HandlerTransport(inner))
        try await check(row, on: adapter)
    }

    /// The rows that do not walk the store, which requires a change log.
    private static let withoutWalks = SemanticsRow.all.filter { row in
        let parts = ["trace-everything", "trace-no-from-without", "trace-no-from-below"]
        return !parts.contains { row.id.contains($0) }
    }

    @Test(
        "Adapter with the plain protocol, served again",
        .enabled(if: SemanticsRow.isPresent, absence),
        arguments: withoutWalks
    )
    func overPlain(_ row: SemanticsRow) async throws {
        let inner = StorageServer(adapter: InMemoryStorageAdapter(history: .seconds(3600)))
        let configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1",
            project: "p"
        )
        let adapter = FirestoreStorageAdapter(configuration, transport: HandlerTransport(inner))
        try await check(row, on: adapter)
    }

    func check(_ row: SemanticsRow, on adapter: some StorageAdapter) async throws {
        let served = Served(adapter)
        var run = SemanticsRun(row) { try await served.send($0, path: $1, $2) }
        guard let reason = Self.reason(for: row) else { return try await run.run() }
        await withKnownIssue("\(reason)") { try await run.run() }
    }
}

#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelStorage
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

/// The calls of Google's vectors, made one after the other on a store in PostgreSQL, also behind pgbouncer, and on one
/// in memory.
@Suite("Calls of Firestore's conformance vectors on PostgreSQL", .timeLimit(.minutes(10)))
struct FirestoreCallsOnPostgreSQLTests {
    private static let absence: Comment =
        "there are no vectors in \(FirestoreVector.folder.path); KEEL_CONFORMANCE names a folder"

    /// Makes the call of a vector, and returns how it ended and what the document of the vectors holds then.
    private func outcome(of vector: FirestoreVector, on client: StorageClient) async throws
        -> String
    {
        let end: String
        do {
            try await FirestoreCall(vector: vector).run(on: client)
            end = "done"
        } catch let error as StorageError {
            end = error.code.name
        } catch let reason as Inexpressible {
            end = reason.rawValue
        }
        let fields = try await client.findDocument("C/d")?.fields()
        return "\(end): \(fields.map { "\(Self.timeless($0))" } ?? "no document")"
    }

    /// Leaves out the times of the two clocks.
    private static func timeless(_ fields: DocumentFields) -> DocumentFields {
        DocumentFields(fields.map { ($0.name, timeless($0.value)) })
    }

    private static func timeless(_ value: DocumentValue) -> DocumentValue {
        switch value {
        case .timestamp: .string("a time")
        case .array(let values): .array(values.map(timeless))
        case .map(let fields): .map(timeless(fields))
        default: value
        }
    }

    @Test(
        "Each call has the same outcome as in memory",
        .enabled(if: !FirestoreVector.all.isEmpty, absence),
        arguments: [nil, .session, .transaction] as [PoolerProcess.Mode?]
    )
    func agrees(behind mode: PoolerProcess.Mode?) async throws {
        let server = try await PostgreSQLProcess.started()
        defer { server.stop() }
        var pooler: PoolerProcess?
        if let mode { pooler = try await PoolerProcess(mode, before: server.port) }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(pooler?.url ?? server.url))
        let (stored, remembered) = (StorageClient(adapter), StorageClient(InMemoryStorageAdapter()))
        // Without the document, and with what the calls have left of it.
        for round in 1...2 {
            for vector in FirestoreVector.all where vector.call != "listen" {
                let one = try await outcome(of: vector, on: stored)
                let other = try await outcome(of: vector, on: remembered)
                #expect(one == other, "\(vector.file), round \(round)")
            }
        }
        await adapter.close()
    }
}
#endif

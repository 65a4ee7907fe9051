import HTTPTypes
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization

/// A store that records who makes its calls.
final class PrincipalStore: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let seen = Mutex<[StoragePrincipal?]>([])

    init(_ upstream: any StorageAdapter = InMemoryStorageAdapter(clock: TestClock())) {
        self.upstream = upstream
    }

    /// The ids of the principals of all calls; nil for calls without one.
    var ids: [String?] { seen.withLock { $0.map { $0?.id } } }

    /// Forgets the calls so far.
    func forget() { seen.withLock { $0 = [] } }

    private func record() {
        let principal = StorageContext.current.principal
        seen.withLock { $0.append(principal) }
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        record()
        return try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        record()
        return try await upstream.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        record()
        return try await upstream.changes(request)
    }
}

/// Two users and a guest, by their tokens.
enum TestUsers {
    static let ann: HTTPFields = [.authorization: "Bearer token-a"]
    static let bob: HTTPFields = [.authorization: "Bearer token-b"]
    static let guest: HTTPFields = [.authorization: "Bearer guest"]
    static let stranger: HTTPFields = [.authorization: "Bearer token-x"]

    /// Authenticates requests by their token; a guest is anonymous.
    static let authenticate:
        @Sendable (HTTPRequest) async throws(StorageError) -> StoragePrincipal? = {
            head async throws(StorageError) -> StoragePrincipal? in
            switch head.headerFields[.authorization] {
            case "Bearer token-a": return StoragePrincipal(id: "ann")
            case "Bearer token-b": return StoragePrincipal(id: "bob")
            case "Bearer guest": return nil
            case nil: throw StorageError(.unauthenticated, "a token is missing")
            default: throw StorageError(.unauthenticated, "the token is unknown")
            }
        }
}

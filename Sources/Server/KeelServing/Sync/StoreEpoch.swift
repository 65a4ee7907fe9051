internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// The epoch of a store's data.
///
/// It is in a document of the store that clients cannot access, created on first use. Reading changes must not depend
/// on a write: while the document cannot be stored, the epoch is empty.
final class StoreEpoch: Sendable {
    private static let path = DocumentPath("\(ReservedNames.server)/epoch")
    private static let field: FieldPath = "epoch"

    private let adapter: any StorageAdapter
    private let make: @Sendable () -> String
    private let state = Mutex<String?>(nil)

    init(adapter: any StorageAdapter, make: @escaping @Sendable () -> String) {
        self.adapter = adapter
        self.make = make
    }

    /// The epoch; empty until ``value()`` has returned it.
    var known: String { state.withLock { $0 } ?? "" }

    /// Returns the epoch, created and stored if necessary; empty in a store without one that is read-only or full.
    func value() async throws(StorageError) -> String {
        if let known = state.withLock({ $0 }) { return known }
        // The server creates the epoch for itself, also if a caller's request is the first to need it.
        let epoch = try await StorageContext().run { () async throws(StorageError) -> String? in
            if let found = try await self.stored() { return found }
            do throws(StorageError) {
                return try await self.created()
            } catch {
                guard [.readOnly, .diskFull].contains(error.code) else { throw error }
                return nil
            }
        }
        guard let epoch else { return "" }
        return state.withLock { state in
            state = state ?? epoch
            return state ?? epoch
        }
    }

    /// Creates the epoch, or returns that of another server that created one at the same time.
    private func created() async throws(StorageError) -> String {
        let epoch = make()
        let body = DocumentBody(DocumentFields([("epoch", .string(epoch))]))
        let write = DocumentWrite(Self.path, .set(body), if: .isMissing)
        let results = try await adapter.commit([WriteBatch([write])])
        do throws(StorageError) {
            for result in results { _ = try result.get() }
            return epoch
        } catch {
            guard error.code == .alreadyExists, let other = try await stored() else { throw error }
            return other
        }
    }

    private func stored() async throws(StorageError) -> String? {
        let result = try await adapter.read(ReadRequest(.documents([Self.path])))
        guard case .documents(let documents) = result.payload,
            case .string(let epoch)? = documents.first?.flatMap({ $0[Self.field] })
        else { return nil }
        return epoch
    }
}

internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// The name of a store's data, kept in the store itself.
///
/// It stands in a document that only Keel sees, made when it is first asked for.
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

    /// The name, once ``value()`` has found it.
    var known: String { state.withLock { $0 } ?? "" }

    /// The name, made and stored if there is none.
    func value() async throws(StorageError) -> String {
        if let known = state.withLock({ $0 }) { return known }
        let found = try await stored()
        let epoch = if let found { found } else { try await created() }
        return state.withLock { state in
            state = state ?? epoch
            return state ?? epoch
        }
    }

    /// Two servers of one store may get here at once: the one that comes second takes the other's.
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

    /// 128 random bits.
    static func random() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

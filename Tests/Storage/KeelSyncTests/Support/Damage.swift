import Foundation
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelSync
import KeelTestSupport

#if SQLite
import KeelStorageSQLite
#endif

/// The ways in which an entry of an outbox can be unreadable.
enum Damage: String, CaseIterable, Sendable {
    /// A required field is missing.
    case kindMissing
    /// An attribute is not text.
    case attributeChanged
    /// The status is unknown to this version.
    case statusUnknown
    /// A count is out of range.
    case countAbsurd
    /// The end of the bytes is missing.
    case torn
    /// All bytes are random.
    case noise
    /// The entry is sealed with another key.
    case sealed

    /// Whether the key of the write remains readable.
    var leavesKey: Bool { self != .noise && self != .sealed }

    /// The stores that can be damaged in this way.
    var stores: [DamageableStore.Kind] {
        self == .sealed ? DamageableStore.Kind.sealing : DamageableStore.Kind.allCases
    }

    /// All combinations of damage and store.
    static var everywhere: [(Damage, DamageableStore.Kind)] {
        allCases.flatMap { damage in damage.stores.map { (damage, $0) } }
    }
}

/// A store whose entries a test can damage.
final class DamageableStore: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case memory
        #if SQLite
        case file
        #endif

        static var sealing: [Kind] { allCases.filter { $0 != .memory } }
    }

    let client: StorageClient
    private let sealing = RefusingByteSealing()

    init(_ kind: Kind, _ wall: Wall) throws {
        switch kind {
        case .memory: client = StorageClient(InMemoryStorageAdapter(now: { wall.now }))
        #if SQLite
        case .file:
            var configuration = SQLiteStorageAdapter.Configuration()
            configuration.sealing = sealing
            configuration.now = { wall.now }
            client = StorageClient(
                try SQLiteStorageAdapter(at: .temporary(), configuration: configuration)
            )
        #endif
        }
    }

    /// Damages the entry of a write.
    func damage(_ id: String, _ damage: Damage) async throws {
        let path = DocumentPath("__outbox.main__/\(id)")
        let change: DocumentWrite
        switch damage {
        case .kindMissing: change = .update(path, [FieldChange("kind", .remove)])
        case .attributeChanged: change = .update(path, [FieldChange("attributes.n", .set(7))])
        case .statusUnknown: change = .update(path, [FieldChange("status", .set("paused"))])
        case .countAbsurd: change = .update(path, [FieldChange("tries", .set(.integer(.max)))])
        case .torn: change = try await rewrite(path) { Array($0.dropLast(2)) }
        case .noise: change = try await rewrite(path) { _ in [0xff, 0x00, 0xff] }
        case .sealed:
            sealing.refuse(path.string)
            return
        }
        for result in try await client.adapter.commit([WriteBatch([change])]) {
            _ = try result.get()
        }
    }

    /// Makes sealed entries readable again.
    func heal() { sealing.refuse(nil) }

    private func rewrite(
        _ path: DocumentPath,
        _ bytes: ([UInt8]) -> [UInt8]
    ) async throws -> DocumentWrite {
        let result = try await client.adapter.read(ReadRequest(.documents([path])))
        guard case .documents(let documents) = result.payload, let document = documents.first ?? nil
        else { throw StorageError(.documentNotFound, "there is no entry") }
        return DocumentWrite(path, .set(DocumentBody(bytes: bytes(document.body.bytes))))
    }
}

internal import KeelCache
internal import KeelCore
public import KeelStorage
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Stores when resources were fetched.
///
/// ``CollectionFetchLedger`` persists across launches, ``InMemoryFetchLedger`` only in memory.
public protocol FetchLedger: Sendable {
    /// Returns the time of the last fetch; nil if there was none or it has been invalidated.
    func time(of key: String) async throws(DataSourceError) -> Date?

    /// Stores the time of a fetch, with the tags that invalidate it.
    func record(_ key: String, at time: Date, tags: Set<String>) async throws(DataSourceError)

    /// Removes all times with one of the tags.
    func invalidate(_ tags: Set<String>) async throws(DataSourceError)
}

/// A ledger in memory.
public final class InMemoryFetchLedger: FetchLedger {
    private let entries = Mutex<[String: (time: Date, tags: Set<String>)]>([:])

    /// Creates an empty ledger.
    public init() {}

    public func time(of key: String) async throws(DataSourceError) -> Date? {
        entries.withLock { $0[key]?.time }
    }

    public func record(
        _ key: String,
        at time: Date,
        tags: Set<String>
    ) async throws(DataSourceError) {
        entries.withLock { $0[key] = (time, tags) }
    }

    public func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.tags.isDisjoint(with: tags) }
        }
    }
}

/// A ledger in a collection of a store: `fetches/{key}`.
public struct CollectionFetchLedger: FetchLedger, FollowedLedger {
    private struct Record: Codable, Sendable {
        var key: String
        var time: Date
        var tags: [String]
    }

    private let records: DocumentCollection<Record>
    private let preparation: SchemaPreparation

    /// Creates a ledger.
    public init(_ storage: StorageClient, collection: CollectionPath = "fetches") {
        records = storage.collection(collection, as: Record.self)
        // In a sealed store, this index does not reveal the tags.
        let index = IndexDefinition(collection.name, [.contains("tags")], isEqualityOnly: true)
        preparation = SchemaPreparation(StorageSchema(indexes: [index]))
    }

    public func time(of key: String) async throws(DataSourceError) -> Date? {
        try await DataSourceError.local {
            try await records.find(Self.id(of: key))?.time
        }
    }

    public func record(
        _ key: String,
        at time: Date,
        tags: Set<String>
    ) async throws(DataSourceError) {
        try await DataSourceError.local {
            let record = Record(key: key, time: time, tags: tags.map(Self.shortened).sorted())
            _ = try await records.save(record, id: Self.id(of: key))
        }
    }

    public func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        try await DataSourceError.local {
            try await preparation.run(on: records.client.adapter)
            var rest = tags.map(Self.shortened).sorted()[...]
            while !rest.isEmpty {
                // The maximum number of values in one condition.
                let part = rest.prefix(30).map { DocumentValue.string($0) }
                _ = try await records.deleteAll { $0.where(.arrayContainsAny("tags", part)) }
                rest = rest.dropFirst(part.count)
            }
        }
    }

    func scope(of key: String) -> StoreScope {
        StoreScope(
            client: records.client,
            collection: records.path,
            document: records.path.document(Self.id(of: key))
        )
    }

    func copy(of key: String) async throws(DataSourceError) -> KeptCopy<Date> {
        let copies = try await CollectionDataSource(records) { Self.id(of: $0.key) }
            .copies(of: [Self.id(of: key)])
        return KeptCopy((copies.value?.first ?? nil)?.time, at: copies.position)
    }

    private static func id(of key: String) -> String {
        let plain = key.utf8.map { byte -> String in
            let isPlain =
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || byte == UInt8(ascii: "-")
            return isPlain ? String(UnicodeScalar(byte)) : "=" + Hexadecimal.text(of: [byte])
        }
        return shortened(plain.joined())
    }

    /// Returns the text, or its hash if it is too long for the store.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count >= StoredName.longest else { return text }
        // No encoded key begins like this.
        return "==" + Hexadecimal.text(of: SecureHash.digest(Array(text.utf8)))
    }
}

final class TransientFetchLedger: FetchLedger {
    private let times = Cache<String, Date>(CacheConfiguration(limits: .count(256)))

    func time(of key: String) async throws(DataSourceError) -> Date? { times.peek(key) }

    func record(
        _ key: String,
        at time: Date,
        tags: Set<String>
    ) async throws(DataSourceError) {
        times.setSynchronously(time, for: key, tags: tags.sorted())
    }

    func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        // A cache without a tier cannot fail.
        for tag in tags { try? await times.removeAll(tagged: tag) }
    }
}

internal import KeelStorage
internal import KeelStorageAdapting

struct KeptQuestion: Sendable {
    /// Whether a fetched value has been kept before, so that an empty list counts.
    let wasKept: Bool
    /// Whether the copy must include the store's position.
    let wantsPosition: Bool
}

struct KeptCopy<Value: Sendable>: Sendable {
    let value: Value?
    /// The store's position when it was read.
    let position: ChangeCursor?
    /// The size in the store in bytes, if counted.
    let bytes: Int?

    init(_ value: Value?, at position: ChangeCursor? = nil, bytes: Int? = nil) {
        self.value = value
        self.position = position
        self.bytes = bytes
    }

    func at(_ position: ChangeCursor?) -> KeptCopy {
        KeptCopy(value, at: position, bytes: bytes)
    }

    func map<Other: Sendable>(
        _ transform: (Value) throws(DataSourceError) -> Other
    ) throws(DataSourceError) -> KeptCopy<Other> {
        guard let value else { return KeptCopy<Other>(nil, at: position) }
        return KeptCopy<Other>(try transform(value), at: position, bytes: bytes)
    }
}

/// A collection, or a document in it, whose changes affect a copy.
struct StoreScope: Sendable {
    let client: StorageClient
    let collection: CollectionPath
    var document: DocumentPath?

    @concurrent
    func position() async throws(DataSourceError) -> ChangeCursor? {
        var request = ReadRequest(.documents([]))
        request.needsPosition = client.capabilities.contains(.changeLog)
        do throws(StorageError) {
            return try await client.read(request, for: "follow").position
        } catch {
            throw DataSourceError(error)
        }
    }
}

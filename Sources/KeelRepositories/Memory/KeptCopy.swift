internal import KeelStorage

/// How what is kept is to be read.
struct KeptQuestion: Sendable {
    /// Whether a fetched value has been kept before: an empty list is then an answer.
    let wasKept: Bool
    /// Whether the copy is to say which state of the store it comes from.
    let wantsPosition: Bool
}

/// What is kept, or that nothing is.
struct KeptCopy<Value: Sendable>: Sendable {
    let value: Value?
    /// The state of the store that it was read from.
    let position: ChangeCursor?
    /// How many bytes it has in the store, where somebody counted them.
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

/// A collection whose changes concern what is kept, or one document of it.
struct StoreScope: Sendable {
    let client: StorageClient
    let collection: CollectionPath
    var document: DocumentPath?

    /// The state that the store has now.
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

internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// The persistent state of a mirror, in a reserved collection.
///
/// With a change log in the first store, it is one cursor; otherwise one note per commit, from before the commit until
/// its documents have been copied. It is kept in the mirror, or in the first store if only that accepts reserved names.
struct MirrorRecord: Sendable {
    static let collection = "__keel_mirror__"

    let keeper: any StorageAdapter

    let reader: ChangeReader

    private let cursorPath: DocumentPath

    let flaw: String?

    init?(_ name: String, _ primary: some StorageAdapter, _ mirror: some StorageAdapter) {
        reader = ChangeReader("keel.mirror.\(name)", lifetime: .seconds(30 * 86_400))
        cursorPath = DocumentPath(CollectionPath(trusted: Self.collection), name)
        // With the prefix, within the 100 bytes of a reader's name.
        flaw = name.utf8.count > 80 ? "the name has more than 80 bytes" : cursorPath.flaw
        if Self.takesReservedNames(mirror) {
            keeper = mirror
        } else if Self.takesReservedNames(primary) {
            keeper = primary
        } else {
            return nil
        }
    }

    /// Returns whether a store accepts reserved names, as Keel's stores do, which have a change log.
    static func takesReservedNames(_ store: some StorageAdapter) -> Bool {
        store.capabilities.contains(.changeLog)
    }

    static func isRecord(_ path: DocumentPath) -> Bool {
        StoredName.same(path.collection.string, collection)
    }

    // MARK: The cursor

    func cursor() async throws(StorageError) -> ChangeCursor? {
        let result = try await keeper.read(ReadRequest(.documents([cursorPath])))
        guard case .documents(let documents) = result.payload,
            case .bytes(let bytes)? = documents.first??["cursor"]
        else { return nil }
        return ChangeCursor(bytes: bytes)
    }

    func batch(movingTo cursor: ChangeCursor, if condition: WriteCondition = .none) -> WriteBatch {
        let body = DocumentBody(["cursor": .bytes(cursor.bytes)])
        return WriteBatch([DocumentWrite(cursorPath, .set(body), if: condition)])
    }

    // MARK: Notes

    func note(_ paths: Set<DocumentPath>) async throws(StorageError) -> DocumentPath {
        let note = DocumentPath(CollectionPath(trusted: Self.collection), DocumentPath.randomID())
        let names = paths.map { DocumentValue.string($0.string) }
        let body = DocumentBody(["paths": .array(names)])
        try await commit([WriteBatch([DocumentWrite(note, .set(body))])])
        return note
    }

    func noted() async throws(StorageError) -> (Set<DocumentPath>, Set<DocumentPath>) {
        let query = DocumentQuery(CollectionPath(trusted: Self.collection))
        let result = try await keeper.read(ReadRequest(.query(query)))
        guard case .found(let documents) = result.payload else { return ([], []) }
        var paths: Set<DocumentPath> = []
        var notes: Set<DocumentPath> = []
        for document in documents {
            guard let names = document["paths"]?.arrayValue else { continue }
            notes.insert(document.path)
            paths.formUnion(names.compactMap(\.stringValue).map { DocumentPath(trusted: $0) })
        }
        return (paths, notes)
    }

    func remove(_ notes: Set<DocumentPath>) async throws(StorageError) {
        guard !notes.isEmpty else { return }
        let writes = notes.sorted().map { DocumentWrite($0, .delete) }
        let batches = stride(from: 0, to: writes.count, by: WriteValidation.mostWrites).map {
            WriteBatch(Array(writes[$0..<min($0 + WriteValidation.mostWrites, writes.count)]))
        }
        try await commit(batches)
    }

    func commit(_ batches: [WriteBatch]) async throws(StorageError) {
        for result in try await keeper.commit(batches) { _ = try result.get() }
    }
}

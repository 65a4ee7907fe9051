internal import KeelDocuments

/// The values of a query's result, without the documents that cannot be decoded.
///
/// It converts the indexes in changes, which count documents, to indexes of values.
struct DecodedResult<Item: Sendable> {
    private(set) var items: [Item] = []
    private var isDecoded: [Bool] = []
    private var undecoded: [DocumentPath: UnreadableDocument] = [:]

    var failures: [UnreadableDocument] { Array(undecoded.values) }

    mutating func apply(
        _ changes: [DocumentChange],
        decode: (Document) throws(StorageError) -> Item
    ) -> [DocumentChange] {
        changes.compactMap { change in
            kind(of: change, decode).map { DocumentChange($0, change.document) }
        }
    }

    private mutating func kind(
        of change: DocumentChange,
        _ decode: (Document) throws(StorageError) -> Item
    ) -> DocumentChange.Kind? {
        switch change.kind {
        case .removed(let index):
            undecoded[change.document.path] = nil
            return remove(at: index).map { .removed(from: $0) }
        case .added(let index):
            return insert(item(of: change.document, decode), at: index).map { .added(at: $0) }
        case .modified(let old, let new):
            let item = item(of: change.document, decode)
            if let item, items.count == isDecoded.count {
                items.replace(at: old, by: item, movedTo: new)
                return change.kind
            }
            let removed = remove(at: old)
            let added = insert(item, at: new)
            guard let removed else { return added.map { .added(at: $0) } }
            return added.map { .modified(from: removed, to: $0) } ?? .removed(from: removed)
        }
    }

    private mutating func remove(at index: Int) -> Int? {
        let position = position(of: index)
        guard isDecoded.remove(at: index) else { return nil }
        items.remove(at: position)
        return position
    }

    private mutating func insert(_ item: Item?, at index: Int) -> Int? {
        let position = position(of: index)
        isDecoded.insert(item != nil, at: index)
        guard let item else { return nil }
        items.insert(item, at: position)
        return position
    }

    private mutating func item(
        of document: Document,
        _ decode: (Document) throws(StorageError) -> Item
    ) -> Item? {
        do throws(StorageError) {
            let item = try decode(document)
            undecoded[document.path] = nil
            return item
        } catch {
            undecoded[document.path] = UnreadableDocument(document.path, error)
            return nil
        }
    }

    private func position(of index: Int) -> Int {
        items.count == isDecoded.count ? index : isDecoded[..<index].count { $0 }
    }
}

import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelToolsTestSupport

extension Scratch {
    /// Creates a store in the file `s.sqlite`.
    func store() throws -> SQLiteStorageAdapter {
        try SQLiteStorageAdapter.opened(at: file("s.sqlite").path, for: .creating)
    }

    /// `count` lines with an id and a number each.
    func numberedLines(_ count: Int) throws -> URL {
        let lines = (1...count).map { #"{"id":"d\#($0)","number":\#($0)}"# }
        return try file("lines.jsonl", holding: lines.joined(separator: "\n") + "\n")
    }
}

extension URL {
    /// The file's contents as text.
    var text: String { get throws { String(decoding: try Data(contentsOf: self), as: UTF8.self) } }
}

extension DocumentImport.Settings {
    /// Settings for a collection called `c` whose ids are in the field `id`, a batch for each call.
    init(_ file: URL, id: FieldPath? = "id", batch: Int = 500) {
        self.init(file: file)
        collection = "c"
        idField = id
        batchSize = batch
        batchesAtOnce = 1
    }
}

extension StorageAdapter {
    /// The documents of a collection, in the order of their ids.
    func all(_ collection: CollectionPath) async throws -> [Document] {
        try await StorageClient(self).queryDocuments(DocumentQuery(collection))
    }
}

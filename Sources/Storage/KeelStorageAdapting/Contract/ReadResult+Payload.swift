package import KeelDocuments

/// The content of an answer, for callers who know which operation it answers; anything else is an error.
extension ReadResult {
    package var documents: [Document?] {
        get throws(StorageError) {
            guard case .documents(let documents) = payload else { throw Self.wrong("documents") }
            return documents
        }
    }

    package var found: [Document] {
        get throws(StorageError) {
            guard case .found(let documents) = payload else { throw Self.wrong("a query") }
            return documents
        }
    }

    package var values: [DocumentValue] {
        get throws(StorageError) {
            guard case .values(let values) = payload else { throw Self.wrong("an aggregation") }
            return values
        }
    }

    package func checkedValues(_ count: Int) throws(StorageError) -> [DocumentValue] {
        let values = try values
        guard values.count == count else { throw Self.wrong("an aggregation") }
        return values
    }

    package var names: [String] {
        get throws(StorageError) {
            guard case .names(let names) = payload else { throw Self.wrong("a listing") }
            return names
        }
    }

    package static func wrong(_ operation: String) -> StorageError {
        StorageError(.unknown, "the store returned the wrong kind of result for \(operation)")
    }
}

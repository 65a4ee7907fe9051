import ArgumentParser
import KeelDocumentTools
import KeelStorage
import KeelStorageFirestore

/// Parses arguments, and reports mistakes as errors of the command line.
enum Parsed {
    static func collection(_ text: String) throws -> CollectionPath {
        let count = text.split(separator: "/", omittingEmptySubsequences: false).count
        guard count % 2 == 1, !text.isEmpty else {
            throw ValidationError("“\(text)” is not a collection: NAME or NAME/ID/NAME.")
        }
        return CollectionPath(text)
    }

    static func document(_ text: String) throws -> DocumentPath {
        let count = text.split(separator: "/", omittingEmptySubsequences: false).count
        guard count % 2 == 0 else {
            throw ValidationError("“\(text)” is not a document: COLLECTION/ID.")
        }
        return DocumentPath(text)
    }

    /// Refuses `-` for a file that cannot come from standard input.
    static func requireFile(_ path: String?, _ what: String) throws {
        guard path == "-" else { return }
        throw ValidationError(
            "\(what) cannot come from standard input: type its path; ./- is a file called -."
        )
    }

    static func scope(_ text: String, isGroup: Bool) throws -> DocumentScope {
        guard isGroup else { return .collection(try collection(text)) }
        guard !text.contains("/") else {
            throw ValidationError("--group takes the name of collections, without “/”.")
        }
        return .group(text)
    }

    static func filter(_ text: String) throws -> DocumentFilter {
        try usage { () throws(StorageError) in try WhereClause.filter(text) }
    }

    static func order(_ text: String) throws -> DocumentQuery.Order {
        try usage { () throws(StorageError) in try WhereClause.order(text) }
    }

    /// Returns a text as JSON, with quotes.
    static func json(_ text: String) -> String {
        String(decoding: DocumentJSON.plain(.string(text)), as: UTF8.self)
    }

    private static func usage<Value>(_ parse: () throws(StorageError) -> Value) throws -> Value {
        do throws(StorageError) {
            return try parse()
        } catch {
            throw ValidationError(error.message)
        }
    }
}

import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageFirestore

/// Parses arguments, and reports mistakes as errors of the command line.
enum Parsed {
    /// A document, or all documents of a collection.
    enum Target {
        case document(DocumentPath)
        case collection(CollectionPath)
    }

    static func collection(_ text: String) throws -> CollectionPath {
        let names = names(in: text)
        guard names.count % 2 == 1, !names.contains("") else {
            throw ValidationError(
                "“\(text)” is not a collection: type NAME or NAME/ID/NAME, such as notes."
            )
        }
        return CollectionPath(text)
    }

    static func document(_ text: String) throws -> DocumentPath {
        let names = names(in: text)
        guard names.count % 2 == 0, !names.contains("") else {
            throw ValidationError(
                "“\(text)” is not a document: type COLLECTION/ID, such as notes/1."
            )
        }
        return DocumentPath(text)
    }

    /// Returns what a path names: a document if it has an even number of names, otherwise a collection.
    static func target(_ text: String) throws -> Target {
        names(in: text).count % 2 == 0
            ? .document(try document(text)) : .collection(try collection(text))
    }

    private static func names(in path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Refuses `-` for a file that cannot come from standard input.
    static func requireFile(_ path: String?, _ what: String) throws {
        guard path == "-" else { return }
        throw ValidationError(
            "\(what) cannot come from standard input: type its path; ./- is a file called -."
        )
    }

    /// Refuses `-` for more than one file of a command.
    static func requireOneStandardInput(_ files: [String]) throws {
        guard files.count(where: { $0 == "-" }) > 1 else { return }
        throw ValidationError(
            "Standard input can be only one of the files: type the path of the other one."
        )
    }

    /// Refuses `-` for a file that cannot be standard output.
    static func requirePath(_ path: String?, of option: String) throws {
        guard path == "-" else { return }
        throw ValidationError("\(option) needs a file: type its path; ./- is a file called -.")
    }

    /// Refuses the name of a file in the place of a collection, such as from a shell's pattern.
    static func requireNoFile(_ collection: String) throws {
        guard collection.contains("."), FileManager.default.fileExists(atPath: collection) else {
            return
        }
        throw ValidationError(
            "“\(collection)” is a file, not a collection: type one such as notes in its place."
        )
    }

    static func scope(_ text: String, isGroup: Bool) throws -> DocumentScope {
        guard isGroup else { return .collection(try collection(text)) }
        guard !text.contains("/") else {
            throw ValidationError(
                "--group takes the name of collections, without “/”: type the last name alone."
            )
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

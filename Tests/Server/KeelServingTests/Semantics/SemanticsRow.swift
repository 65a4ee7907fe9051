import Foundation
import KeelStorageFirestore
import KeelTestSupport
import Testing

/// A row of a published table of facts about Firestore: documents, a request, and the expected answer.
struct SemanticsRow: Sendable {
    let json: FirestoreJSON

    var id: String { json["id"]?.text ?? "" }
    var expected: FirestoreJSON { json["expected"] ?? [:] }
}

extension SemanticsRow: CustomTestStringConvertible {
    var testDescription: String { id }
}

extension SemanticsRow {
    /// The location of the table, which may be absent.
    static let file = URL.conformance.appending(path: "firestore-semantics.json")

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// All rows; empty if the file is absent.
    static let all: [SemanticsRow] = {
        guard let data = try? Data(contentsOf: file) else { return [] }
        guard let rows = try? FirestoreJSON(parsing: Array(data))["rows"]?.elements else {
            fatalError("The rows of \(file.path) cannot be read")
        }
        return rows.map(SemanticsRow.init)
    }()
}

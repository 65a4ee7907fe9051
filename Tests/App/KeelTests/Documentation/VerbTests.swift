import Foundation
import Keel
import Testing

/// Checks that typed and untyped calls have one vocabulary: the table of calls in “Your first week”.
///
/// The rows are in `DocumentVerb`, whose code the compiler checks. A new public call of these types must get a place in
/// the table, or a reason here.
@Suite("The same verbs everywhere", .timeLimit(.minutes(1)))
struct VerbTests {
    /// The public types, and the name of each in the calls of `DocumentVerb`.
    private static let receivers = [
        "StorageClient": "storage", "DocumentCollection": "notes", "TypedCollection": "notes",
        "TypedDocuments": "notes", "StorageTransaction": "tx", "WriteBatchBuilder": "batch",
    ]

    /// Public calls that are not in the table, because they neither read nor write documents by themselves, or because
    /// only one side can have them.
    private static let others: [String: [String: String]] = [
        "storage": [
            "acting": "returns a client", "limited": "returns a client",
            "asOf": "returns a client", "allowingStaleness": "returns a client",
            "collection": "returns the typed side", "collectionGroup": "returns the typed side",
            "transaction": "begins a transaction", "commit": "begins a batch",
            "prepare": "declares the schema", "currentTime": "reads the clock of the store",
            "collections": "reads names and no documents",
        ],
        "notes": ["coding": "returns a collection", "decode": "reads nothing"],
        "tx": ["write": "takes the calls of a batch"],
        "batch": ["verify": "a transaction verifies everything that it has read"],
    ]

    /// The result of a call, and the documents after it.
    private struct Outcome: Equatable {
        var read: [String]
        var documents: [DocumentPath: DocumentBody]

        init(of call: DocumentVerb.Call) async throws {
            var configuration = StorageClient.Configuration()
            configuration.makeID = { DocumentVerb.newID }
            let storage = StorageClient(InMemoryStorageAdapter(), configuration: configuration)
            let notes = storage.collection("notes", as: DocumentVerb.Note.self)
            try await notes.save(DocumentVerb.stored)
            read = try await call(storage, notes)
            let all = try await storage.queryDocuments(DocumentQuery("notes"))
            documents = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0.body) })
        }
    }

    @Test("All calls of a row do the same", arguments: DocumentVerb.all)
    func effects(_ verb: DocumentVerb) async throws {
        let nothing = try await Outcome { _, _ in [] }
        var first: Outcome?
        for column in DocumentVerb.Column.allCases {
            guard case .calls(let calls)? = verb.cells[column] else { continue }
            for (number, call) in zip(1..., calls) {
                let outcome = try await Outcome(of: call)
                #expect(outcome != nothing, "\(column), call \(number)")
                #expect(outcome == first ?? outcome, "\(column), call \(number)")
                first = first ?? outcome
            }
        }
    }

    // MARK: The page

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: DocumentedFile.root.appending(path: path), encoding: .utf8)
    }

    /// Returns the page's section with the table.
    private static func section() throws -> String {
        let parts = try text("Documentation/YourFirstWeek.md").components(separatedBy: "\n## ")
        return try #require(parts.first { $0.hasPrefix("The same verbs everywhere\n") })
    }

    /// Returns the names of the calls in each cell of the table; an empty cell has none.
    private static func rows() throws -> [[[String]]] {
        try section().components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { cell in
                cell.matches(of: /`(\w+)[^`]*`/).map { String($0.1) }
            }
        }
    }

    @Test("The table has the rows and the empty cells of the list")
    func table() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.first?.first) == DocumentVerb.all.map(\.name))
        for (row, verb) in zip(rows, DocumentVerb.all) {
            let columns = DocumentVerb.Column.allCases
            #expect(row.count == columns.count, "\(verb.name)")
            for (cell, column) in zip(row, columns) {
                guard case .calls? = verb.cells[column] else {
                    #expect(cell.isEmpty, "\(verb.name), \(column)")
                    continue
                }
                #expect(!cell.isEmpty, "\(verb.name), \(column)")
            }
        }
    }

    @Test("The page has the reasons for empty cells")
    func reasons() throws {
        let lines = try Self.section().components(separatedBy: "\n")
        let listed = lines.filter { $0.hasPrefix("- ") }.map { String($0.dropFirst(2)) }
        #expect(listed == DocumentVerb.Reason.allCases.map(\.rawValue))
        let used = DocumentVerb.all.flatMap(\.cells.values).compactMap { cell in
            if case .absent(let reason) = cell { reason } else { nil }
        }
        #expect(Set(used) == Set(DocumentVerb.Reason.allCases))
    }

    // MARK: The public calls

    /// Returns the names of the public calls of the types in a source file, by receiver.
    private static func calls(in code: String) -> [String: Set<String>] {
        var names: [String: Set<String>] = [:]
        var receiver: String?
        let types = /(?:\w+ )*(?:extension|struct|class|protocol|enum|actor) ([\w.]+)/
        for line in code.components(separatedBy: "\n") {
            if let type = line.prefixMatch(of: types) {
                receiver = receivers[String(type.1)]
            } else if let receiver,
                let function = line.prefixMatch(of: /[ ]{4}public (?:mutating )?func (\w+)/)
            {
                names[receiver, default: []].insert(String(function.1))
            }
        }
        return names
    }

    @Test("Each public call is in the table, which names no other, and in the list")
    func vocabulary() throws {
        let list = try Self.text("Tests/App/KeelTests/Documentation/DocumentVerb.swift")
        var existing: [String: Set<String>] = [:]
        let folder = DocumentedFile.root.appending(path: "Sources/Storage/KeelStorage").path
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder)
        where name.hasSuffix(".swift") {
            let code = try Self.text("Sources/Storage/KeelStorage/\(name)")
            existing.merge(Self.calls(in: code)) { $0.union($1) }
        }
        var named: [String: Set<String>] = [:]
        for row in try Self.rows() {
            for (cell, receiver) in zip(row, ["storage", "storage", "notes", "tx", "batch"]) {
                named[receiver, default: []].formUnion(cell)
            }
        }
        #expect(Set(existing.keys) == Set(named.keys))
        for (receiver, names) in named {
            let others = Set(Self.others[receiver, default: [:]].keys)
            #expect(existing[receiver, default: []] == names.union(others), "\(receiver)")
            #expect(names.isDisjoint(with: others), "\(receiver)")
            for name in names {
                let isCalled = list.contains("\(receiver).\(name)(")
                #expect(isCalled, "\(receiver).\(name) is not in the list")
            }
        }
    }
}

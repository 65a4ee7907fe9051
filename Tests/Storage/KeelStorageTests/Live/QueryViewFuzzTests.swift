import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

/// Random changes to a view, each compared with a fresh evaluation of the query.
@Suite("Query views")
struct QueryViewFuzzTests {
    static let queries: [DocumentQuery] = {
        let all = DocumentQuery("notes")
        return [
            all,
            all.order(by: "n"),
            all.order(by: "n", .descending),
            all.where(.greater("n", 4)).order(by: "n"),
            all.order(by: "n").limit(to: 3),
            all.order(by: "n").limit(toLast: 3),
            all.order(by: "n", .descending).limit(toLast: 4),
            all.order(by: "n").offset(2).limit(to: 3),
            all.order(by: "n").offset(2),
            all.where(.equal("kind", 1)).order(by: "n").limit(to: 5),
            all.order(by: "n").start(at: 3).end(before: 8).limit(to: 4),
            all.order(by: "n").select("n"),
            all.limit(to: 0),
            DocumentQuery(group: "notes").order(by: "n").limit(to: 6),
        ]
    }()

    @Test("A view follows random changes exactly", arguments: queries.indices)
    func follows(_ index: Int) throws {
        let query = try QueryValidation.checked(Self.queries[index])
        let prepared = PreparedQuery(query)
        var random = Xorshift(seed: UInt64(index) * 7_919 + 17)
        var documents: [DocumentPath: Document] = [:]
        var view = QueryView(query)
        var shown: [Document] = []
        var revision: Int64 = 0
        _ = view.load([])
        for step in 0..<600 {
            var changes: [ChangePage.Change] = []
            var touched: Set<DocumentPath> = []
            for _ in 0...random.next(3) {
                let path = DocumentPath("notes/\(random.next(40))")
                guard touched.insert(path).inserted else { continue }
                revision += 1
                if random.next(3) == 0 {
                    guard documents.removeValue(forKey: path) != nil else { continue }
                    changes.append(.removed(path, Revision(number: revision)))
                } else {
                    let document = Self.document(path, revision, &random)
                    documents[path] = document
                    changes.append(.current(document))
                }
            }
            let steps: [DocumentChange]
            switch view.apply(changes) {
            case .unchanged: steps = []
            case .changed(let taken): steps = taken
            case .needsRead: steps = view.load(try Self.result(of: view.readQuery, documents))
            }
            shown.apply(steps) { $0 }
            let expected = try prepared.result(
                of: documents.values.compactMap { document in
                    prepared.place(of: document).map { ($0, document) }
                }
            )
            #expect(view.documents == expected, "query \(index), step \(step)")
            #expect(shown == expected, "the steps of query \(index), step \(step)")
            guard view.documents == expected, shown == expected else { return }
            let size = expected.reduce(0) { $0 + $1.body.bytes.count }
            #expect(view.bytes >= size, "the size of query \(index), step \(step)")
        }
        let gone = documents.keys.map { path in
            ChangePage.Change.removed(path, Revision(number: revision + 1))
        }
        if case .needsRead = view.apply(gone) { _ = view.load([]) }
        #expect(view.bytes == 0, "the size of query \(index) without documents")
    }

    @Test("A view reads again if all of its documents leave before another one changes")
    func emptied() throws {
        let query = try QueryValidation.checked(DocumentQuery("notes").order(by: "n").limit(to: 1))
        func note(_ number: Int64, revision: Int64 = 1) -> Document {
            Document.stub(
                DocumentPath("notes/\(number)"),
                ["n": .integer(number)],
                revision: revision
            )
        }
        var documents = Dictionary(
            uniqueKeysWithValues: (Int64(0)..<40).map { (note($0).path, note($0)) }
        )
        var view = QueryView(query)
        _ = view.load(try Self.result(of: view.readQuery, documents))
        // In one batch, all documents that the view keeps are deleted, and one far behind them changes.
        let kept = try Self.result(of: view.readQuery, documents)
        #expect(kept.count < 30)
        var changes: [ChangePage.Change] = []
        for document in kept {
            documents[document.path] = nil
            changes.append(.removed(document.path, Revision(number: 2)))
        }
        documents["notes/39"] = note(39, revision: 3)
        changes.append(.current(note(39, revision: 3)))
        guard case .needsRead = view.apply(changes)
        else { return fail("shows \(view.documents.map(\.path))") }
        _ = view.load(try Self.result(of: view.readQuery, documents))
        #expect(view.documents.map(\.path) == ["notes/17"])
    }

    private static func document(
        _ path: DocumentPath,
        _ revision: Int64,
        _ random: inout Xorshift
    ) -> Document {
        var fields: DocumentFields = ["kind": .integer(Int64(random.next(2)))]
        if random.next(8) > 0 { fields["n"] = .integer(Int64(random.next(12))) }
        return Document.stub(
            path,
            fields,
            revision: revision,
            at: Timestamp(microseconds: revision)
        )
    }

    private static func result(
        of query: DocumentQuery,
        _ documents: [DocumentPath: Document]
    ) throws -> [Document] {
        let prepared = PreparedQuery(query)
        return try prepared.result(
            of: documents.values.compactMap { document in
                prepared.place(of: document).map { ($0, document) }
            }
        )
    }
}

/// A small generator with a seed, so that a failure can be reproduced.
struct Xorshift: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed == 0 ? 1 : seed }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

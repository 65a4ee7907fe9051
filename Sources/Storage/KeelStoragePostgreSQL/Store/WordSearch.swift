#if PostgreSQL
internal import KeelStorageAdapting

/// The selection of the documents of a collection that have all words of a search (`TableSnapshot.eachRow`), in the
/// order of their numbers.
struct WordSearch {
    let sql: String
    private let index: Int64
    private let fields: [Int64]
    private let words: [[UInt8]]

    init(_ search: SearchFilter, in index: StoredIndex) {
        self.index = index.number
        fields = search.definition.fields.enumerated()
            .filter { search.fields.contains($0.element) }.map { Int64($0.offset) }
        // A whole word selects fewer documents than a prefix, and a long one fewer than a short one.
        let terms = search.terms.sorted { one, other in
            one.isPrefix == other.isPrefix
                ? one.word.utf8.count > other.word.utf8.count : !one.isPrefix
        }
        var words: [[UInt8]] = []
        func condition(_ term: TextSearch.Term, on table: String) -> String {
            let conditions = term.spellings.map { spelling -> String in
                let word = Array(spelling.utf8.prefix(StoredWord.longest))
                words.append(word)
                guard term.isPrefix, let last = word.last else {
                    return "\(table).word = $\(words.count + 7)"
                }
                // UTF-8 has no byte 255, so the next byte ends the range of the words with this beginning.
                words.append(word.dropLast() + [last + 1])
                let (start, end) = ("$\(words.count + 6)", "$\(words.count + 7)")
                return "\(table).word >= \(start) AND \(table).word < \(end)"
            }
            return "(\(conditions.joined(separator: " OR ")))"
        }
        let first = terms.first.map { condition($0, on: "w") } ?? "true"
        let others = terms.dropFirst().map { term in
            """
            AND (
                SELECT true FROM keel.words o WHERE o.store = $1 AND o.ix = $6 AND o.cid = c.cid AND o.did = w.did
                AND o.field = ANY ($7) AND \(condition(term, on: "o")) LIMIT 1
            ) IS TRUE
            """
        }
        self.words = words
        sql = """
            SELECT \(TableSnapshot.columns) FROM (
                SELECT DISTINCT w.did FROM keel.words w
                WHERE w.store = $1 AND w.ix = $6 AND w.cid = c.cid AND w.did > c.did AND w.field = ANY ($7)
                AND \(first)
                \(others.joined(separator: "\n"))
                ORDER BY w.did LIMIT $5
            ) f JOIN keel.documents d ON d.store = $1 AND d.did = f.did ORDER BY d.did
            """
    }

    func add(to arguments: inout StatementArguments) {
        arguments.add(index)
        arguments.add(fields)
        for word in words { arguments.add(word) }
    }
}
#endif

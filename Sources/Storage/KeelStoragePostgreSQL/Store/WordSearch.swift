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
        // Each spelling of a word is selected by itself: for `word = $8 OR word = $9`, and without statistics also for
        // `word IN ($8, $9)`, the server would read all words of the collection.
        func conditions(_ term: TextSearch.Term) -> [String] {
            let spellings = term.spellings.map { Array($0.utf8.prefix(StoredWord.longest)) }
            guard term.isPrefix, let first = spellings.first, let last = spellings.last,
                let byte = last.last
            else {
                return spellings.map { word in
                    words.append(word)
                    return "word = $\(words.count + 7)"
                }
            }
            words.append(first)
            // UTF-8 has no byte 255, so the next byte ends the range of the words with these beginnings.
            words.append(last.dropLast() + [byte + 1])
            return ["word >= $\(words.count + 6) AND word < $\(words.count + 7)"]
        }
        let first = (terms.first.map(conditions) ?? ["true"]).map { condition in
            """
            SELECT w.did FROM keel.words w
            WHERE w.store = $1 AND w.ix = $6 AND w.cid = c.cid AND w.did > c.did AND w.field = ANY ($7)
            AND \(condition)
            """
        }
        let others = terms.dropFirst().map { term in
            let isThere = conditions(term).map { condition in
                """
                (
                    SELECT true FROM keel.words o WHERE o.store = $1 AND o.ix = $6 AND o.cid = c.cid AND o.did = w.did
                    AND o.field = ANY ($7) AND \(condition) LIMIT 1
                ) IS TRUE
                """
            }
            return "AND (\(isThere.joined(separator: " OR ")))"
        }
        self.words = words
        sql = """
            SELECT \(TableSnapshot.columns) FROM (
                SELECT DISTINCT w.did FROM (\(first.joined(separator: " UNION ALL "))) w WHERE true
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

package import KeelDocuments

package struct SearchFilter: Sendable {
    package let definition: SearchDefinition
    package let terms: [TextSearch.Term]
    package let fields: [FieldPath]
    private let paths: [CompiledFieldPath]
    /// Whether a store may have cut words that are as long as those of the search.
    private let hasLongTerms: Bool

    /// The length in bytes from which a store may cut words: PostgreSQL at this one, SQLite at 32 KiB.
    package static let longestWord = 1_500

    /// Creates a filter from the first definition that covers a search.
    ///
    /// - Throws: `StorageError/Code/indexRequired` if no definition covers the search.
    package init(
        _ search: TextSearch,
        in scope: DocumentQuery.Scope,
        among definitions: [SearchDefinition]
    ) throws(StorageError) {
        let name = scope.searchedName
        let fitting = definitions.first { definition in
            StoredName.same(definition.collection, name)
                && (search.fields ?? []).allSatisfy(definition.fields.contains)
        }
        guard let fitting else {
            let fields = (search.fields ?? []).map { "\"\($0)\"" }.joined(separator: ", ")
            throw StorageError(
                .indexRequired,
                "searching “\(name)” needs SearchDefinition(\"\(name)\", fields: [\(fields)]) in "
                    + "the StorageSchema",
                resource: name
            )
        }
        definition = fitting
        terms = search.terms
        hasLongTerms = terms.contains { $0.word.utf8.count >= Self.longestWord }
        fields = search.fields ?? fitting.fields
        paths = fields.map(CompiledFieldPath.init)
    }

    /// Returns whether a document that a store has found by its words contains the terms.
    package func confirms(_ document: Document) -> Bool { !hasLongTerms || matches(document) }

    package func matches(_ document: Document) -> Bool {
        let words = paths.flatMap { path in
            document.body.value(at: path).map(TextWords.words) ?? []
        }
        return terms.allSatisfy { term in
            let spellings = term.spellings
            return words.contains { word in
                spellings.contains { spelling in
                    term.isPrefix
                        ? word.utf8.starts(with: spelling.utf8) : StoredName.same(word, spelling)
                }
            }
        }
    }
}

extension StorageSchema {
    /// Returns a search with its fields: if it has none, those of the first definition for its collections.
    package func completed(_ search: TextSearch, in scope: DocumentQuery.Scope) -> TextSearch {
        let name = scope.searchedName
        guard search.fields == nil,
            let declared = searches.first(where: { StoredName.same($0.collection, name) })
        else { return search }
        return TextSearch(search.text, in: declared.fields)
    }
}

extension DocumentQuery.Scope {
    fileprivate var searchedName: String {
        switch self {
        case .collection(let path): path.name
        case .group(let name, _): name
        // No definition covers this scope, and the client rejects it.
        case .everything: ""
        }
    }
}

extension StorageError {
    package static func indexRequired(by plan: QueryPlan, for query: DocumentQuery) -> StorageError
    {
        let advice = plan.suggestion.map { "declare \($0)" } ?? "no index can serve it"
        return StorageError(
            .indexRequired,
            "the query would scan every document of \(query.scope): \(advice)"
        )
    }
}

extension DocumentQuery.Scope: CustomStringConvertible {
    public var description: String {
        switch self {
        case .collection(let path): "“\(path)”"
        case .group(let name, let ancestor):
            "the collection group “\(name)”" + (ancestor.map { " under “\($0)”" } ?? "")
        case .everything(let ancestor):
            ancestor.map { "everything under “\($0)”" } ?? "everything"
        }
    }
}

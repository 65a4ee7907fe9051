import KeelCore
import KeelStorage
import KeelStorageFirestore

/// The `explainOptions` of a query, and the time since its start.
///
/// Source: firebase.google.com/docs/firestore/reference/rest/v1/ExplainOptions.
struct QueryExplanation {
    let isAnalyzed: Bool
    private let timeline: Timeline
    private let start: Duration

    init?(_ body: FirestoreJSON, clock: any Clock<Duration>) throws(StorageError) {
        guard let options = try body.object("explainOptions") else { return nil }
        isAnalyzed = try options.flag("analyze") ?? false
        timeline = Timeline(clock)
        start = timeline.now
    }

    /// Returns the metrics of a query; `plan` is nil if it is unknown, and `count` if the query was only planned.
    func metrics(
        _ plan: QueryPlan?,
        of query: DocumentQuery,
        count: Int?
    ) -> FirestoreJSON {
        var indexes: [FirestoreJSON] = []
        if let plan {
            indexes.append([
                "query_scope": Self.scope(of: query),
                "properties": .string(plan.properties(of: query)),
            ])
        }
        return .members([
            "planSummary": ["indexesUsed": .array(indexes)],
            "executionStats": count.map { statistics(plan, count: $0) },
        ])
    }

    private func statistics(_ plan: QueryPlan?, count: Int) -> FirestoreJSON {
        let examined = plan?.examined ?? count
        let fromIndex = if case .index? = plan?.access { examined } else { 0 }
        return [
            "resultsReturned": .string("\(count)"),
            "executionDuration": FirestoreEncoding.duration(timeline.now - start),
            // The number that Google's service would bill.
            "readOperations": .string("\(max(1, count))"),
            "debugStats": [
                "documents_scanned": .string("\(examined)"),
                "index_entries_scanned": .string("\(fromIndex)"),
                "billing_details": ["documents_billable": .string("0")],
            ],
        ]
    }

    private static func scope(of query: DocumentQuery) -> FirestoreJSON {
        switch query.scope {
        case .collection: "Collection"
        case .group, .everything: "Collection group"
        }
    }
}

extension QueryPlan {
    /// Returns the fields of the access path in Google's notation, such as `(city ASC, __name__ ASC)`.
    func properties(of query: DocumentQuery) -> String {
        switch access {
        case .identifiers, .scan: return "(__name__ ASC)"
        case .index(let name):
            // The index name consists of the collection and the indexed fields.
            guard let fields = Self.fields(name, of: query.scope) else { return name }
            let direction = fields.last?.hasSuffix("DESC") == true ? "DESC" : "ASC"
            return "(\((fields + ["__name__ \(direction)"]).joined(separator: ", ")))"
        case .search(let name): return name
        }
    }

    private static func fields(
        _ name: String,
        of scope: DocumentQuery.Scope
    ) -> [String]? {
        let collection =
            switch scope {
            case .collection(let path): path.name
            case .group(let name, _): "\(name)**"
            // This scope has no index.
            case .everything: ""
            }
        guard name.hasPrefix("\(collection)("), let end = name.lastIndex(of: ")") else {
            return nil
        }
        let list = name[..<end].dropFirst(collection.count + 1)
        var isQuoted = false
        let parts = list.split { character in
            if character == "`" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
        return parts.map { part in
            if part.hasSuffix("[]") { return "\(part.dropLast(2)) CONTAINS" }
            return "\(part.dropLast()) \(part.last == "-" ? "DESC" : "ASC")"
        }
    }
}

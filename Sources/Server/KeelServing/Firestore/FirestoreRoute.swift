/// A resource or method in a database.
enum FirestoreRoute {
    /// A document, by the segments of its path.
    case document([String])
    /// A collection, by the segments of its path.
    case collection([String])
    /// A custom method of the root or a document.
    case call(Call, on: [String])

    /// The custom methods of the protocol, which follow a colon.
    enum Call: String {
        case batchGet, batchWrite, beginTransaction, commit, listen, rollback, write
        case listCollectionIds, partitionQuery, runAggregationQuery, runQuery

        /// Whether the method applies to a whole database.
        var isOfDatabase: Bool {
            switch self {
            case .batchGet, .batchWrite, .beginTransaction, .commit, .listen, .rollback, .write:
                true
            case .listCollectionIds, .partitionQuery, .runAggregationQuery, .runQuery: false
            }
        }
    }

    init?(_ segments: [String], verb: String?) {
        guard let verb else {
            guard !segments.isEmpty else { return nil }
            self = segments.count % 2 == 0 ? .document(segments) : .collection(segments)
            return
        }
        guard let call = Call(rawValue: verb), segments.count % 2 == 0,
            segments.isEmpty || !call.isOfDatabase
        else { return nil }
        self = .call(call, on: segments)
    }
}

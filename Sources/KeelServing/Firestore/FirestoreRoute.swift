/// What is named within a database.
enum FirestoreRoute {
    /// A document, by the segments of its path.
    case document([String])
    /// A collection, by the segments of its path.
    case collection([String])
    /// A method, on the root or on a document.
    case call(Call, on: [String])

    /// The methods that the protocol writes behind a colon.
    enum Call: String {
        case batchGet, batchWrite, beginTransaction, commit, listen, rollback, write
        case listCollectionIds, partitionQuery, runAggregationQuery, runQuery

        /// Whether it concerns all of a database.
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

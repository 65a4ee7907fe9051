import HTTPTypes

/// The resource of a path.
enum ServingRoute {
    case health
    case metrics
    case schema
    case logs
    case analytics
    /// A resource of Keel Sync, by the segments after `/sync`.
    case sync([String])
    case webChannel(FirestoreRoute.Call)
    /// All documents of a database, at the address with which Google's emulator deletes them.
    case everything(database: String)
    /// A resource in a database, `projects/{project}/databases/{database}`.
    case firestore(FirestoreRoute, database: String)

    init?(_ target: RequestTarget) {
        let segments = target.segments
        switch segments.first {
        case "health" where segments.count == 1: self = .health
        case "metrics" where segments.count == 1: self = .metrics
        case "keel" where segments == ["keel", "v1", "schema"]: self = .schema
        case "sync": self = .sync(Array(segments.dropFirst()))
        case "google.firestore.v1.Firestore" where segments.count == 3 && segments[2] == "channel":
            switch segments[1] {
            case "Listen": self = .webChannel(.listen)
            case "Write": self = .webChannel(.write)
            default: return nil
            }
        case "emulator":
            guard segments.count == 7, Array(segments[1...2]) == ["v1", "projects"],
                segments[4] == "databases", segments[6] == "documents", Self.isName(segments[3]),
                Self.isName(segments[5])
            else { return nil }
            self = .everything(database: "projects/\(segments[3])/databases/\(segments[5])")
        case "v1" where segments == ["v1", "logs"]: self = .logs
        case "v1" where segments == ["v1", "analytics", "batch"]: self = .analytics
        case "v1":
            guard segments.count >= 6, segments[1] == "projects", segments[3] == "databases",
                segments[5] == "documents", Self.isName(segments[2]), Self.isName(segments[4]),
                let route = FirestoreRoute(Array(segments.dropFirst(6)), verb: target.verb)
            else { return nil }
            let database = "projects/\(segments[2])/databases/\(segments[4])"
            self = .firestore(route, database: database)
        default: return nil
        }
    }

    private static func isName(_ segment: String) -> Bool {
        !segment.isEmpty && segment.utf8.count <= 200
            && segment.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != 0x7F }
    }

    /// The allowed methods, in addition to HEAD and OPTIONS.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .health, .metrics, .sync: [.get]
        case .schema, .webChannel: [.get, .post]
        case .logs, .analytics: [.post]
        case .everything: [.delete]
        case .firestore(.document, _): [.get, .patch, .delete]
        case .firestore(.collection, _): [.get, .post]
        case .firestore(.call, _): [.post]
        }
    }
}

/// A resource or method in a database.
enum FirestoreRoute {
    case document([String])
    case collection([String])
    /// A custom method of the root or a document.
    case call(Call, on: [String])

    enum Call: String {
        case batchGet, batchWrite, beginTransaction, commit, executePipeline, listen, rollback,
            write
        case listCollectionIds, partitionQuery, runAggregationQuery, runQuery

        /// Whether the method applies to a whole database.
        var isOfDatabase: Bool {
            switch self {
            case .batchGet, .batchWrite, .beginTransaction, .commit, .executePipeline, .listen,
                .rollback, .write:
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

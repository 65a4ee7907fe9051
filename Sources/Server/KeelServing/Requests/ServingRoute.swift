import HTTPTypes

/// The resource of a path.
enum ServingRoute {
    case health
    case schema
    case logs
    case analytics
    /// A resource of Keel Sync, by the segments after `/sync`.
    case sync([String])
    /// A resource in a database with the given name: `projects/{project}/databases/{database}`.
    case firestore(FirestoreRoute, database: String)

    /// Returns the route of a target; nil if there is none.
    init?(_ target: RequestTarget) {
        let segments = target.segments
        switch segments.first {
        case "health" where segments.count == 1: self = .health
        case "keel" where segments == ["keel", "v1", "schema"]: self = .schema
        case "sync": self = .sync(Array(segments.dropFirst()))
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
        case .health, .sync: [.get]
        case .schema: [.get, .post]
        case .logs, .analytics: [.post]
        case .firestore(.document, _): [.get, .patch, .delete]
        case .firestore(.collection, _): [.get, .post]
        case .firestore(.call, _): [.post]
        }
    }
}

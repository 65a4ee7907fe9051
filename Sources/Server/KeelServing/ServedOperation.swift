public import HTTPTypes
internal import KeelHTTP

/// The operation of a request to a ``StorageServer``, without ids, for logs and metrics.
///
/// Ids of documents are often personal data, and would give a metric an unlimited number of dimensions.
public struct ServedOperation: Sendable, Hashable {
    /// The name of the operation, such as `commit`, `GET documents` or `GET sync/events`.
    public let name: String
    /// The path with `*` in place of variable parts, as `http.route` of OpenTelemetry's conventions.
    public let route: String

    /// The custom methods of the protocol.
    private static let customMethods: Set<Substring> = [
        "batchGet", "batchWrite", "beginTransaction", "commit", "executePipeline",
        "listCollectionIds", "listen", "partitionQuery", "rollback", "runAggregationQuery",
        "runQuery", "write",
    ]

    /// Creates the operation of a request.
    public init(_ head: HTTPRequest) {
        let path = (head.path ?? "/").prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/")
        let method = head.method.boundedName
        switch parts.first {
        case "v1" where path == "/v1/logs" || path == "/v1/analytics/batch":
            name = "\(method) \(parts[1])"
            route = String(path)
        case "v1":
            let last = parts.last ?? ""
            let custom = last.lastIndex(of: ":").map { last[last.index(after: $0)...] }
            if let custom, Self.customMethods.contains(custom) {
                name = String(custom)
                route = "/v1/*:\(custom)"
            } else {
                name = "\(method) documents"
                route = "/v1/*"
            }
        case "emulator":
            name = "\(method) everything"
            route = "/emulator/v1/*"
        case "sync" where parts.count == 3 && ["changes", "events"].contains(parts[2]):
            name = "\(method) sync/\(parts[2])"
            route = "/sync/*/\(parts[2])"
        case "google.firestore.v1.Firestore":
            let called = GRPCMethod(path: String(path))
            name = called?.rawValue ?? "\(method) other"
            route =
                called.map { "/\(GRPCMethod.service)/\($0.rawValue)" } ?? "/\(GRPCMethod.service)/*"
        case "keel" where path == "/keel/v1/schema":
            name = "\(method) schema"
            route = String(path)
        case "health" where parts.count == 1:
            name = "\(method) health"
            route = "/health"
        case "metrics" where parts.count == 1:
            name = "\(method) metrics"
            route = "/metrics"
        default:
            name = "\(method) other"
            route = "*"
        }
    }
}

import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ReplayKey: Hashable {
    private var method: String?
    private var origin: String?
    private var path: String?
    private var query: [HTTPArchive.Pair]?
    private var body: Body?

    let place: String

    private enum Body: Hashable {
        case none
        case json(JSONTree)
        case text(String)
    }

    init(_ request: HTTPArchive.Request, _ matching: ReplayMatching) {
        let target = request.url.prefix { $0 != "?" && $0 != "#" }
        place = String(target)
        let start = target.firstRange(of: "://")?.upperBound ?? target.startIndex
        let pathStart = target[start...].firstIndex(of: "/") ?? target.endIndex
        if matching.contains(.method) { method = request.method }
        if matching.contains(.origin) { origin = target[..<pathStart].lowercased() }
        if matching.contains(.path) {
            let text = String(target[pathStart...])
            path = text.isEmpty ? "/" : text
        }
        if matching.contains(.query) {
            query = request.queryString.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        }
        if matching.contains(.body) { body = Self.body(request.postData) }
    }

    /// Whether both keys have the same origin and path, as far as these are compared.
    func isNear(_ other: ReplayKey) -> Bool { origin == other.origin && path == other.path }

    static func == (one: Self, other: Self) -> Bool {
        one.method == other.method && one.origin == other.origin && one.path == other.path
            && one.query == other.query && one.body == other.body
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(path)
    }

    private static func body(_ data: HTTPArchive.PostData?) -> Body {
        guard let data, !data.text.isEmpty else { return .none }
        if BodyKind(data.mimeType) == .json,
            let tree = try? JSONDecoder().decode(JSONTree.self, from: Data(data.text.utf8))
        {
            return .json(tree)
        }
        return .text(data.text)
    }
}

/// A JSON value that compares without regard to the order of keys.
private enum JSONTree: Hashable, Decodable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            // Not every identifier of 64 bits has a `Double` of its own.
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = Int64(exactly: value).map { .integer($0) } ?? .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }
}

internal import Foundation

/// A request, taken apart.
struct APIRequest: Sendable {
    let method: String
    /// The segments of the path, decoded one by one: an encoded slash stays inside its segment.
    let path: [String]
    let query: [String: String]
    /// The version that the client has.
    let knownVersion: String?

    init(method: String, target: String, knownVersion: String? = nil) {
        self.method = method
        self.knownVersion = knownVersion
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].split(separator: "/").map { Self.decode($0) }
        var query: [String: String] = [:]
        for item in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query[Self.decode(pair[0])] = pair.count > 1 ? Self.decode(pair[1]) : ""
        }
        self.query = query
    }

    private static func decode(_ text: Substring) -> String {
        text.replacing("+", with: " ").removingPercentEncoding ?? String(text)
    }
}

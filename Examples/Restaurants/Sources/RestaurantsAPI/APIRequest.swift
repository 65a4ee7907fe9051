internal import Foundation

/// A parsed request.
struct APIRequest: Sendable {
    let method: String
    /// The segments of the path, decoded individually, so that an encoded slash stays inside its segment.
    let path: [String]
    let query: [String: String]
    /// The client's entity tag.
    let knownVersion: String?
    let bearerToken: String?
    /// The idempotency key, which distinguishes a retry from another request.
    let idempotencyKey: String?
    let body: [UInt8]

    init(
        method: String,
        target: String,
        knownVersion: String? = nil,
        authorization: String? = nil,
        idempotencyKey: String? = nil,
        body: [UInt8] = []
    ) {
        self.method = method
        self.knownVersion = knownVersion
        self.idempotencyKey = idempotencyKey
        self.body = body
        let words = (authorization ?? "").split(separator: " ")
        let isBearer = words.count == 2 && words[0].lowercased() == "bearer"
        bearerToken = isBearer ? String(words[1]) : nil
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].split(separator: "/").map { Self.decode($0) }
        var query: [String: String] = [:]
        for item in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query[Self.decode(pair[0])] = pair.count > 1 ? Self.decode(pair[1]) : ""
        }
        self.query = query
    }

    /// Decodes the body; nil if it is not JSON of this form.
    func decoded<Form: Decodable>(as form: Form.Type) -> Form? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(form, from: Data(body))
    }

    private static func decode(_ text: Substring) -> String {
        text.replacing("+", with: " ").removingPercentEncoding ?? String(text)
    }
}

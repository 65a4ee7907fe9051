internal import Foundation

struct APIResponse: Sendable, Hashable {
    var status: Int
    var body: [UInt8]
    /// The entity tag of the body.
    var version: String?
    /// Further header fields.
    var fields: [String: String] = [:]
    /// Whether the connection breaks before the response is sent.
    var isLost = false

    static func json(_ body: [UInt8], version: String) -> APIResponse {
        APIResponse(status: 200, body: body, version: version)
    }

    /// Creates a response with a value as JSON, in snake case.
    static func value(_ value: some Encodable) -> APIResponse {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        guard let body = try? encoder.encode(value) else {
            return .failure(500, "the answer could not be written")
        }
        return APIResponse(status: 200, body: Array(body))
    }

    static func failure(_ status: Int, _ reason: StaticString) -> APIResponse {
        // This constant text needs no escaping.
        var response = APIResponse(status: status, body: Array(#"{"error":"\#(reason)"}"#.utf8))
        if status == 401 { response.fields["WWW-Authenticate"] = "Bearer" }
        return response
    }
}

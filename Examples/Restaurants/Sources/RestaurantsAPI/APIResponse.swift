/// A response, ready to be sent.
struct APIResponse: Sendable, Hashable {
    var status: Int
    var body: [UInt8]
    /// The version of what is in the body.
    var version: String?

    static func json(_ body: [UInt8], version: String) -> APIResponse {
        APIResponse(status: 200, body: body, version: version)
    }

    static func failure(_ status: Int, _ reason: StaticString) -> APIResponse {
        // A static text needs no escaping.
        APIResponse(status: status, body: Array(#"{"error":"\#(reason)"}"#.utf8))
    }
}

public import HTTPTypes
public import KeelHTTP

extension HTTPReply {
    /// Creates a reply whose body is in memory.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - type: The media type of the body.
    ///   - body: The body; its length is announced.
    /// - Returns: The reply.
    public static func bytes(
        _ status: HTTPResponse.Status,
        type: String,
        _ body: [UInt8]
    ) -> HTTPReply {
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = type
        head.headerFields[.contentLength] = "\(body.count)"
        return HTTPReply(head: head, body: .chunks([body]))
    }

    /// Creates a reply of plain text.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - text: What the body says.
    /// - Returns: The reply.
    public static func text(_ status: HTTPResponse.Status, _ text: String) -> HTTPReply {
        .bytes(status, type: "text/plain; charset=utf-8", Array(text.utf8))
    }
}

public import HTTPTypes
public import KeelHTTP

extension HTTPReply {
    /// Creates a reply with a body in memory.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - type: The media type of the body.
    ///   - body: The body; `Content-Length` is set to its length.
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

    /// Creates a plain text reply.
    public static func text(_ status: HTTPResponse.Status, _ text: String) -> HTTPReply {
        .bytes(status, type: "text/plain; charset=utf-8", Array(text.utf8))
    }
}

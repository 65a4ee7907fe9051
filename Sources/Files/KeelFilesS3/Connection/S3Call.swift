#if Crypto
internal import HTTPTypes

/// One request to a bucket, before it is signed.
struct S3Call: Sendable {
    /// A body, with its SHA-256 if already known.
    struct Body: Sendable {
        let bytes: [UInt8]
        var hash: [UInt8]?
    }

    let method: HTTPRequest.Method
    /// The key of the object; nil for the bucket.
    let key: String?
    var query: [(name: String, value: String)] = []
    var fields: [(name: String, value: String)] = []
    var body: Body?
    /// Whether the request is idempotent.
    var isRepeatable = true

    init(_ method: HTTPRequest.Method, _ key: String?) {
        self.method = method
        self.key = key
    }
}

extension HTTPFields {
    func first(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { self[$0] }
    }
}
#endif

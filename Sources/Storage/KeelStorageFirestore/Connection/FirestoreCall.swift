internal import HTTPTypes
internal import KeelHTTP
internal import KeelStorageAdapting

struct FirestoreCall: ServiceEndpoint {
    let method: HTTPRequest.Method
    let path: EndpointPath
    var query = HTTPQuery()
    var headers: HTTPFields = [:]
    private(set) var body: RequestBody?
    /// Whether the request may change the store.
    var isWrite = false
    /// Whether sending the request twice has the effect of sending it once.
    var isRepeatable = true
    var isTransactional = false
    var codeForMissing = StorageError.Code.documentNotFound

    var options: HTTPCallOptions {
        var options = HTTPCallOptions()
        options.isIdempotent = isRepeatable
        return options
    }

    init(get path: [String], query: HTTPQuery = HTTPQuery()) {
        method = .get
        self.path = EndpointPath(segments: path)
        self.query = query
    }

    init(post path: [String], _ message: FirestoreJSON) {
        method = .post
        self.path = EndpointPath(segments: path)
        body = .bytes(message.bytes, contentType: Self.mediaType)
    }

    /// `custom` is a method of a resource, as in `{parent}:runQuery`.
    init(_ custom: String, on resource: String, _ message: FirestoreJSON) {
        method = .post
        // By bytes: a slash and a mark that combines with it are one character.
        let parts = resource.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        let segments = ["v1"] + parts
        // The colon before the method must not be encoded, but a colon in a document's id must be.
        let encoded = EndpointPath(segments: segments).encodedForm
        path = EndpointPath(
            encodedForm: (path: (encoded?.path ?? "..") + ":" + custom, query: "")
        )
        body = .bytes(message.bytes, contentType: Self.mediaType)
    }

    private static let mediaType = "application/json; charset=utf-8"
}

internal import HTTPTypes
internal import KeelHTTP
internal import KeelStorageAdapting

/// One request of the protocol, before it is sent.
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
    /// Whether the request belongs to a transaction of the server's.
    var isTransactional = false
    /// What it means that a document which the request needs is not there.
    var codeForMissing = StorageError.Code.documentNotFound

    var options: HTTPCallOptions {
        var options = HTTPCallOptions()
        options.isIdempotent = isRepeatable
        return options
    }

    /// A request that asks for what is at a path.
    init(get path: [String], query: HTTPQuery = HTTPQuery()) {
        method = .get
        self.path = EndpointPath(segments: path)
        self.query = query
    }

    /// A request that hands over a message.
    init(post path: [String], _ message: FirestoreJSON) {
        method = .post
        self.path = EndpointPath(segments: path)
        body = .bytes(message.bytes, contentType: Self.mediaType)
    }

    /// A custom method on a resource of the database, such as `{parent}:runQuery`.
    ///
    /// - Parameters:
    ///   - custom: The name of the method.
    ///   - resource: The resource's name, whose segments may hold any character but “/”.
    ///   - message: The request's message.
    init(_ custom: String, on resource: String, _ message: FirestoreJSON) {
        method = .post
        let segments = ["v1"] + resource.split(separator: "/").map(String.init)
        // A colon that belongs to the path must not be encoded, one in a document's id must.
        let encoded = EndpointPath(segments: segments).encodedForm
        path = EndpointPath(
            encodedForm: (path: (encoded?.path ?? "..") + ":" + custom, query: "")
        )
        body = .bytes(message.bytes, contentType: Self.mediaType)
    }

    private static let mediaType = "application/json; charset=utf-8"
}
